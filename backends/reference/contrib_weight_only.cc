#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/reference/broadcast.h"
#include "backends/reference/kernels.h"
#include "backends/reference/matmul.h"
#include "core/ir/stored_weights.h"
#include "core/tensor/codes.h"

// com.microsoft's products and look-ups with weights of a few bits and a scale for each block.
namespace mlopt::reference {
namespace {

const uint8_t* bytes_of(const Tensor& tensor) { return reinterpret_cast<const uint8_t*>(tensor.raw()); }

/// A as it is multiplied at the accuracy level.
Tensor rounded_rows(const Call& call, const Tensor& a, int64_t k) {
  if (!rounds_rows(call.view) || a.rank() == 0 || a.dim(a.rank() - 1) != k) return a;
  const Tensor floats = as(a, DType::kF32);
  Tensor out(DType::kF32, a.dims());
  for (int64_t from = 0; from < a.size(); from += k)
    round_row(floats.data<float>() + from, k, call.view.get_int("block_size"), out.mutable_data<float>() + from);
  return as(out, a.dtype());
}

/// A * weights' + bias, where `weights` is [n, k] in the compute type of A.
void multiply(Call& call, const Tensor& weights, const Tensor* bias) {
  const Tensor a = rounded_rows(call, call.in(0), weights.dim(1));
  const int64_t n = weights.dim(0), k = weights.dim(1);
  MatMulShape shape = matmul_shape(call, a.dims(), {k, n});
  shape.b_transposed = true;
  Tensor y = batched_product(call, shape, widened(a), weights);
  if (bias) {
    require(call, bias->size() == n, "the bias must have one element for each column");
    y = with_float(call, y.dtype(), [&](auto tag) {
      using T = decltype(tag);
      return broadcast_map<T, T, T>(y.dims(), y, widened(*bias).reshaped({n}), [](T x, T b) { return x + b; });
    });
  }
  call.set(0, as(y, a.dtype()));
}

int64_t positive_attribute(const Call& call, const char* name) {
  const int64_t value = call.view.get_int(name);
  require(call, value > 0 && value < (int64_t{1} << 40), "N, K and block_size must be positive");
  return value;
}

/// How MatMulNBits stores its weights: [N][blocks][block_size * bits / 8] bytes.
struct BlockLayout {
  int64_t n, k, block, blocks;
  int width;
};

BlockLayout block_layout(const Call& call) {
  BlockLayout s{positive_attribute(call, "N"), positive_attribute(call, "K"), positive_attribute(call, "block_size"), 0,
                static_cast<int>(call.view.get_int("bits", 4))};
  require(call, s.width == 2 || s.width == 4 || s.width == 8, "bits must be 2, 4 or 8");
  require(call, s.block % 8 == 0, "block_size must be a multiple of 8");
  s.blocks = (s.k + s.block - 1) / s.block;
  element_count({s.n, s.blocks, s.block});  // the products below fit
  require(call, call.in(1).dtype() == DType::kU8 && call.in(1).size() == s.n * s.blocks * s.block * s.width / 8,
          "B has not the size that N, K, bits and block_size give");
  require(call, call.in(2).size() == s.n * s.blocks, "there must be a scale for each block");
  return s;
}

/// The zero points, one for each block: packed codes, numbers of A's type, or the middle of the codes.
std::vector<float> block_zero_points(const Call& call, const BlockLayout& s) {
  std::vector<float> zeros(static_cast<size_t>(s.n * s.blocks), static_cast<float>(1 << (s.width - 1)));
  if (!call.has(3)) return zeros;
  const Tensor& given = call.in(3);
  if (given.dtype() != DType::kU8) {
    require(call, is_float(given.dtype()) && given.size() == s.n * s.blocks,
            "there must be a zero point for each block");
    return to_floats(given);
  }
  const int64_t row_bytes = (s.blocks * s.width + 7) / 8;
  require(call, given.size() == s.n * row_bytes, "the packed zero points have the wrong size");
  for (int64_t row = 0; row < s.n; ++row)
    for (int64_t b = 0; b < s.blocks; ++b)
      zeros[static_cast<size_t>(row * s.blocks + b)] =
          static_cast<float>(code_at(bytes_of(given) + row * row_bytes, s.width, b));
  return zeros;
}

/// The block whose scale and zero point each of the k rows of B has: its own, or the one that g_idx names.
std::vector<int64_t> block_of_rows(const Call& call, const BlockLayout& s) {
  std::vector<int64_t> blocks;
  for (int64_t i = 0; i < s.k; ++i) blocks.push_back(i / s.block);
  if (!call.has(4)) return blocks;
  const std::vector<int64_t> given = to_ints(call.in(4));
  require(call, std::ssize(given) >= s.k, "g_idx must name a block for each row");
  std::copy_n(given.begin(), s.k, blocks.begin());
  for (const int64_t block : blocks) require(call, block >= 0 && block < s.blocks, "g_idx names a block that is not");
  return blocks;
}

void matmul_nbits(Call& call) {
  const BlockLayout s = block_layout(call);
  const std::vector<float> zeros = block_zero_points(call, s);
  const std::vector<int64_t> blocks = block_of_rows(call, s);
  with_float(call, call.in(0).dtype(), [&](auto tag) {
    using T = decltype(tag);
    const Tensor scales = as(call.in(2), dtype_of<T>());
    Tensor weights(dtype_of<T>(), {s.n, s.k});
    T* w = weights.mutable_data<T>();
    const int64_t row_bytes = s.blocks * s.block * s.width / 8;
    parallel_for(s.n, 16, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const uint8_t* codes = bytes_of(call.in(1)) + row * row_bytes;
        for (int64_t i = 0; i < s.k; ++i) {
          const int64_t at = row * s.blocks + blocks[static_cast<size_t>(i)];
          const T zero = static_cast<T>(zeros[static_cast<size_t>(at)]);
          w[row * s.k + i] = (static_cast<T>(code_at(codes, s.width, i)) - zero) * scales.data<T>()[at];
        }
      }
    });
    const Tensor* bias = call.has(5) ? &call.in(5) : nullptr;
    multiply(call, weights, bias);
  });
}

/// W, transposed to [N, K] and flattened, in blocks that run across rows; the first code of a byte is in its high bits.
void matmul_bnb4(Call& call) {
  const int64_t n = positive_attribute(call, "N"), k = positive_attribute(call, "K");
  const int64_t block = positive_attribute(call, "block_size"), kind = call.view.get_int("quant_type");
  require(call, kind == 0 || kind == 1, "quant_type must be 0 (FP4) or 1 (NF4)");
  require(call, call.view.get_int("transB", 1) != 0, "transB must be 1");
  const int64_t count = element_count({n, k});
  require(call, call.in(1).dtype() == DType::kU8 && call.in(1).size() == (count + 1) / 2,
          "B has not the size that N and K give");
  require(call, call.in(2).size() == (count + block - 1) / block, "there must be a scale for each block");
  with_float(call, call.in(0).dtype(), [&](auto tag) {
    using T = decltype(tag);
    const Tensor scales = as(call.in(2), dtype_of<T>());
    Tensor weights(dtype_of<T>(), {n, k});
    T* w = weights.mutable_data<T>();
    const uint8_t* codes = bytes_of(call.in(1));
    parallel_for(count, 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int code = i % 2 == 0 ? codes[i / 2] >> 4 : codes[i / 2] & 15;
        w[i] = static_cast<T>((kind == 1 ? kNF4 : kFP4)[static_cast<size_t>(code)]) * scales.data<T>()[i / block];
      }
    });
    multiply(call, weights, nullptr);
  });
}

/// The quantized table of GatherBlockQuantized. uint8 data and zero points hold `width` bit codes packed along the last
/// axis; other types are one element a code.
struct QuantizedTable {
  Dims dims;  ///< in codes
  int width;
  bool is_signed;
  const Tensor *data, *scales, *zeros;
  int quantize_axis;
  int64_t block;

  int64_t scale_index(int64_t i) const {
    int64_t index = 0, step = 1;
    for (size_t axis = dims.size(); axis-- > 0; i /= dims[axis]) {
      int64_t at = i % dims[axis];
      if (static_cast<int>(axis) == quantize_axis) at /= block;
      index += at * step;
      step *= scales->dim(static_cast<int>(axis));
    }
    return index;
  }
  int extended(int code) const { return is_signed && code >= 1 << (width - 1) ? code - (1 << width) : code; }
  int zero_at(int64_t s) const {
    if (!zeros) return data->dtype() == DType::kU8 ? 1 << (width - 1) : 0;
    if (data->dtype() != DType::kU8) return extended(code_at(bytes_of(*zeros), width, s));
    const int64_t columns = scales->dim(scales->rank() - 1), row_bytes = (columns * width + 7) / 8;
    return code_at(bytes_of(*zeros) + s / columns * row_bytes, width, s % columns);
  }
};

QuantizedTable quantized_table(const Call& call) {
  const Tensor& data = call.in(0);
  const bool packed = data.dtype() == DType::kU8;
  QuantizedTable t{data.dims(),
                   bits(data.dtype()),
                   is_signed(data.dtype()),
                   &data,
                   &call.in(2),
                   call.has(3) ? &call.in(3) : nullptr,
                   0,
                   call.view.get_int("block_size", 128)};
  if (!is_integer(data.dtype()) || t.width > 8) wrong_type(call, data.dtype());
  require(call, data.rank() > 0 && t.block > 0, "the data must have an axis, block_size must be positive");
  if (packed) {
    t.width = static_cast<int>(call.view.get_int("bits", 4));
    require(call, t.width == 2 || t.width == 4 || t.width == 8, "bits must be 2, 4 or 8");
    t.dims.back() *= 8 / t.width;
  }
  t.quantize_axis = axis_of(call, call.view.get_int("quantize_axis", 1), data.rank());
  Dims expected = t.dims;
  int64_t& length = expected[static_cast<size_t>(t.quantize_axis)];
  length = (length + t.block - 1) / t.block;
  if (t.scales->dims() != expected) fail(call, "the scales must have the shape " + to_string(expected));
  const int64_t rows = t.scales->size() / std::max<int64_t>(1, expected.back());
  const int64_t zeros = packed ? rows * ((expected.back() * t.width + 7) / 8) : t.scales->size();
  require(call, !t.zeros || (t.zeros->dtype() == data.dtype() && t.zeros->size() == zeros),
          "the zero points do not fit the scales");
  return t;
}

void gather_block_quantized(Call& call) {
  const QuantizedTable t = quantized_table(call);
  const Tensor& indices = call.in(1);
  const int axis = axis_of(call, call.view.get_int("gather_axis", 0), static_cast<int>(t.dims.size()));
  const AxisView view = around_axis(t.dims, axis);
  if (!is_integer(indices.dtype())) wrong_type(call, indices.dtype());
  const std::vector<int64_t> places = to_ints(indices);
  Dims dims(t.dims.begin(), t.dims.begin() + axis);
  dims.insert(dims.end(), indices.dims().begin(), indices.dims().end());
  dims.insert(dims.end(), t.dims.begin() + axis + 1, t.dims.end());
  const auto count = static_cast<int64_t>(places.size());
  with_float(call, t.scales->dtype(), [&](auto tag) {
    using T = decltype(tag);
    const Tensor scales = widened(*t.scales);
    Tensor out = Tensor::zeros(scales.dtype(), dims);
    T* o = out.mutable_data<T>();
    parallel_for(view.outer * count, 1 + 4096 / std::max<int64_t>(1, view.inner), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t place = places[static_cast<size_t>(row % count)];
        if (place < -view.length || place >= view.length) continue;  // unlike Gather, it gives zeros
        if (place < 0) place += view.length;
        const int64_t from = (row / count * view.length + place) * view.inner;
        for (int64_t i = 0; i < view.inner; ++i) {
          const int64_t s = t.scale_index(from + i);
          const int code = t.extended(code_at(bytes_of(*t.data), t.width, from + i));
          o[row * view.inner + i] = static_cast<T>(code - t.zero_at(s)) * scales.data<T>()[s];
        }
      }
    });
    call.set(0, as(out, t.scales->dtype()));
  });
}

constexpr Kernel kKernels[] = {
    {"com.microsoft", "GatherBlockQuantized", gather_block_quantized},
    {"com.microsoft", "MatMulBnb4", matmul_bnb4},
    {"com.microsoft", "MatMulNBits", matmul_nbits},
};

}  // namespace

std::span<const Kernel> contrib_weight_only_kernels() { return kKernels; }

}  // namespace mlopt::reference
