#include "core/tensor/cast.h"

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <complex>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/tensor/codes.h"
#include "core/tensor/convert.h"

namespace mlopt {
namespace {

constexpr int64_t kChunk = 4096;

template <class T>
T load(const std::byte* data, int64_t i) {
  T value;
  std::memcpy(&value, data + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

const uint8_t* bytes_of(const std::byte* data) { return reinterpret_cast<const uint8_t*>(data); }

int sign_extend(uint8_t code, int width) { return code >= (1 << (width - 1)) ? code - (1 << width) : code; }

/// Calls fn(T{}) with the storage type of a numeric element that is a whole C++ number, else gives false.
template <class Fn>
bool with_number_type(DType type, Fn&& fn) {
  switch (type) {
    case DType::kF32:
      fn(float{});
      return true;
    case DType::kF64:
      fn(double{});
      return true;
    case DType::kU8:
      fn(uint8_t{});
      return true;
    case DType::kI8:
      fn(int8_t{});
      return true;
    case DType::kU16:
      fn(uint16_t{});
      return true;
    case DType::kI16:
      fn(int16_t{});
      return true;
    case DType::kU32:
      fn(uint32_t{});
      return true;
    case DType::kI32:
      fn(int32_t{});
      return true;
    case DType::kU64:
      fn(uint64_t{});
      return true;
    case DType::kI64:
      fn(int64_t{});
      return true;
    default:
      return false;
  }
}

/// Elements [first, first + count) of any numeric tensor as To.
template <class To>
void read_chunk(const Tensor& t, int64_t first, int64_t count, To* out) {
  const std::byte* data = t.raw();
  const DType type = t.dtype();
  const bool plain = with_number_type(type, [&](auto zero) {
    using From = decltype(zero);
    for (int64_t i = 0; i < count; ++i) out[i] = converted<To>(load<From>(data, first + i));
  });
  if (plain) return;
  const int width = bits(type);
  for (int64_t i = 0; i < count; ++i) {
    if (type == DType::kBool)
      out[i] = static_cast<To>(load<uint8_t>(data, first + i) != 0);
    else if (type == DType::kF16)
      out[i] = converted<To>(to_float(load<Half>(data, first + i)));
    else if (type == DType::kBF16)
      out[i] = converted<To>(to_float(load<BFloat16>(data, first + i)));
    else if (type == DType::kC64)
      out[i] = converted<To>(load<std::complex<float>>(data, first + i).real());
    else if (type == DType::kC128)
      out[i] = converted<To>(load<std::complex<double>>(data, first + i).real());
    else if (width == 8)
      out[i] = converted<To>(small_to_float(type, load<uint8_t>(data, first + i)));
    else if (type == DType::kF4E2M1)
      out[i] = converted<To>(small_to_float(type, code_at(bytes_of(data), width, first + i)));
    else if (is_signed(type))
      out[i] = static_cast<To>(sign_extend(code_at(bytes_of(data), width, first + i), width));
    else
      out[i] = static_cast<To>(code_at(bytes_of(data), width, first + i));
  }
}

void require_numeric(const Tensor& t) {
  if (t.dtype() == DType::kString || t.dtype() == DType::kUndefined)
    input_error("a tensor of numbers is needed", fmt::format("this one is {}", name(t.dtype())));
}

template <class To>
std::vector<To> read_all(const Tensor& t) {
  require_numeric(t);
  std::vector<To> out(static_cast<size_t>(t.size()));
  read_chunk(t, 0, t.size(), out.data());
  return out;
}

/// A double as a float from which rounding once more gives what rounding the double at once would: inexact results get
/// an odd last bit (Boldo and Melquiond 2008).
float to_odd_float(double value) {
  const auto nearest = static_cast<float>(value);
  if (nearest == value || !std::isfinite(nearest)) return nearest;
  const float toward_zero = std::fabs(nearest) > std::fabs(value) ? std::nextafter(nearest, 0.0f) : nearest;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(toward_zero) | 1);
}

template <class From>
float to_single(From value) {
  if constexpr (std::is_same_v<From, double>) return to_odd_float(value);
  return static_cast<float>(value);
}

/// Writes `count` numbers to a tensor whose elements are not plain C++ numbers.
template <class From>
void write_chunk(Tensor& t, int64_t first, int64_t count, const From* in, bool saturate) {
  std::byte* data = t.mutable_raw();
  const DType type = t.dtype();
  const int width = bits(type);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = first + i;
    if (type == DType::kBool) {
      reinterpret_cast<uint8_t*>(data)[at] = in[i] != From{0};
    } else if (type == DType::kC64) {
      reinterpret_cast<std::complex<float>*>(data)[at] = static_cast<float>(in[i]);
    } else if (type == DType::kC128) {
      reinterpret_cast<std::complex<double>*>(data)[at] = static_cast<double>(in[i]);
    } else if (width == 16) {
      const uint16_t code = float_to_small(type, to_single(in[i]), saturate);
      std::memcpy(data + at * 2, &code, 2);
    } else if (width == 8) {
      data[at] = static_cast<std::byte>(float_to_small(type, to_single(in[i]), saturate));
    } else {
      const int64_t per_byte = 8 / width, shift = width * (at % per_byte);
      const auto mask = static_cast<uint8_t>((1 << width) - 1);
      const uint8_t code = type == DType::kF4E2M1 ? static_cast<uint8_t>(float_to_small(type, to_single(in[i])))
                                                  : static_cast<uint8_t>(converted<int64_t>(in[i]));
      auto& byte = reinterpret_cast<uint8_t*>(data)[at / per_byte];
      byte = static_cast<uint8_t>((byte & ~(mask << shift)) | (code & mask) << shift);
    }
  }
}

/// Converts by way of numbers of type Via, which holds every element of `from` that matters to `to`.
template <class Via>
void cast_chunks(const Tensor& from, Tensor& to, bool saturate) {
  Via numbers[kChunk];
  for (int64_t first = 0; first < from.size(); first += kChunk) {
    const int64_t count = std::min(kChunk, from.size() - first);
    read_chunk(from, first, count, numbers);
    write_chunk(to, first, count, numbers, saturate);
  }
}

Tensor to_strings(const Tensor& t) {
  std::vector<std::string> out(static_cast<size_t>(t.size()));
  const bool whole = !is_float(t.dtype());
  for (int64_t i = 0; i < t.size(); ++i) {
    if (t.dtype() == DType::kU64)
      out[static_cast<size_t>(i)] = std::to_string(load<uint64_t>(t.raw(), i));
    else if (whole) {
      int64_t v;
      read_chunk(t, i, 1, &v);
      out[static_cast<size_t>(i)] = std::to_string(v);
    } else if (t.dtype() == DType::kF64) {
      out[static_cast<size_t>(i)] = fmt::format("{}", load<double>(t.raw(), i));
    } else {
      float v;
      read_chunk(t, i, 1, &v);
      std::string text = std::isnan(v) ? "NaN" : std::isinf(v) ? (v > 0 ? "INF" : "-INF") : fmt::format("{:.8g}", v);
      out[static_cast<size_t>(i)] = std::move(text);
    }
  }
  return Tensor::of_strings(t.dims(), std::move(out));
}

Tensor from_strings(const Tensor& t) {
  Tensor out(DType::kF64, t.dims());
  double* data = out.mutable_data<double>();
  for (int64_t i = 0; i < t.size(); ++i) {
    std::string text(trim(t.strings()[static_cast<size_t>(i)]));
    if (!text.empty() && text[0] == '+') text.erase(0, 1);
    const auto number = parse_double(text);
    if (!number) input_error("not a number", fmt::format("'{}' cast from string", text));
    data[i] = *number;
  }
  return out;
}

}  // namespace

Tensor cast(const Tensor& tensor, DType type, bool saturate) {
  if (tensor.dtype() == type) return tensor;
  if (type == DType::kUndefined) internal_error("cast to an undefined type");
  if (tensor.dtype() == DType::kString) return cast(from_strings(tensor), type, saturate);
  require_numeric(tensor);
  if (type == DType::kString) return to_strings(tensor);
  Tensor out(type, tensor.dims());
  if (is_sub_byte(type) && out.bytes()) std::memset(out.mutable_raw(), 0, out.bytes());
  const bool plain = with_number_type(type, [&](auto zero) {
    using To = decltype(zero);
    read_chunk(tensor, 0, tensor.size(), out.mutable_data<To>());
  });
  if (plain) return out;
  if (is_integer(tensor.dtype()) && is_sub_byte(type) && type != DType::kF4E2M1)
    cast_chunks<int64_t>(tensor, out, saturate);
  else if (is_small_float(tensor.dtype()) || tensor.dtype() == DType::kF32)
    cast_chunks<float>(tensor, out, saturate);
  else
    cast_chunks<double>(tensor, out, saturate);
  return out;
}

std::vector<double> to_doubles(const Tensor& tensor) { return read_all<double>(tensor); }
std::vector<int64_t> to_ints(const Tensor& tensor) { return read_all<int64_t>(tensor); }
std::vector<float> to_floats(const Tensor& tensor) { return read_all<float>(tensor); }

double number_at(const Tensor& tensor, int64_t i) {
  require_numeric(tensor);
  double value;
  read_chunk(tensor, i, 1, &value);
  return value;
}

Tensor unpack(const Tensor& packed) {
  if (!is_sub_byte(packed.dtype())) return packed;
  const int width = bits(packed.dtype());
  const bool with_sign = is_integer(packed.dtype()) && is_signed(packed.dtype());
  Tensor out(with_sign ? DType::kI8 : DType::kU8, packed.dims());
  auto* data = reinterpret_cast<uint8_t*>(out.mutable_raw());
  for (int64_t i = 0; i < packed.size(); ++i) {
    const uint8_t code = code_at(bytes_of(packed.raw()), width, i);
    data[i] = with_sign ? static_cast<uint8_t>(sign_extend(code, width)) : code;
  }
  return out;
}

Tensor pack(const Tensor& bytes, DType type) {
  if (!is_sub_byte(type)) return cast(bytes, type);
  if (bits(bytes.dtype()) != 8) internal_error("pack: one element a byte is needed");
  Tensor out = Tensor::zeros(type, bytes.dims());
  auto* data = reinterpret_cast<uint8_t*>(out.mutable_raw());
  const int width = bits(type), per_byte = 8 / width, mask = (1 << width) - 1;
  for (int64_t i = 0; i < bytes.size(); ++i)
    data[i / per_byte] |=
        static_cast<uint8_t>((static_cast<uint8_t>(bytes.raw()[i]) & mask) << (width * (i % per_byte)));
  return out;
}

}  // namespace mlopt
