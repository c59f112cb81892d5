#include <string>
#include <vector>

#include "backends/reference/inner_call.h"
#include "backends/reference/kernels.h"
#include "backends/reference/quantize.h"

// com.microsoft's quantized forms of float operators: the inputs are dequantized, the float kernel of the name without
// its prefix runs on them with the same attributes, and its result is quantized again.
namespace mlopt::reference {
namespace {

constexpr std::string_view kPrefix = "QLinear";

/// Where the operands are among the inputs. Each quantized one is followed by its scale and its zero point.
struct Layout {
  int plain = 0;         ///< leading inputs that are not quantized
  int first = 0;         ///< the first quantized operand
  int operands = 1;      ///< 0: all that follow
  int output_scale = 3;  ///< followed by the zero point of the output
};

Layout layout_of(std::string_view op) {
  if (op == "Add" || op == "Mul") return {0, 0, 2, 6};
  if (op == "Where") return {1, 1, 2, 7};
  if (op == "Concat") return {0, 2, 0, 0};
  return {};
}

struct RealValue {
  Tensor scale, zero;
  bool has_zero = false;
  const Tensor* zero_point() const { return has_zero ? &zero : nullptr; }
};

/// The scale in input i and the zero point in the next; one number each.
RealValue parameters(const Call& call, int i) {
  RealValue p{call.in(i), {}, call.has(i + 1)};
  if (p.has_zero) p.zero = call.in(i + 1);
  require(call, p.scale.size() == 1 && is_float(p.scale.dtype()), "a scale must be one float");
  require(call, !p.has_zero || p.zero.size() == 1, "a zero point must be one number");
  return p;
}

Tensor dequantized_input(const Call& call, int i) {
  const Tensor& x = call.in(i);
  const RealValue p = parameters(call, i + 1);
  const ScaleMap map(call, x.dims(), p.scale.dims(), 0, 0);
  return dequantized(call, x, p.scale, p.zero_point(), map, compute_type(p.scale.dtype()));
}

void run_on_real_values(Call& call, PlainKernel kernel, const Layout& layout) {
  std::vector<Datum> real;
  for (int i = 0; i < layout.plain; ++i) real.emplace_back(call.in(i));
  const int end = layout.operands == 0 ? call.input_count() : layout.first + 3 * layout.operands;
  require(call, layout.operands != 0 || (end - layout.first) % 3 == 0, "each operand needs a scale and a zero point");
  for (int i = layout.first; i < end; i += 3) real.emplace_back(dequantized_input(call, i));
  const Tensor result = run_inner(call, kernel, real).front().tensor();
  const RealValue out = parameters(call, layout.output_scale);
  const DType type = out.has_zero ? out.zero.dtype() : call.in(layout.first).dtype();
  const ScaleMap map(call, result.dims(), out.scale.dims(), 0, 0);
  call.set(0, quantized(call, result, out.scale, out.zero_point(), map, type));
}

Expected<Step> compile(const NodeView& view, const CompileContext&) {
  if (view.get_int("channels_last", 0) != 0) return Decline{"channels_last is not supported"};
  const std::string_view op = std::string_view(view.node().op).substr(kPrefix.size());
  const PlainKernel kernel = find_kernel("", op);
  if (!kernel) return Decline{"there is no float kernel of this operator"};
  return Step([kernel, layout = layout_of(op)](Call& call) { run_on_real_values(call, kernel, layout); });
}

/// QLinearConv, whose output is then an operand of QLinearAdd: the other one and its steps follow the inputs of the
/// convolution, then the steps of the sum.
void qlinear_conv_add(Call& call) {
  constexpr int kConvInputs = 9, kInputs = 14;
  require(call, call.input_count() == kInputs, "it has 14 inputs");
  std::vector<Datum> inputs;
  for (int i = 0; i < kConvInputs; ++i) inputs.push_back(call.has(i) ? call.datum(i) : Datum());
  std::vector<Datum> operands = run_inner(call, find_kernel("", "QLinearConv"), inputs);
  for (const int i : {6, 7, 9, 10, 11, 12, 13}) operands.push_back(call.datum(i));
  const PlainKernel add = [](Call& inner) { run_on_real_values(inner, find_kernel("", "Add"), layout_of("Add")); };
  call.set(0, run_inner(call, add, operands).front());
}

constexpr Kernel kKernels[] = {
    {"com.microsoft", "QLinearAdd", nullptr, compile},
    {"com.microsoft", "QLinearAveragePool", nullptr, compile},
    {"com.microsoft", "QLinearConcat", nullptr, compile},
    {"com.microsoft", "QLinearGlobalAveragePool", nullptr, compile},
    {"com.microsoft", "QLinearLeakyRelu", nullptr, compile},
    {"com.microsoft", "QLinearMul", nullptr, compile},
    {"com.microsoft", "QLinearReduceMean", nullptr, compile},
    {"com.microsoft", "QLinearSigmoid", nullptr, compile},
    {"com.microsoft", "QLinearSoftmax", nullptr, compile},
    {"com.microsoft", "QLinearWhere", nullptr, compile},
    {"mlopt", "QLinearConvAdd", qlinear_conv_add},
};

}  // namespace

std::span<const Kernel> contrib_quant_kernels() { return kKernels; }

}  // namespace mlopt::reference
