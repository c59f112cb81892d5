// com.microsoft's operators between 8 bit tensors that go element by element: QLinearAdd, QLinearMul, QLinearSigmoid,
// QLinearLeakyRelu, QLinearConcat, and QLinearGlobalAveragePool.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "backends/cpu/arithmetic.h"
#include "backends/cpu/bytes.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/planned.h"
#include "backends/cpu/reduce.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kGrain = 32768;  // elements below which a second thread costs more than it brings

/// A scale in input i and its zero point in the next one.
struct Steps {
  float scale;
  int32_t zero;
  friend bool operator==(const Steps&, const Steps&) = default;
};

int32_t zero_in(const Call& call, int i) {
  if (!call.has(i)) return 0;
  const Tensor& z = call.in(i);
  return z.dtype() == DType::kI8 ? *z.data<int8_t>() : *z.data<uint8_t>();
}

Steps steps_in(const Call& call, int i) { return {*call.in(i).data<float>(), zero_in(call, i + 1)}; }

bool are_steps(const Call& call, int i) {
  const Tensor& scale = call.in(i);
  return scale.dtype() == DType::kF32 && scale.size() == 1 &&
         (!call.has(i + 1) || (is_bytes(call.in(i + 1).dtype()) && call.in(i + 1).size() == 1));
}

// ---- Two operands: A, its steps, B, its steps, the output's steps

/// One row, in pieces that stay in the first cache.
void run_row(Arithmetic op, const Steps& as, const Steps& bs, const Steps& ys, Bytes a, Bytes b, bool a_moves,
             bool b_moves, MutableBytes y, int64_t count) {
  constexpr int64_t kPiece = 1024;
  std::array<float, kPiece> left, right;
  const auto load = [](Bytes from, bool moves, int64_t at, int64_t n, const Steps& s, std::array<float, kPiece>& to) {
    if (moves) return dequantize(from.at(at), to.data(), n, s.scale, s.zero);
    dequantize(from, to.data(), 1, s.scale, s.zero);
    std::fill_n(to.begin() + 1, n - 1, to[0]);
  };
  for (int64_t i = 0; i < count; i += kPiece) {
    const int64_t n = std::min(kPiece, count - i);
    load(a, a_moves, i, n, as, left);
    load(b, b_moves, i, n, bs, right);
    run_arithmetic(op, {{n}, {{1, 1}}}, left.data(), right.data(), left.data());
    quantize(left.data(), y.at(i), n, ys.scale, ys.zero);
  }
}

Expected<Step> compile_binary(const NodeView& view, const CompileContext& context) {
  const Arithmetic op = view.node().op == "QLinearMul" ? Arithmetic::kMul : Arithmetic::kAdd;
  return planned(view, context, [op](const Call& call) -> Expected<Step> {
    const Tensor &a = call.in(0), &b = call.in(3);
    if (!is_bytes(a.dtype()) || a.dtype() != b.dtype() || !are_steps(call, 1) || !are_steps(call, 4) ||
        !are_steps(call, 6))
      return Decline{"not 8 bit tensors with one scale each"};
    Dims out = broadcast(a.dims(), b.dims());
    return Step([op, out, type = a.dtype(), p = paired(out, a.dims(), b.dims())](Call& c) {
      const Steps as = steps_in(c, 1), bs = steps_in(c, 4), ys = steps_in(c, 6);
      const Bytes left = bytes_of(c.in(0)), right = bytes_of(c.in(3));
      const MutableBytes y = bytes_of(c.make(0, type, out));
      const bool a_moves = p.strides.back()[0] != 0, b_moves = p.strides.back()[1] != 0;
      for_rows(p, kGrain, [&](int64_t start, int64_t count, int64_t at_a, int64_t at_b) {
        run_row(op, as, bs, ys, left.at(at_a), right.at(at_b), a_moves, b_moves, y.at(start), count);
      });
    });
  });
}

// ---- One operand: any function of 256 numbers is a table

/// table[byte of the input] = byte of the output.
using Table = std::array<uint8_t, 256>;

template <class Fn>
Table table_of(bool is_signed, const Steps& from, const Steps& to, const Fn& fn) {
  std::array<float, 256> values;
  Table bytes, table;
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
  dequantize({bytes.data(), is_signed}, values.data(), 256, from.scale, from.zero);
  for (float& v : values) v = fn(v);
  quantize(values.data(), {table.data(), is_signed}, 256, to.scale, to.zero);
  return table;
}

void look_up(const Table& table, const void* x, void* y, int64_t count) {
  const auto* in = static_cast<const uint8_t*>(x);
  auto* out = static_cast<uint8_t*>(y);
  for (int64_t i = 0; i < count; ++i) out[i] = table[in[i]];
}

Expected<Step> compile_unary(const NodeView& view, const CompileContext& context) {
  const bool leaky = view.node().op == "QLinearLeakyRelu";
  const float alpha = view.get_float("alpha", 0.01f);
  return planned(view, context, [=](const Call& call) -> Expected<Step> {
    const DType type = call.in(0).dtype();
    if (!is_bytes(type) || !are_steps(call, 1) || !are_steps(call, 3))
      return Decline{"not an 8 bit tensor with one scale"};
    return Step([=](Call& c) {
      const Table table = table_of(type == DType::kI8, steps_in(c, 1), steps_in(c, 3),
                                   [=](float v) { return leaky ? (v < 0 ? alpha * v : v) : 1 / (1 + std::exp(-v)); });
      const Bytes x = bytes_of(c.in(0));
      Tensor& out = c.make(0, type, c.in(0).dims());
      const MutableBytes y = bytes_of(out);
      parallel_for(out.size(), kGrain, [&](int64_t begin, int64_t end) {
        look_up(table, x.at(begin).data, y.at(begin).data, end - begin);
      });
    });
  });
}

// ---- QLinearConcat: the output's steps, then each input and its steps

void concat(const Middle& out, int64_t place, Call& call, const Tensor& x, int steps, Tensor& y) {
  const Steps from = steps_in(call, steps), to = steps_in(call, 0);
  const int64_t row = x.size() / out.outer, stride = out.length * out.inner;
  const bool same = from == to;
  const Table table = table_of(x.dtype() == DType::kI8, from, to, [](float v) { return v; });
  const Bytes in = bytes_of(x);
  const MutableBytes result = bytes_of(y);
  parallel_for(out.outer, std::max<int64_t>(1, kGrain / row), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      void* at = result.at(i * stride + place * out.inner).data;
      if (same)
        std::memcpy(at, in.at(i * row).data, static_cast<size_t>(row));
      else
        look_up(table, in.at(i * row).data, at, row);
    }
  });
}

Expected<Step> compile_concat(const NodeView& view, const CompileContext& context) {
  const int64_t asked = view.get_int("axis");
  return planned(view, context, [asked](const Call& call) -> Expected<Step> {
    if (call.input_count() < 5 || (call.input_count() - 2) % 3 != 0) return Decline{"inputs do not come in threes"};
    const Tensor& first = call.in(2);
    const auto axis = static_cast<size_t>(normalize_axis(asked, first.rank()));
    Dims out = first.dims();
    out[axis] = 0;
    for (int i = 2; i < call.input_count(); i += 3) {
      Dims dims = call.in(i).dims();
      if (!is_bytes(first.dtype()) || call.in(i).dtype() != first.dtype() || !are_steps(call, i + 1) ||
          !are_steps(call, 0) || dims.size() != out.size())
        return Decline{"not 8 bit tensors with one scale each"};
      out[axis] += std::exchange(dims[axis], first.dim(static_cast<int>(axis)));
      if (dims != first.dims()) return Decline{"the inputs differ in shape"};
    }
    return Step([=, m = around(out, axis), type = first.dtype()](Call& c) {
      Tensor& y = c.make(0, type, out);
      int64_t at = 0;
      for (int i = 2; i < c.input_count(); i += 3) {
        concat(m, at, c, c.in(i), i + 1, y);
        at += c.in(i).dim(static_cast<int>(axis));
      }
    });
  });
}

// ---- QLinearGlobalAveragePool: X, its steps, the output's steps

Expected<Step> compile_average(const NodeView& view, const CompileContext& context) {
  if (view.get_int("channels_last", 0) != 0) return Decline{"channels come last"};
  return planned(view, context, [](const Call& call) -> Expected<Step> {
    const Tensor& x = call.in(0);
    if (!is_bytes(x.dtype()) || x.rank() < 3 || !are_steps(call, 1) || !are_steps(call, 3))
      return Decline{"not an 8 bit tensor with one scale and spatial axes"};
    Dims out(x.dims().size(), 1);
    std::copy_n(x.dims().begin(), 2, out.begin());
    return Step([out, type = x.dtype()](Call& c) {
      const Steps from = steps_in(c, 1), to = steps_in(c, 3);
      const int64_t planes = out[0] * out[1], size = c.in(0).size() / planes;
      const Bytes in = bytes_of(c.in(0));
      const MutableBytes y = bytes_of(c.make(0, type, out));
      parallel_for(planes, std::max<int64_t>(1, kGrain / size), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const double mean = static_cast<double>(sum(in.at(i * size), size)) / static_cast<double>(size) - from.zero;
          const auto real = static_cast<float>(mean * from.scale);
          quantize(&real, y.at(i), 1, to.scale, to.zero);
        }
      });
    });
  });
}

constexpr Kernel kKernels[] = {
    {.domain = "com.microsoft", .op = "QLinearAdd", .compile = compile_binary},
    {.domain = "com.microsoft", .op = "QLinearMul", .compile = compile_binary},
    {.domain = "com.microsoft", .op = "QLinearSigmoid", .compile = compile_unary},
    {.domain = "com.microsoft", .op = "QLinearLeakyRelu", .compile = compile_unary},
    {.domain = "com.microsoft", .op = "QLinearConcat", .compile = compile_concat},
    {.domain = "com.microsoft", .op = "QLinearGlobalAveragePool", .compile = compile_average},
};

}  // namespace

std::span<const Kernel> qpointwise_kernels() { return kKernels; }

}  // namespace mlopt::cpu
