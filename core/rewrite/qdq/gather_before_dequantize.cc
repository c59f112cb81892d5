// Gather(DequantizeLinear(table), indices) -> DequantizeLinear(Gather(table, indices)): of a table that is stored as
// integers only the rows that are looked up become floats, where runtimes make floats of all of it in each run. Scales
// of rows, or of blocks of them, are looked up as well. The same for what stands for it in older opsets,
// Mul(Sub(Cast(table), zero points), scales).
#include <algorithm>
#include <string>
#include <utility>

#include "core/rewrite/qdq/passes.h"
#include "core/tensor/cast.h"

namespace mlopt::qdq {
namespace {

/// How the scales of a table go with its rows.
struct Steps {
  bool one;       ///< for the whole table
  int64_t block;  ///< numbers of a row that share one
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

Value* looked_up(Value* from, const Node& gather, Builder& builder) {
  return builder.op("Gather", {from, gather.input(1)}, gather.attrs, Type::tensor(from->type.dtype, std::nullopt));
}

/// Of constant scales or zero points, one number as a scalar, [rows] and [rows, blocks] as those of the rows that are
/// looked up, with an axis for the blocks.
Value* of_rows(Value* steps, const Node& gather, Builder& builder) {
  const Tensor& given = *steps->known_constant();
  const int wanted = given.size() == 1 ? 0 : 2;
  if (given.rank() != wanted)
    steps = builder.constant(steps->name + "_rows", given.reshaped(wanted == 0 ? Dims{} : Dims{given.size(), 1}));
  return wanted == 0 ? steps : looked_up(steps, gather, builder);
}

/// Does the Gather look up rows of a constant table of bytes or larger integers? Else why not.
std::string problem_of(const Node& gather, const Tensor* table, const Builder& builder) {
  if (builder.target == Target::kOpenvino || builder.target == Target::kTensorrt)
    return "the target reads tables behind DequantizeLinear";
  if (!table) return "its table is not constant";
  if (table->rank() != 2 || table->dim(1) == 0 || builder.view(gather).get_int("axis", 0) != 0 ||
      !gather.input(1)->type.dims)
    return "it does not look up rows";
  if (!is_integer(table->dtype()) || is_sub_byte(table->dtype()))
    return "Gather takes neither integers of less than 8 bits nor floats of 8 bits";
  return {};
}

bool all_zero(const Tensor& zeros) {
  const std::vector<double> numbers = to_doubles(zeros);
  return std::all_of(numbers.begin(), numbers.end(), [](double z) { return z == 0; });
}

/// ONNX Runtime stores the floats of one scale again before what moves them. Below this opset only a zero point says as
/// what; from it on, one of signed bytes contradicts the type that it writes.
constexpr int64_t kTypedSince = 21;

/// The zero point to write for a table of one scale, null for none.
Value* zero_of_one(Value* given, DType type, Builder& builder) {
  if (given || type == DType::kU8 || builder.has(kTypedSince)) return given;
  return builder.constant("zero_point", Tensor::zeros(type, {}));
}

/// (codes - zero points) scales of the rows, of scales and zero points for each.
Value* spelt_out(Value* codes, Value* scale, Value* zero, const Node& gather, Builder& builder) {
  const std::vector<Attr> to_float = {{"to", static_cast<int64_t>(scale->type.dtype), {}}};
  Value* numbers = builder.op("Cast", {looked_up(codes, gather, builder)}, to_float);
  if (zero) {
    Value* zeros = builder.op("Cast", {of_rows(zero, gather, builder)}, to_float);
    numbers = builder.op("Sub", {numbers, zeros});
  }
  return builder.op("Mul", {numbers, of_rows(scale, gather, builder)}, {}, gather.output(0)->type);
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  constexpr int64_t kBlocksSince = 21;
  const Node *gather = m.root, *dequantize = m.node("dequantize");
  const NodeView view = builder.view(*dequantize);
  const Tensor *table = view.constant(0), *scale = view.constant(1), *zero = view.constant(2);
  if (std::string problem = problem_of(*gather, table, builder); !problem.empty()) return Decline{std::move(problem)};
  if (!scale || (dequantize->input(2) && !zero)) return Decline{"its scales are not constant"};
  if (view.has("output_dtype")) return Decline{"its floats are not of the type of its scales"};
  const auto steps = steps_of(view, *table);
  if (!steps) return steps.error();
  const bool again = steps->one && builder.target != Target::kKernels;
  if (again && table->dtype() == DType::kI32) return Decline{"ONNX Runtime stores no floats as int32"};
  Value *codes = dequantize->input(0), *zeros = zero && !all_zero(*zero) ? dequantize->input(2) : nullptr;
  // One row has one scale, for which DequantizeLinear knows no block.
  const bool single = gather->input(1)->type.dims->empty() && steps->block >= table->dim(1);
  const bool contradicts = again && zeros && table->dtype() == DType::kI8 && builder.has(kTypedSince);
  if (contradicts || (!steps->one && (single || !builder.has(kBlocksSince))))
    return Replacement{spelt_out(codes, dequantize->input(1), zeros, *gather, builder)};
  if (again) zeros = zero_of_one(zeros, table->dtype(), builder);
  std::vector<Value*> inputs{looked_up(codes, *gather, builder)};
  for (Value* given : {dequantize->input(1), zeros})
    if (given) inputs.push_back(of_rows(given, *gather, builder));
  std::vector<Attr> attrs;
  if (!steps->one) attrs = {{"axis", std::ssize(*gather->input(1)->type.dims), {}}, {"block_size", steps->block, {}}};
  return Replacement{builder.op("DequantizeLinear", std::move(inputs), std::move(attrs), gather->output(0)->type)};
}

/// Is it one number, or one for each row of the table?
bool is_of_rows(const Tensor* steps, const Tensor& table) {
  return steps && (steps->size() == 1 ? steps->rank() <= 2 : steps->dims() == Dims{table.dim(0), 1});
}

Expected<Replacement> rewrite_spelt_out(const Match& m, Builder& builder) {
  const Node& gather = *m.root;
  Value *codes = m.value("codes"), *zero = m.value("zero"), *scale = m.value("scale");
  const Node* cast = zero->producer && zero->producer->is("Cast") ? zero->producer : nullptr;
  const Tensor* table = codes->known_constant();
  if (std::string problem = problem_of(gather, table, builder); !problem.empty()) return Decline{std::move(problem)};
  const Tensor* zeros = cast ? cast->input(0)->known_constant() : zero->known_constant();
  if (!is_of_rows(zeros, *table) || !is_of_rows(scale->known_constant(), *table))
    return Decline{"its scales are not those of rows"};
  const Node* to_float = m.node("cast");
  Value* numbers = builder.op("Cast", {looked_up(codes, gather, builder)}, to_float->attrs);
  Value* zeros_of_rows = of_rows(cast ? cast->input(0) : zero, gather, builder);
  if (cast) zeros_of_rows = builder.op("Cast", {zeros_of_rows}, cast->attrs);
  Value* levels = builder.op("Sub", {numbers, zeros_of_rows});
  return Replacement{builder.op("Mul", {levels, of_rows(scale, gather, builder)}, {}, gather.output(0)->type)};
}

std::vector<Rule> rules() {
  Pattern dequantize = Pattern::op("DequantizeLinear", {Pattern::any("")}).open().as("dequantize").single_use();
  Pattern cast = Pattern::op("Cast", {Pattern::constant("codes")}).open().as("cast").single_use();
  Pattern levels = Pattern::op("Sub", {std::move(cast), Pattern::any("zero")}).single_use();
  Pattern numbers = Pattern::op("Mul", {std::move(levels), Pattern::constant("scale")}).single_use();
  return {{Pattern::op("Gather", {std::move(dequantize), Pattern::any("indices")}).open(), rewrite},
          {Pattern::op("Gather", {std::move(numbers), Pattern::any("indices")}).open(), rewrite_spelt_out}};
}

}  // namespace

const Pass gather_before_dequantize = {"gather_before_dequantize",
                                       "dequantize the rows of a table that are looked up, not all of it", rules};

}  // namespace mlopt::qdq
