#include "tests/support/in_double.h"

#include <algorithm>

#include "core/tensor/cast.h"

namespace mlopt::test {

void to_double(Graph& graph) {
  const auto widen = [](Tensor& tensor) {
    if (is_float(tensor.dtype())) tensor = cast(tensor, DType::kF64);
  };
  for (Value* v : graph.values()) {
    const bool scales = std::ranges::any_of(
        v->uses, [](const Use& u) { return (u.node->is("Resize") || u.node->is("Upsample")) && u.index > 0; });
    if (!is_float(v->type.dtype) || scales) continue;
    v->type.dtype = DType::kF64;
    if (v->constant) widen(*v->constant);
  }
  for (Node* node : graph.nodes()) {
    if (node->is("ConstantOfShape") && !node->attr("value")) node->set_attr("value", Tensor::zeros(DType::kF64, {1}));
    for (Attr& attr : node->attrs) {
      if (auto* value = std::get_if<Tensor>(&attr.value)) widen(*value);
      if (node->is("Cast") && attr.name == "to" && std::get<int64_t>(attr.value) == 1) attr.value = int64_t{11};
    }
  }
}

}  // namespace mlopt::test
