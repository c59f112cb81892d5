// W -> DequantizeLinear(codes, scales, zero points): int8 or uint8, int4 or uint4, int2 or uint2, or float8, with one
// scale, one for each output, or one for each group of inputs; behind it Reshape and Transpose where the groups are no
// part of an axis.
#include "core/tensor/cast.h"
#include "quantize/emit/weight_forms.h"
#include "quantize/emit/weight_writer.h"

namespace mlopt::quantize {
namespace {

constexpr int kNibble = 4, kPair = 2;
constexpr int64_t kPairOpset = 25;  // has integers of two bits

bool has_groups(const Weight& weight, const Spec& spec) {
  return !spec.per_tensor && spec.weights.group > 0 && spec.weights.group < weight.columns;
}

std::string problem(const Weight& weight, const Spec& spec) {
  const bool can = spec.weights.is_float8() || spec.scheme().levels == Levels::kUniform;
  if (!can && spec.weights.family == Family::kFP4)
    return "fp4 has levels of its own, and ONNX Runtime has no DequantizeLinear of float4e2m1";
  if (!can) return "DequantizeLinear has uniform levels and float8 alone";
  const bool divides = !has_groups(weight, spec) || weight.columns % spec.weights.group == 0;
  return divides || !spec.target.rounds_inputs_only() ? "" : "the target's groups divide the inputs of an output";
}

int64_t opset(const Weight& weight, const Spec& spec) {
  if (has_groups(weight, spec) || spec.weights.bits <= kNibble) return 21;
  return spec.weights.is_float8() ? 19 : 13;
}

/// How the codes lie in the file.
struct Placement {
  bool as_tensor = true;  ///< as the weight's own tensor, else as [rows, columns]
  int axis = -1;          ///< of the scales; -1: there is one
  bool turned = false;    ///< scales are [groups, rows]
};

Placement placement_of(const Weight& weight, const Coded& coded) {
  if (coded.per_tensor()) return {};
  const bool matrix = weight.value->constant->rank() == 2;
  if (coded.groups() > 1) {
    // A matrix of one column lies in either order, but has its groups along the first axis.
    const bool row_major = is_row_major(weight) && (!matrix || weight.value->constant->dim(1) == weight.columns);
    return matrix && !row_major ? Placement{true, 0, true} : Placement{matrix, 1, false};
  }
  const auto axis = row_axis(weight);
  return axis ? Placement{true, *axis, false} : Placement{false, 0, false};
}

DType float8_of(Family family) { return family == Family::kF8E4M3 ? DType::kF8E4M3FN : DType::kF8E5M2; }

DType type_of(const Weight& weight, const Spec& spec, int64_t opset) {
  if (spec.weights.is_float8()) return float8_of(spec.weights.family);
  constexpr int64_t kInByte = 4;  // where rows end within a byte, ONNX Runtime reads other pairs in its MatMulNBits
  const bool whole = weight.value->constant->dims().back() % kInByte == 0;
  if (spec.weights.bits <= kPair && opset >= kPairOpset && whole)
    return spec.scheme().symmetric ? DType::kI2 : DType::kU2;
  if (spec.weights.bits > kNibble) return spec.scheme().symmetric ? DType::kI8 : DType::kU8;
  return spec.scheme().symmetric ? DType::kI4 : DType::kU4;
}

/// Codes as integers of the type; signed ones are around the code in the middle.
Tensor integers(const Dims& dims, const std::vector<uint8_t>& codes, DType type, int bits) {
  std::vector<uint8_t> stored = codes;
  if (is_signed(type))
    for (uint8_t& code : stored) code = static_cast<uint8_t>(code - (1 << (bits - 1)));
  const DType byte = is_signed(type) ? DType::kI8 : DType::kU8;
  Tensor tensor(byte, dims);
  std::copy(stored.begin(), stored.end(), reinterpret_cast<uint8_t*>(tensor.mutable_raw()));
  return type == byte ? tensor : pack(tensor, type);
}

Tensor float8s(const Dims& dims, const std::vector<uint8_t>& codes, const std::vector<float>& table, DType type,
               float largest) {
  Tensor numbers(DType::kF32, dims);
  auto* out = numbers.mutable_data<float>();
  for (size_t i = 0; i < codes.size(); ++i) out[i] = table[codes[i]] * largest;
  return cast(numbers, type);
}

template <class T>
std::vector<T> turned(const std::vector<T>& matrix, int64_t rows, int64_t columns) {
  std::vector<T> out(matrix.size());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      out[static_cast<size_t>(c * rows + r)] = matrix[static_cast<size_t>(r * columns + c)];
  return out;
}

float largest_of(DType type) {
  constexpr float kBeyond = 1e9f;
  return small_to_float(type, float_to_small(type, kBeyond, true));
}

int64_t write(Model& model, const Weight& weight, const Coded& coded, const Spec& spec) {
  const Placement at = placement_of(weight, coded);
  const DType type = type_of(weight, spec, model.opset());
  const int64_t groups = coded.groups();
  const Dims dims = at.as_tensor ? weight.value->constant->dims() : Dims{coded.rows, coded.columns};
  const std::vector<uint8_t> codes = at.as_tensor ? in_tensor_order(weight, coded.codes) : coded.codes;
  const bool float8 = spec.weights.is_float8();
  std::vector<float> scale = coded.scale;
  if (float8)
    for (float& s : scale) s /= largest_of(type);
  if (at.turned) scale = turned(scale, coded.rows, groups);
  Dims per = at.turned ? Dims{groups, coded.rows} : Dims{coded.rows, groups};
  if (groups == 1) per = Dims{coded.rows};
  if (at.axis < 0) per = {};

  WeightWriter out(weight);
  std::vector<Value*> inputs = {
      out.constant("quantized", float8 ? float8s(dims, codes, coded.table, type, largest_of(type))
                                       : integers(dims, codes, type, coded.bits)),
      out.constant("scale", Tensor::of<float>(per, scale))};
  if (!float8 && (!is_signed(type) || groups == 1))
    inputs.push_back(
        out.constant("zero_point",
                     integers(per, at.turned ? turned(coded.zero, coded.rows, groups) : coded.zero, type, coded.bits)));
  std::vector<Attr> attrs;
  if (at.axis >= 0) attrs.push_back({"axis", int64_t{at.axis}, {}});
  if (groups > 1 && at.axis >= 0) attrs.push_back({"block_size", coded.group, {}});
  Value* numbers = out.op("DequantizeLinear", inputs, attrs);
  numbers->producer->name = weight.name() + "_DequantizeLinear";
  out.replace_by(out.with_kept(at.as_tensor ? numbers : out.restored(numbers), coded.kept));
  return out.bytes();
}

}  // namespace

const WeightForm kDequantizeForm = {Emit::kQdq, problem, opset, write};

}  // namespace mlopt::quantize
