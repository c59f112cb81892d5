// Operators of two and more operands under NumPy's broadcasting: arithmetic, comparisons, choices.
#include <map>
#include <utility>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"

namespace mlopt::gpu {
namespace {

Expected<Elem> number_of(DType type) {
  if (type == DType::kBool) return Decline{"booleans"};
  return elem_of(type);
}

/// All operands have the type of the first one.
bool are_alike(const Site& site) {
  for (const auto& desc : site.in)
    if (!desc || desc->dtype != site.desc(0).dtype) return false;
  return true;
}

}  // namespace

Arith arith_named(std::string_view op) {
  static const std::map<std::string_view, Arith> kKnown{
      {"Add", Arith::kAdd},         {"Sub", Arith::kSub},          {"Mul", Arith::kMul}, {"Div", Arith::kDiv},
      {"Pow", Arith::kPow},         {"Max", Arith::kMax},          {"Min", Arith::kMin}, {"Sum", Arith::kAdd},
      {"Mean", Arith::kAdd},        {"PRelu", Arith::kPRelu},      {"Mod", Arith::kMod}, {"BitwiseAnd", Arith::kBitAnd},
      {"BitwiseOr", Arith::kBitOr}, {"BitwiseXor", Arith::kBitXor}};
  return kKnown.at(op);
}

namespace {

Expected<Arith> arith_of(const NodeView& view) {
  if (view.node().op == "BitShift")
    return view.get_string("direction", "") == "LEFT" ? Arith::kShiftLeft : Arith::kShiftRight;
  const Arith op = arith_named(view.node().op);
  if (op == Arith::kMod && view.get_int("fmod", 0) != 0) return Arith::kFMod;
  if (view.has("broadcast") || view.has("axis")) return Decline{"broadcasting by attribute"};
  return op;
}

Expected<PlannedStep> plan_arith(const Site& site) {
  const auto op = arith_of(site.view);
  const auto type = number_of(site.desc(0).dtype);
  if (!op || !type) return op ? type.error() : op.error();
  if (!are_alike(site)) return Decline{"operands of two types"};
  if (site.in.size() == 1) {
    PlannedStep same{.out = {site.desc(0)}};
    same.view_of = 0;
    return same;
  }
  Dims dims = site.desc(0).dims;
  for (const auto& desc : site.in) dims = broadcast(dims, desc->dims);
  if (*op == Arith::kPRelu && dims != site.desc(0).dims) return Decline{"the slope has more elements"};
  const TensorDesc out{site.desc(0).dtype, dims, site.layout};
  const auto strides = [&](const TensorDesc& desc) {
    return in_memory_order(broadcast_strides(desc, dims), out.layout);
  };
  // The first two, then each other with what they made.
  std::vector<Walk<2>> walks;
  for (size_t i = 1; i < site.in.size(); ++i) {
    const auto walk = walk_over<2>(out.memory_dims(),
                                   {strides(i == 1 ? site.desc(0) : out), strides(site.desc(static_cast<int>(i)))});
    if (!walk) return walk.error();
    walks.push_back(*walk);
  }
  PlannedStep step{.out = {out}};
  step.in_place = site.in.size() > 2 ? -1 : site.desc(0).dims == dims ? 0 : site.desc(1).dims == dims ? 1 : -1;
  step.run = [type = *type, op = *op, walks = std::move(walks)](const Buffers& b) {
    for (size_t i = 0; i < walks.size(); ++i) {
      const void* first = i == 0 ? b.in<void>(0) : b.out<void>(0);
      launch(b, &Kernels::arith,
             ArithArgs{type, op, walks[i], first, b.in<void>(static_cast<int>(i) + 1), b.out<void>(0)});
    }
  };
  return step;
}

/// Sums of the operands, as many at once as a chain takes, each chain on what the one before made.
Expected<std::vector<ChainArgs>> chains_of_sum(const Site& site, Elem type, const TensorDesc& out) {
  const auto terms = static_cast<int>(site.in.size());
  const auto strides = [&](const TensorDesc& desc) {
    return in_memory_order(broadcast_strides(desc, out.dims), out.layout);
  };
  std::vector<ChainArgs> chains;
  for (int i = 1; i < terms;) {
    ChainArgs args{};
    args.type = type;
    std::array<Dims, ChainArgs::kTensors> of_tensors;
    of_tensors.fill(Dims(out.dims.size(), 0));
    of_tensors[0] = strides(i == 1 ? site.desc(0) : out);
    for (int k = 1; k < ChainArgs::kTensors && i < terms; ++k, ++i) {
      of_tensors[static_cast<size_t>(k)] = strides(site.desc(i));
      args.links[args.count++] = {{}, Arith::kAdd, k, true};
    }
    const auto walk = walk_over<ChainArgs::kTensors>(out.memory_dims(), of_tensors);
    if (!walk) return walk.error();
    args.walk = *walk;
    chains.push_back(args);
  }
  return chains;
}

/// A sum or a mean, in registers: partial sums may be larger than 16 bits hold.
Expected<PlannedStep> plan_total(const Site& site) {
  const auto type = float_of(site.desc(0).dtype);
  if (!type) return type.error();
  if (site.in.size() == 1) return plan_arith(site);
  if (!are_alike(site)) return Decline{"operands of two types"};
  Dims dims = site.desc(0).dims;
  for (const auto& desc : site.in) dims = broadcast(dims, desc->dims);
  PlannedStep step{.out = {{site.desc(0).dtype, std::move(dims), site.layout}}};
  auto chains = chains_of_sum(site, *type, step.out[0]);
  if (!chains) return chains.error();
  if (site.view.node().op == "Mean") chains->back().divisor = static_cast<float>(site.in.size());
  step.run = [chains = *std::move(chains)](const Buffers& b) {
    int next = 1;
    for (ChainArgs args : chains) {
      args.in[0] = next == 1 ? b.in<void>(0) : b.out<void>(0);
      for (int k = 1; k <= args.count; ++k) args.in[k] = b.in<void>(next++);
      args.out = b.out<void>(0);
      launch(b, &Kernels::chain, args);
    }
  };
  return step;
}

/// Limits that are not constant, or of integers: the larger of both, then the smaller.
Expected<PlannedStep> plan_clip(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto type = number_of(x.dtype);
  if (!type) return type.error();
  if (site.view.has("min") || site.view.has("max")) return Decline{"limits by attribute"};
  for (int i = 1; i < 3; ++i)
    if (site.has(i) && (site.desc(i).dtype != x.dtype || site.desc(i).size() != 1)) return Decline{"no such limits"};
  const auto walk = walk_over<2>(x.dims, {row_major_strides(x.dims), Dims(x.dims.size(), 0)});
  if (!walk) return walk.error();
  PlannedStep step{.out = {x}};
  if (!site.has(1) || !site.has(2)) return Decline{"a limit is missing"};  // which then is the type's own
  step.in_place = 0;
  step.run = [type = *type, walk = *walk](const Buffers& b) {
    const auto limit = [&](Arith op, const void* from, int with) {
      launch(b, &Kernels::arith, ArithArgs{type, op, walk, from, b.in<void>(with), b.out<void>(0)});
    };
    limit(Arith::kMax, b.in<void>(0), 1);
    limit(Arith::kMin, b.out<void>(0), 2);
  };
  return step;
}

Expected<PlannedStep> plan_is_inf(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto type = float_of(x.dtype);
  const auto walk = walk_over<2>(x.dims, {row_major_strides(x.dims), row_major_strides(x.dims)});
  if (!type || !walk) return type ? walk.error() : type.error();
  const bool below = site.view.get_int("detect_negative", 1) != 0, above = site.view.get_int("detect_positive", 1) != 0;
  if (!below && !above) return Decline{"nothing is infinite"};
  const Test test = !below ? Test::kAbove : !above ? Test::kBelow : Test::kInfinite;
  PlannedStep step{.out = {{DType::kBool, x.dims}}};
  step.run = [type = *type, test, walk = *walk](const Buffers& b) {
    launch(b, &Kernels::compare, CompareArgs{type, test, walk, b.in<void>(0), b.in<void>(0), b.out<bool>(0)});
  };
  return step;
}

Expected<PlannedStep> plan_compare(const Site& site) {
  static const std::map<std::string_view, Test> kKnown{
      {"Equal", Test::kEqual},     {"Less", Test::kLess},
      {"Greater", Test::kGreater}, {"LessOrEqual", Test::kLessEqual},
      {"And", Test::kAnd},         {"GreaterOrEqual", Test::kGreaterEqual},
      {"Or", Test::kOr},           {"Xor", Test::kXor},
      {"Not", Test::kIsZero},      {"IsNaN", Test::kDiffers}};
  const Test test = kKnown.at(site.view.node().op);
  const int second = test == Test::kIsZero || test == Test::kDiffers ? 0 : 1;
  if (site.view.has("broadcast") || site.view.has("axis")) return Decline{"broadcasting by attribute"};
  if (!are_alike(site)) return Decline{"operands of two types"};
  const TensorDesc &a = site.desc(0), &b = site.desc(second);
  const auto type = elem_of(a.dtype);
  if (!type) return type.error();
  const Dims dims = broadcast(a.dims, b.dims);
  const auto walk = walk_over<2>(dims, {broadcast_strides(a.dims, dims), broadcast_strides(b.dims, dims)});
  if (!walk) return walk.error();
  PlannedStep step{.out = {{DType::kBool, dims}}};
  step.run = [type = *type, test, walk = *walk, second](const Buffers& b) {
    launch(b, &Kernels::compare, CompareArgs{type, test, walk, b.in<void>(0), b.in<void>(second), b.out<bool>(0)});
  };
  return step;
}

Expected<PlannedStep> plan_where(const Site& site) {
  const TensorDesc &c = site.desc(0), &x = site.desc(1), &y = site.desc(2);
  const auto width = width_of(x.dtype);
  if (!width) return width.error();
  const Dims dims = broadcast(broadcast(c.dims, x.dims), y.dims);
  const auto walk = walk_over<3>(
      dims, {broadcast_strides(c.dims, dims), broadcast_strides(x.dims, dims), broadcast_strides(y.dims, dims)});
  if (!walk) return walk.error();
  PlannedStep step{.out = {{x.dtype, dims}}};
  step.run = [width = *width, walk = *walk](const Buffers& b) {
    launch(b, &Kernels::choose, ChooseArgs{width, walk, b.in<bool>(0), b.in<void>(1), b.in<void>(2), b.out<void>(0)});
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Add", .plan = plan_arith, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Sub", .plan = plan_arith, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Mul", .plan = plan_arith, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Div", .plan = plan_arith, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Pow", .plan = plan_arith, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Max", .plan = plan_arith, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Min", .plan = plan_arith, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Sum", .plan = plan_total, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Mean", .plan = plan_total, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Clip", .plan = plan_clip, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "PRelu", .plan = plan_arith, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Mod", .plan = plan_arith, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "BitwiseAnd", .plan = plan_arith, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "BitwiseOr", .plan = plan_arith, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "BitwiseXor", .plan = plan_arith, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "BitShift", .plan = plan_arith, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Equal", .plan = plan_compare},
    {.domain = "", .op = "Less", .plan = plan_compare},
    {.domain = "", .op = "Greater", .plan = plan_compare},
    {.domain = "", .op = "LessOrEqual", .plan = plan_compare},
    {.domain = "", .op = "GreaterOrEqual", .plan = plan_compare},
    {.domain = "", .op = "And", .plan = plan_compare},
    {.domain = "", .op = "Or", .plan = plan_compare},
    {.domain = "", .op = "Xor", .plan = plan_compare},
    {.domain = "", .op = "Not", .plan = plan_compare},
    {.domain = "", .op = "IsNaN", .plan = plan_compare},
    {.domain = "", .op = "IsInf", .plan = plan_is_inf},
    {.domain = "", .op = "Where", .plan = plan_where},
};

}  // namespace

std::span<const Kernel> arith_kernels() { return kKernels; }

}  // namespace mlopt::gpu
