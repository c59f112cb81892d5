// com.microsoft's operators between 8 bit tensors that go element by element: QLinearAdd, QLinearMul, QLinearSigmoid,
// QLinearLeakyRelu, QLinearConcat, and QLinearGlobalAveragePool.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "backends/cpu/arithmetic.h"
#include "backends/cpu/bytes.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/middle.h"
#include "backends/cpu/step_change.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kGrain = 32768;  // elements below which a second thread costs more than it brings

/// A scale in input i of the step, and its zero point in the next one.
struct StepsIn {
  int i = 0;
  bool has_zero = false, is_signed = false;

  Steps read(const Buffers& b) const {
    const int32_t zero = !has_zero ? 0 : is_signed ? *b.in<int8_t>(i + 1) : *b.in<uint8_t>(i + 1);
    return {*b.in<float>(i), zero};
  }
};

/// Declines what is not one scale and zero point for numbers of this type.
Expected<StepsIn> steps_in(const Site& site, int i, DType type) {
  if (!site.has(i) || site.desc(i).dtype != DType::kF32 || site.desc(i).size() != 1) return Decline{"not one scale"};
  if (site.has(i + 1) && (site.desc(i + 1).dtype != type || site.desc(i + 1).size() != 1))
    return Decline{"not one zero point of the numbers' type"};
  return StepsIn{i, site.has(i + 1), type == DType::kI8};
}

// ---- Two operands: A, its steps, B, its steps, the output's steps

Expected<PlannedStep> plan_binary(const Site& site) {
  const DType type = site.desc(0).dtype;
  if (!is_bytes(type)) return Decline{"not operands of 8 bits"};
  const auto as = steps_in(site, 1, type), bs = steps_in(site, 4, type), ys = steps_in(site, 6, type);
  for (const auto* steps : {&as, &bs, &ys})
    if (!*steps) return steps->error();
  auto operands = operands_of(site, 0, 3, type);
  if (!operands) return operands.error();
  PlannedStep step{.out = {operands->out}};
  step.in_place = operands->in_place;
  step.run = [multiplies = site.view.node().op == "QLinearMul", as = *as, bs = *bs, ys = *ys,
              p = std::move(operands->pairing)](const Buffers& buffers) {
    const SteppedRow x{{buffers.in<std::byte>(0), as.is_signed}, as.read(buffers), p.strides.back()[0] != 0};
    const SteppedRow y{{buffers.in<std::byte>(3), as.is_signed}, bs.read(buffers), p.strides.back()[1] != 0};
    const MutableBytes result{buffers.out<std::byte>(0), as.is_signed};
    const Steps steps = ys.read(buffers);
    for_rows(p, kGrain, [&](int64_t start, int64_t count, int64_t at_x, int64_t at_y) {
      combine(multiplies, {x.numbers.at(at_x), x.steps, x.moves}, {y.numbers.at(at_y), y.steps, y.moves}, steps,
              result.at(start), count);
    });
  };
  return step;
}

// ---- One operand: any function of 256 numbers is a table

/// table[byte of the input] = byte of the output.
using Table = std::array<uint8_t, 256>;

template <class Fn>
Table table_of(bool is_signed, const Steps& from, const Steps& to, const Fn& fn) {
  std::array<float, 256> values;
  Table bytes, table;
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  dequantize({bytes.data(), is_signed}, values.data(), 256, from.scale, from.zero);
  for (float& v : values) v = fn(v);
  quantize(values.data(), {table.data(), is_signed}, 256, to.scale, to.zero);
  return table;
}

Expected<PlannedStep> plan_unary(const Site& site) {
  const TensorDesc& x = site.desc(0);
  if (!is_bytes(x.dtype)) return Decline{"not 8 bits"};
  const auto from = steps_in(site, 1, x.dtype), to = steps_in(site, 3, x.dtype);
  if (!from || !to) return from ? to.error() : from.error();
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  step.run = [from = *from, to = *to, leaky = site.view.node().op == "QLinearLeakyRelu",
              alpha = site.view.get_float("alpha", 0.01f), count = x.size()](const Buffers& b) {
    const Table table = table_of(from.is_signed, from.read(b), to.read(b),
                                 [=](float v) { return leaky ? (v < 0 ? alpha * v : v) : 1 / (1 + std::exp(-v)); });
    const auto* in = b.in<uint8_t>(0);
    auto* out = b.out<uint8_t>(0);
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = table[in[i]];
    });
  };
  return step;
}

// ---- QLinearConcat: the output's steps, then each input and its steps

/// One input and the bytes that it gives to each row of the output.
struct Part {
  int input;
  StepsIn steps;
  int64_t row;
};

void concat(const std::vector<Part>& parts, const StepsIn& steps, int64_t rows, int64_t row_bytes, const Buffers& b) {
  const Steps to = steps.read(b);
  int64_t place = 0;
  for (const Part& part : parts) {
    const StepChange change(steps.is_signed, part.steps.read(b), to);
    parallel_for(rows, std::max<int64_t>(1, kGrain / part.row), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        change.apply(b.in<std::byte>(part.input) + i * part.row, b.out<std::byte>(0) + place + i * row_bytes, part.row);
    });
    place += part.row;
  }
}

Expected<PlannedStep> plan_concat(const Site& site) {
  const auto inputs = static_cast<int>(site.in.size());
  if (inputs < 5 || (inputs - 2) % 3 != 0 || !site.has(2)) return Decline{"inputs do not come in threes"};
  TensorDesc out = site.desc(2);
  if (!is_bytes(out.dtype) || out.dims.empty()) return Decline{"not tensors of 8 bits"};
  const auto axis =
      static_cast<size_t>(normalize_axis(site.view.get_int("axis"), static_cast<int64_t>(out.dims.size())));
  const auto to = steps_in(site, 0, out.dtype);
  if (!to) return to.error();
  std::vector<Part> parts;
  int64_t length = 0, row = 0;
  for (int i = 2; i < inputs; i += 3) {
    TensorDesc part = site.desc(i);
    if (part.is_any_layout()) part.layout = out.layout;
    const auto steps = steps_in(site, i + 1, out.dtype);
    if (!steps) return steps.error();
    if (part.dims.size() != out.dims.size()) return Decline{"the inputs differ in rank"};
    parts.push_back({i, *steps, part.dims[axis] * around(part.memory_dims(), memory_axis(part, axis)).inner});
    row += parts.back().row;
    length += std::exchange(part.dims[axis], out.dims[axis]);
    if (part != out) return Decline{"the inputs do not fit together"};
  }
  out.dims[axis] = length;
  const int64_t rows = around(out.memory_dims(), memory_axis(out, axis)).outer;
  PlannedStep step{.out = {std::move(out)}};
  step.run = [parts = std::move(parts), to = *to, rows, row](const Buffers& b) { concat(parts, to, rows, row, b); };
  return step;
}

// ---- QLinearGlobalAveragePool: X, its steps, the output's steps

/// Sums of [images, positions, channels] over the positions.
void sum_positions(Bytes x, int64_t images, int64_t positions, int64_t channels, int32_t* sums) {
  constexpr int64_t kChannels = 64;  // that one thread takes at least
  std::fill_n(sums, images * channels, 0);
  for (int64_t image = 0; image < images; ++image)
    parallel_for(channels, std::max(kChannels, kGrain / positions), [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < positions; ++i)
        add_to(x.at((image * positions + i) * channels + begin), sums + image * channels + begin, end - begin);
    });
}

/// Sums of planes that lie one after the other.
void sum_planes(Bytes x, int64_t planes, int64_t size, int32_t* sums) {
  parallel_for(planes, std::max<int64_t>(1, kGrain / size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sums[i] = static_cast<int32_t>(sum(x.at(i * size), size));
  });
}

Expected<PlannedStep> plan_average(const Site& site) {
  const TensorDesc& x = site.desc(0);
  if (site.view.get_int("channels_last", 0) != 0) return Decline{"channels come last"};
  if (!is_bytes(x.dtype) || x.dims.size() < 3) return Decline{"not a tensor of 8 bits with spatial axes"};
  const auto from = steps_in(site, 1, x.dtype), to = steps_in(site, 3, x.dtype);
  if (!from || !to) return from ? to.error() : from.error();
  const int64_t images = x.dims[0], channels = x.dims[1], planes = images * channels, size = x.size() / planes;
  constexpr int64_t kMost = (int64_t{1} << 31) / 256;
  if (size >= kMost) return Decline{"sums do not fit in 32 bits"};
  TensorDesc out{x.dtype, Dims(x.dims.size(), 1), x.layout};
  std::copy_n(x.dims.begin(), 2, out.dims.begin());
  PlannedStep step{.out = {std::move(out)}};
  step.scratch_bytes = static_cast<size_t>(planes) * sizeof(int32_t);
  step.run = [=, from = *from, to = *to, last = x.layout == mlopt::Layout::kChannelsLast](const Buffers& b) {
    auto* sums = reinterpret_cast<int32_t*>(b.scratch);
    const Bytes in{b.in<std::byte>(0), from.is_signed};
    if (last)
      sum_positions(in, images, size, channels, sums);
    else
      sum_planes(in, planes, size, sums);
    const Steps source = from.read(b), result = to.read(b);
    const MutableBytes y{b.out<std::byte>(0), from.is_signed};
    for (int64_t i = 0; i < planes; ++i) {
      const double mean = static_cast<double>(sums[i]) / static_cast<double>(size) - source.zero;
      const auto real = static_cast<float>(mean * source.scale);
      quantize(&real, y.at(i), 1, result.scale, result.zero);
    }
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "com.microsoft", .op = "QLinearAdd", .plan = plan_binary, .layout = LayoutRule::kFollows},
    {.domain = "com.microsoft", .op = "QLinearMul", .plan = plan_binary, .layout = LayoutRule::kFollows},
    {.domain = "com.microsoft", .op = "QLinearSigmoid", .plan = plan_unary, .layout = LayoutRule::kFollows},
    {.domain = "com.microsoft", .op = "QLinearLeakyRelu", .plan = plan_unary, .layout = LayoutRule::kFollows},
    {.domain = "com.microsoft", .op = "QLinearConcat", .plan = plan_concat, .layout = LayoutRule::kFollows},
    {.domain = "com.microsoft",
     .op = "QLinearGlobalAveragePool",
     .plan = plan_average,
     .layout = LayoutRule::kChannelsLast},
};

}  // namespace

std::span<const Kernel> qpointwise_kernels() { return kKernels; }

}  // namespace mlopt::cpu
