// com.microsoft's QLinearAdd, QLinearMul, QLinearSigmoid, QLinearLeakyRelu, QLinearConcat and QLinearGlobalAveragePool:
// what codes are worth is computed and made codes again, in registers.
#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "core/ir/read_activation.h"

namespace mlopt::gpu {
namespace {

/// Operands of codes in inputs `first`, each followed by its scale and zero point, and the output's in `output`.
struct Checked {
  bool is_signed;
  Elem scale_type;
};
Expected<Checked> check(const Site& site, const std::vector<int>& operands, int output) {
  const TensorDesc& zero = site.desc(output + 1);
  const auto scale = float_of(site.desc(output).dtype);
  if (!scale) return scale.error();
  if (zero.dtype != DType::kI8 && zero.dtype != DType::kU8) return Decline{"no 8-bit codes"};
  if (site.view.get_int("channels_last", 0) != 0) return Decline{"channels last"};
  const auto is_one = [&](int i, DType type) { return site.desc(i).size() == 1 && site.desc(i).dtype == type; };
  bool fit = is_one(output, site.desc(output).dtype) && is_one(output + 1, zero.dtype);
  for (const int i : operands)
    fit = fit && site.desc(i).dtype == zero.dtype && is_countable(site.desc(i)) &&
          is_one(i + 1, site.desc(output).dtype) && is_one(i + 2, zero.dtype);
  if (!fit) return Decline{"codes of several types, or with several scales"};
  return Checked{zero.dtype == DType::kI8, *scale};
}

CodeSteps steps_of(const Buffers& b, int i) { return {b.in<void>(i), b.in<void>(i + 1), b.in<void>(i + 2)}; }

Expected<PlannedStep> plan_pair(const Site& site) {
  const auto how = check(site, {0, 3}, 6);
  if (!how) return how.error();
  const Dims &a = site.desc(0).dims, &b = site.desc(3).dims, out = broadcast(a, b);
  const auto walk = walk_over<3>(out, {broadcast_strides(a, out), broadcast_strides(b, out), row_major_strides(out)});
  if (!walk) return walk.error();
  CodeMapArgs args{};
  args.is_signed = how->is_signed, args.scale_type = how->scale_type;
  args.multiplies = site.view.node().op == "QLinearMul";
  args.walk = *walk;
  PlannedStep step{.out = {{site.desc(0).dtype, out}}};
  step.run = [args](const Buffers& b) {
    CodeMapArgs now = args;
    now.a = steps_of(b, 0), now.b = steps_of(b, 3);
    now.scale = b.in<void>(6), now.zero = b.in<void>(7), now.out = b.out<void>(0);
    launch(b, &Kernels::code_map, now);
  };
  return step;
}

Expected<PlannedStep> plan_alone(const Site& site) {
  const auto how = check(site, {0}, 3);
  const bool leaky = site.view.node().op == "QLinearLeakyRelu";
  const auto act =
      leaky ? activation_of("LeakyRelu", {site.view.get_float("alpha", 0.01f), 0}) : activation_of("Sigmoid", {0, 0});
  if (!how || !act) return !how ? how.error() : act.error();
  const Dims strides = row_major_strides(site.desc(0).dims);
  const auto walk = walk_over<3>(site.desc(0).dims, {strides, strides, strides});
  if (!walk) return walk.error();
  CodeMapArgs args{how->is_signed, how->scale_type, true, false, *act, *walk, {}, {}, nullptr, nullptr, nullptr};
  PlannedStep step{.out = {site.desc(0)}};
  step.run = [args](const Buffers& b) {
    CodeMapArgs now = args;
    now.a = steps_of(b, 0);
    now.scale = b.in<void>(3), now.zero = b.in<void>(4), now.out = b.out<void>(0);
    launch(b, &Kernels::code_map, now);
  };
  return step;
}

/// (y_scale, y_zero, and for each piece its codes, scale and zero point).
Expected<PlannedStep> plan_concat(const Site& site) {
  std::vector<int> pieces;
  for (int i = 2; i + 2 < static_cast<int>(site.in.size()); i += 3) pieces.push_back(i);
  const auto how = check(site, pieces, 0);
  if (!how || pieces.empty()) return how ? Decline{"nothing to join"} : how.error();
  Dims out = site.desc(2).dims;
  const auto axis = static_cast<size_t>(normalize_axis(site.view.get_int("axis"), static_cast<int64_t>(out.size())));
  out[axis] = 0;
  for (const int i : pieces) {
    if (site.desc(i).dims.size() != out.size()) return Decline{"pieces do not fit"};
    out[axis] += site.desc(i).dims[axis];
  }
  const Dims strides = row_major_strides(out);
  struct Piece {
    CodeMapArgs args;
    int input;
    int64_t offset;
  };
  std::vector<Piece> moves;
  int64_t offset = 0;
  for (const int i : pieces) {
    const Dims& dims = site.desc(i).dims;
    const auto walk = walk_over<3>(dims, {row_major_strides(dims), row_major_strides(dims), strides});
    if (!walk) return walk.error();
    moves.push_back(
        {{how->is_signed, how->scale_type, true, false, {}, *walk, {}, {}, nullptr, nullptr, nullptr}, i, offset});
    offset += dims[axis] * strides[axis];
  }
  PlannedStep step{.out = {{site.desc(1).dtype, out}}};
  step.run = [moves](const Buffers& b) {
    for (const Piece& piece : moves) {
      CodeMapArgs now = piece.args;
      now.a = steps_of(b, piece.input);
      now.scale = b.in<void>(0), now.zero = b.in<void>(1), now.out = b.out<std::byte>(0) + piece.offset;
      launch(b, &Kernels::code_map, now);
    }
  };
  return step;
}

Expected<PlannedStep> plan_mean(const Site& site) {
  const auto how = check(site, {0}, 3);
  if (!how) return how.error();
  const Dims& x = site.desc(0).dims;
  if (x.size() < 3) return Decline{"no spatial axes"};
  Dims out(x.size(), 1);
  out[0] = x[0], out[1] = x[1];
  const CodeMeansArgs args{how->is_signed, how->scale_type, x[0] * x[1], around(x, 2, x.size()).length, {},
                           nullptr,        nullptr,         nullptr};
  PlannedStep step{.out = {{site.desc(0).dtype, out}}};
  step.run = [args](const Buffers& b) {
    CodeMeansArgs now = args;
    now.in = steps_of(b, 0);
    now.scale = b.in<void>(3), now.zero = b.in<void>(4), now.out = b.out<void>(0);
    launch(b, &Kernels::code_means, now);
  };
  return step;
}

constexpr const char* kDomain = "com.microsoft";
constexpr Kernel kKernels[] = {
    {.domain = kDomain, .op = "QLinearAdd", .plan = plan_pair},
    {.domain = kDomain, .op = "QLinearMul", .plan = plan_pair},
    {.domain = kDomain, .op = "QLinearSigmoid", .plan = plan_alone},
    {.domain = kDomain, .op = "QLinearLeakyRelu", .plan = plan_alone},
    {.domain = kDomain, .op = "QLinearConcat", .plan = plan_concat},
    {.domain = kDomain, .op = "QLinearGlobalAveragePool", .plan = plan_mean},
};

}  // namespace

std::span<const Kernel> code_map_kernels() { return kKernels; }

}  // namespace mlopt::gpu
