// com.microsoft's QLinearAveragePool, QLinearSoftmax and QLinearWhere -> DequantizeLinear, the operator on floats, and
// QuantizeLinear, which is what they are defined by.
#include <algorithm>
#include <initializer_list>

#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

constexpr int64_t kDequantizes = 10, kSoftmaxOfOneAxis = 13;

/// Numbers, the scale in input i and the zero point behind it, which says of what type the codes are.
std::vector<Value*> with_steps(const Node& node, Value* numbers, int i, DType codes, Builder& builder) {
  Value* zero = node.input(i + 1);
  return {numbers, node.input(i), zero ? zero : builder.constant("zero", Tensor::zeros(codes, {}))};
}

Value* real(const Node& node, int i, Builder& builder) {
  Value* codes = node.input(i);
  return builder.op("DequantizeLinear", with_steps(node, codes, i + 1, codes->type.dtype, builder), {},
                    Type::tensor(DType::kF32, codes->type.dims));
}

/// Does the operator mean what the standard's of the model's opset does?
bool is_standard(const NodeView& view, int64_t opset) {
  if (view.get_int("channels_last", 0) != 0) return false;
  return view.node().op != "QLinearSoftmax" ||
         (view.get_int("opset", 0) >= kSoftmaxOfOneAxis) == (opset >= kSoftmaxOfOneAxis);
}

/// Is there one number in each of these inputs? DequantizeLinear would take more, one for each channel.
bool have_one_number(const Node& node, std::initializer_list<int> inputs) {
  return std::all_of(inputs.begin(), inputs.end(), [&](int i) {
    const auto dims = node.input(i) ? node.input(i)->type.static_dims() : std::nullopt;
    return dims && element_count(*dims) == 1;
  });
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& node = *m.root;
  const bool chooses = node.op == "QLinearWhere";
  if (chooses ? !have_one_number(node, {2, 5, 7}) : !have_one_number(node, {1, 3}))
    return Decline{"its scales are not one number each"};
  const Value *codes = node.input(chooses ? 1 : 0), *others = chooses ? node.input(4) : codes;
  if (!codes || !others || !codes->type.has_dtype() || others->type.dtype != codes->type.dtype)
    return Decline{"its codes are not of one known type"};
  // Models of com.microsoft's operators alone have no opset of the standard's.
  if (builder.opset() < kDequantizes) return Decline{"DequantizeLinear needs opset 10"};
  if (!is_standard(builder.view(node), builder.opset())) return Decline{"the standard's operator is another one"};
  std::vector<Value*> inputs{chooses ? node.input(0) : real(node, 0, builder)};
  if (chooses) inputs.insert(inputs.end(), {real(node, 1, builder), real(node, 4, builder)});
  std::vector<Attr> attrs = node.attrs;
  std::erase_if(attrs, [](const Attr& attr) { return attr.name == "opset" || attr.name == "channels_last"; });
  const Type& made = node.output(0)->type;
  Value* result = builder.op(node.op.substr(std::string_view("QLinear").size()), std::move(inputs), std::move(attrs),
                             Type::tensor(DType::kF32, made.dims));
  return Replacement{
      builder.op("QuantizeLinear", with_steps(node, result, chooses ? 7 : 3, codes->type.dtype, builder), {}, made)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("QLinearAveragePool|QLinearSoftmax|QLinearWhere", {}).open().domain("com.microsoft"), rewrite}};
}

}  // namespace

const Pass qlinear = {"qlinear", "operators on codes that no kernel knows as those on the floats between", rules};

}  // namespace mlopt::lower
