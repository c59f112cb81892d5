#include "core/exec/graph_input.h"

#include <fmt/core.h>

#include "core/base/error.h"

namespace mlopt {

void check_input(const GraphInput& of, const Datum& input) {
  const Type& type = of.type;
  if (!type.is_tensor()) return;
  if (!input.is_tensor()) input_error("input is not a tensor", fmt::format("'{}'", of.name), kGiveWhatItTakes);
  const Tensor& t = input.tensor();
  const auto wrong = [&] {
    input_error(
        "input does not fit the model",
        fmt::format("'{}' is {} {}, the model has {}", of.name, name(t.dtype()), to_string(t.dims()), to_string(type)),
        kGiveWhatItTakes);
  };
  if (type.dtype != DType::kUndefined && t.dtype() != type.dtype) wrong();
  if (!type.dims) return;
  if (type.dims->size() != t.dims().size()) wrong();
  // Free dimensions of one name may differ: exporters reuse names, so only the operators judge.
  for (size_t k = 0; k < type.dims->size(); ++k)
    if (const auto fixed = (*type.dims)[k].value(); fixed && *fixed != t.dims()[k]) wrong();
}

}  // namespace mlopt
