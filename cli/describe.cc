#include "cli/describe.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "core/ir/type.h"
#include "core/tensor/cast.h"

namespace mlopt::cli {

DatumSummary summarize(const Datum& value) {
  if (value.is_none()) return {"none", "", "", ""};
  if (!value.is_tensor()) return {fmt::format("{} items", value.items().size()), "", "", ""};
  const Tensor& tensor = value.tensor();
  DatumSummary summary{to_string(Type::tensor(tensor.dtype(), tensor.dims())), "", "", ""};
  if (tensor.size() == 0 || tensor.dtype() == DType::kString || is_complex(tensor.dtype())) return summary;
  const std::vector<double> numbers = to_doubles(tensor);
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  summary.smallest = fmt::format("{:.6g}", *low);
  summary.largest = fmt::format("{:.6g}", *high);
  summary.mean =
      fmt::format("{:.6g}", std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size()));
  return summary;
}

}  // namespace mlopt::cli
