#include "cli/describe.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/tensor/cast.h"

namespace mlopt::cli {
namespace {

/// Elements `first` to `first + count`; `first` is a multiple of 8, so that packed types start on a byte.
Tensor piece(const Tensor& tensor, int64_t first, int64_t count) {
  const size_t begin = packed_bytes(tensor.dtype(), first);
  return Tensor::view(tensor.dtype(), {count}, tensor.raw_bytes().subspan(begin, packed_bytes(tensor.dtype(), count)),
                      nullptr);
}

std::vector<const Value*> constants(const Graph& graph) {
  std::vector<const Value*> found;
  for (const Value* value : graph.values()) {
    if (value->constant) found.push_back(value);
  }
  for (const Node* node : graph.nodes()) {
    for (const Graph* body : node->bodies()) {
      const auto inner = constants(*body);
      found.insert(found.end(), inner.begin(), inner.end());
    }
  }
  return found;
}

}  // namespace

bool has_numbers(const Tensor& tensor) {
  return tensor.dtype() != DType::kString && tensor.dtype() != DType::kUndefined && !is_complex(tensor.dtype());
}

std::string described_type(const Datum& value) {
  if (value.is_none()) return "none";
  if (value.is_tensor()) return to_string(Type::tensor(value.tensor().dtype(), value.tensor().dims()));
  return fmt::format("{} of {}", value.kind() == Datum::Kind::kMap ? "map" : "sequence", value.items().size());
}

std::string listed(const std::vector<Value*>& values) {
  std::string text;
  for (const Value* value : values) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", value->name, to_string(value->type));
  }
  return text.empty() ? "none" : text;
}

std::string in_words(const Error& error) { return error.message + (error.where.empty() ? "" : ": " + error.where); }

TensorStatistics tensor_statistics(const Tensor& tensor) {
  constexpr int64_t kPiece = 1 << 18;
  TensorStatistics found;
  double sum = 0, low = std::numeric_limits<double>::infinity(), high = -low;
  for (int64_t first = 0; first < tensor.size(); first += kPiece) {
    for (const double number : to_doubles(piece(tensor, first, std::min(kPiece, tensor.size() - first)))) {
      if (!std::isfinite(number)) {
        ++found.nonfinite;
        continue;
      }
      sum += number;
      low = std::min(low, number);
      high = std::max(high, number);
      if (number == 0) ++found.zeros;
    }
  }
  if (const int64_t finite = tensor.size() - found.nonfinite; finite > 0) {
    found.low = low;
    found.high = high;
    found.mean = sum / static_cast<double>(finite);
  }
  return found;
}

void show_weights(const Model& model, Session& session) {
  const std::vector<const Value*> values = constants(*model.graph);
  Table& table = session.report.table("Constants", {"name", "type", "smallest", "largest", "mean", "zeros"});
  table.left = 2;
  Json& list = session.report.data["weights"] = Json::array();
  Progress progress = session.console.progress("reading", static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    progress.set(static_cast<int64_t>(i));
    const Tensor& tensor = *values[i]->constant;
    if (!has_numbers(tensor)) continue;
    const TensorStatistics s = tensor_statistics(tensor);
    const double zeros = tensor.size() ? static_cast<double>(s.zeros) / static_cast<double>(tensor.size()) : 0;
    table.rows.push_back({values[i]->name, to_string(Type::tensor(tensor.dtype(), tensor.dims())),
                          fmt::format("{:.5g}", s.low), fmt::format("{:.5g}", s.high), fmt::format("{:.4g}", s.mean),
                          fmt::format("{:.1f} %", 100 * zeros)});
    list.push_back(Json::object({{"name", values[i]->name},
                                 {"type", name(tensor.dtype())},
                                 {"shape", tensor.dims()},
                                 {"min", s.low},
                                 {"max", s.high},
                                 {"mean", s.mean},
                                 {"sparsity", zeros},
                                 {"nonfinite", s.nonfinite}}));
  }
}

}  // namespace mlopt::cli
