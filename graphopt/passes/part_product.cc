#include "graphopt/passes/part_product.h"

#include <algorithm>
#include <numeric>

#include "core/rewrite/axis_map.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// The columns of each output; empty where one is not known.
std::vector<int64_t> widths_of(const Node& split) {
  std::vector<int64_t> widths;
  for (const Value* y : split.outputs()) {
    const auto width = y && y->type.dims && !y->type.dims->empty() ? y->type.dims->back().value() : std::nullopt;
    if (!width) return {};
    widths.push_back(*width);
  }
  return widths;
}

std::vector<Value*> split(Value* x, const std::vector<int64_t>& widths, const Node* before, Builder& builder) {
  if (widths.size() == 1) return {x};
  return make_split(builder.at(before), x, x->type.dims->size() - 1, widths)->outputs();
}

/// x w + b, of the type that the whole product has but for its columns.
Value* multiply(const JoinedProduct& joined, Value* w, Value* b, Builder& builder) {
  Type type = joined.split->input(0)->type;
  type.dims->back() = w->type.dims->back();
  Value* y = builder.op("MatMul", {joined.product.x, w}, {}, type);
  return b ? builder.op("Add", {y, b}, {}, type) : y;
}

/// The operators that make what nothing reads any more.
void erase_product(Node* last, const fusion::Projection& product, Graph& graph) {
  Node* matmul = product.bias ? last->input(last->input(0) == product.bias ? 1 : 0)->producer : nullptr;
  graph.erase(last);
  if (matmul) graph.erase(matmul);
}

}  // namespace

std::optional<JoinedProduct> joined_product(const Value& part, const Builder& builder) {
  JoinedProduct joined;
  joined.split = part.producer;
  if (!joined.split || !joined.split->is("Split")) return std::nullopt;
  Value* y = joined.split->input(0);
  if (!y || !y->type.dims || !is_last_axis(builder.view(*joined.split).get_int("axis", 0), y->type.dims->size()))
    return std::nullopt;
  const auto product = fusion::projection_of(y, y->type.dims->size());
  if (!product || (product->bias && !product->bias->single_use())) return std::nullopt;
  joined.product = *product;
  joined.widths = widths_of(*joined.split);
  const auto& outputs = joined.split->outputs();
  joined.part = static_cast<size_t>(std::find(outputs.begin(), outputs.end(), &part) - outputs.begin());
  const bool at_end = joined.part == 0 || joined.part + 1 == outputs.size();
  const bool fits = outputs.size() > 1 && std::accumulate(joined.widths.begin(), joined.widths.end(), int64_t{0}) ==
                                              product->weight->known_constant()->dim(1);
  return at_end && fits ? std::optional(joined) : std::nullopt;
}

void part_product(const JoinedProduct& joined, Builder& builder) {
  std::vector<int64_t> rest = joined.widths;
  const int64_t width = rest[joined.part];
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(joined.part));
  const int64_t others = std::accumulate(rest.begin(), rest.end(), int64_t{0});
  const bool first = joined.part == 0;
  const std::vector<int64_t> sides = first ? std::vector{width, others} : std::vector{others, width};
  const size_t own = first ? 0 : 1;
  const std::vector<Value*> w = split(joined.product.weight, sides, joined.split, builder);
  const std::vector<Value*> b = joined.product.bias ? split(joined.product.bias, sides, joined.split, builder)
                                                    : std::vector<Value*>{nullptr, nullptr};
  std::vector<Value*> parts = split(multiply(joined, w[1 - own], b[1 - own], builder), rest, joined.split, builder);
  parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(joined.part), multiply(joined, w[own], b[own], builder));
  for (size_t i = 0; i < parts.size(); ++i) builder.graph.replace_uses(joined.split->outputs()[i], parts[i]);
  Node* last = joined.split->input(0)->producer;
  builder.graph.erase(joined.split);
  erase_product(last, joined.product, builder.graph);
}

}  // namespace mlopt::graphopt
