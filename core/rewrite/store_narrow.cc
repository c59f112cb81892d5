#include "core/rewrite/store_narrow.h"

#include <algorithm>
#include <cmath>

#include "core/rewrite/pass.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

constexpr float kLargestHalf = 65504;

bool fits_half(const Tensor& tensor) {
  const Tensor numbers = tensor.aligned();
  const auto span = numbers.span<float>();
  return std::all_of(span.begin(), span.end(), [](float x) { return !(std::abs(x) > kLargestHalf) || std::isinf(x); });
}

void store(Graph& graph, Value* weight, DType type) {
  const std::string name(mlopt::name(type));
  Value* stored = graph.add_constant(weight->name + "_" + name, cast(*weight->constant, type));
  Node* back = graph.add_op("Cast", {stored}, {{"to", int64_t{static_cast<int64_t>(DType::kF32)}, {}}},
                            graph.next(nullptr), weight->name + "_float32");
  graph.replace_uses(weight, back->output(0));
}

}  // namespace

Narrowed store_narrow(Model& model, DType type, int64_t least, const std::function<bool(const Node&)>& wanted) {
  Narrowed done;
  for (Value* w : model.graph->initializers()) {
    if (w->is_input || w->is_output() || w->constant->dtype() != DType::kF32 || w->constant->size() < least) continue;
    if (!std::all_of(w->uses.begin(), w->uses.end(), [&](const Use& use) { return wanted(*use.node); })) continue;
    if (type == DType::kF16 && !fits_half(*w->constant)) {
      done.left[w->name] = "it has numbers beyond the range of float16";
      continue;
    }
    for (const Use& use : w->uses) done.readers.push_back(use.node);
    ++done.tensors;
    done.saved_bytes += static_cast<int64_t>(w->constant->bytes()) / 2;
    store(*model.graph, w, type);
  }
  remove_dead(model);
  return done;
}

}  // namespace mlopt
