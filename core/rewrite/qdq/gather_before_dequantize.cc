// Gather(DequantizeLinear(table), indices) -> DequantizeLinear(Gather(table, indices)): of a table that is stored as
// integers only the rows that are looked up become floats, where runtimes make floats of all of it in each run. Scales
// of rows, or of blocks of them, are looked up as well.
#include "core/rewrite/qdq/passes.h"

namespace mlopt::qdq {
namespace {

/// Scales or zero points [rows] as [rows, 1].
Value* as_column(Value* steps, Builder& builder) {
  const Tensor& given = *steps->known_constant();
  return given.rank() == 2 ? steps : builder.constant(steps->name + "_column", given.reshaped({given.size(), 1}));
}

/// The axis of the scales once more, 0 or 1 of the table's two, and the numbers of a row that share one.
struct Steps {
  bool one;  ///< for the whole table
  int64_t block;
};

Expected<Steps> steps_of(const NodeView& dequantize, const Tensor& table) {
  const Tensor& scale = *dequantize.constant(1);
  if (scale.size() == 1) return Steps{true, 0};
  const int64_t given = dequantize.get_int("axis", 1), axis = given < 0 ? given + 2 : given;
  const int64_t block = dequantize.get_int("block_size", 0), columns = table.dim(1);
  if (block == 0 && axis == 0 && scale.dims() == Dims{table.dim(0)}) return Steps{false, columns};
  if (block > 0 && axis == 1 && scale.dims() == Dims{table.dim(0), (columns + block - 1) / block})
    return Steps{false, block};
  return Decline{"its scales are not those of rows"};
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  constexpr int64_t kBlocksSince = 21;
  const Node *gather = m.root, *dequantize = m.node("dequantize");
  const NodeView view = builder.view(*dequantize);
  const Tensor *table = view.constant(0), *scale = view.constant(1), *zero = view.constant(2);
  Value* indices = gather->input(1);
  if (builder.target == Target::kOpenvino || builder.target == Target::kTensorrt)
    return Decline{"the target reads tables behind DequantizeLinear"};
  if (!table || !scale || (dequantize->input(2) && !zero)) return Decline{"its table is not constant"};
  if (table->rank() != 2 || table->dim(1) == 0 || builder.view(*gather).get_int("axis", 0) != 0 || !indices->type.dims)
    return Decline{"it does not look up rows"};
  if (!is_integer(table->dtype()) || is_sub_byte(table->dtype()))
    return Decline{"Gather takes neither integers of less than 8 bits nor floats of 8 bits"};
  if (view.has("output_dtype")) return Decline{"its floats are not of the type of its scales"};
  const auto steps = steps_of(view, *table);
  if (!steps) return steps.error();
  if (!steps->one && builder.opset() < kBlocksSince)
    return Decline{"scales that are looked up need the DequantizeLinear of opset 21"};
  const auto looked_up = [&](Value* from) {
    return builder.op("Gather", {from, indices}, gather->attrs, Type::tensor(from->type.dtype, std::nullopt));
  };
  std::vector<Value*> inputs{looked_up(dequantize->input(0))};
  for (const int i : {1, 2})
    if (Value* given = dequantize->input(i))
      inputs.push_back(steps->one ? given : looked_up(as_column(given, builder)));
  std::vector<Attr> attrs;
  if (!steps->one) attrs = {{"axis", std::ssize(*indices->type.dims), {}}, {"block_size", steps->block, {}}};
  return Replacement{builder.op("DequantizeLinear", std::move(inputs), std::move(attrs), gather->output(0)->type)};
}

std::vector<Rule> rules() {
  Pattern dequantize = Pattern::op("DequantizeLinear", {Pattern::any("")}).open().as("dequantize").single_use();
  return {{Pattern::op("Gather", {std::move(dequantize), Pattern::any("indices")}).open(), rewrite}};
}

}  // namespace

const Pass gather_before_dequantize = {"gather_before_dequantize",
                                       "dequantize the rows of a table that are looked up, not all of it", rules};

}  // namespace mlopt::qdq
