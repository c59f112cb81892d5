#include "quantize/emit/bf16_storage.h"

#include "core/rewrite/store_narrow.h"
#include "quantize/plan.h"

namespace mlopt::quantize {

Emitted emit_bf16_storage(Model& model, const Spec& spec) {
  constexpr int64_t kLeast = 64;
  Emitted done;
  const Narrowed made = store_narrow(model, DType::kBF16, kLeast, [&](const Node& node) { return chosen(node, spec); });
  for (const Node* reader : made.readers) done.layers.push_back(layer_of(*reader));
  return done;
}

}  // namespace mlopt::quantize
