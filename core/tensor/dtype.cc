#include "core/tensor/dtype.h"

#include <array>
#include <string_view>

namespace mlopt {
namespace {

struct Row {
  std::string_view name;
  int bits;
  enum { kOther, kFloat, kSigned, kUnsigned, kComplex } family;
};

// Indexed by DType.
constexpr std::array<Row, kDTypeCount> kRows = {{
    {"undefined", 0, Row::kOther},      {"float32", 32, Row::kFloat},   {"uint8", 8, Row::kUnsigned},
    {"int8", 8, Row::kSigned},          {"uint16", 16, Row::kUnsigned}, {"int16", 16, Row::kSigned},
    {"int32", 32, Row::kSigned},        {"int64", 64, Row::kSigned},    {"string", 0, Row::kOther},
    {"bool", 8, Row::kOther},           {"float16", 16, Row::kFloat},   {"float64", 64, Row::kFloat},
    {"uint32", 32, Row::kUnsigned},     {"uint64", 64, Row::kUnsigned}, {"complex64", 64, Row::kComplex},
    {"complex128", 128, Row::kComplex}, {"bfloat16", 16, Row::kFloat},  {"float8e4m3fn", 8, Row::kFloat},
    {"float8e4m3fnuz", 8, Row::kFloat}, {"float8e5m2", 8, Row::kFloat}, {"float8e5m2fnuz", 8, Row::kFloat},
    {"uint4", 4, Row::kUnsigned},       {"int4", 4, Row::kSigned},      {"float4e2m1", 4, Row::kFloat},
    {"float8e8m0", 8, Row::kFloat},     {"uint2", 2, Row::kUnsigned},   {"int2", 2, Row::kSigned},
}};

struct Alias {
  std::string_view name;
  DType type;
};
constexpr Alias kAliases[] = {
    {"float", DType::kF32}, {"double", DType::kF64}, {"fp32", DType::kF32}, {"fp16", DType::kF16},
    {"fp64", DType::kF64},  {"bf16", DType::kBF16},  {"f32", DType::kF32},  {"f16", DType::kF16},
    {"f64", DType::kF64},   {"i8", DType::kI8},      {"u8", DType::kU8},    {"i32", DType::kI32},
    {"i64", DType::kI64},   {"i4", DType::kI4},      {"u4", DType::kU4},
};

const Row& row(DType type) {
  const auto index = static_cast<size_t>(type);
  return kRows[index < kRows.size() ? index : 0];
}

}  // namespace

std::string_view name(DType type) { return row(type).name; }

std::optional<DType> dtype_from_name(std::string_view text) {
  for (size_t i = 1; i < kRows.size(); ++i)
    if (kRows[i].name == text) return static_cast<DType>(i);
  for (const Alias& alias : kAliases)
    if (alias.name == text) return alias.type;
  return std::nullopt;
}

int bits(DType type) { return row(type).bits; }

size_t packed_bytes(DType type, int64_t count) {
  const auto n = static_cast<size_t>(count), width = static_cast<size_t>(bits(type));
  return width % 8 == 0 ? n * (width / 8) : (n * width + 7) / 8;
}

bool is_float(DType type) { return row(type).family == Row::kFloat; }
bool is_small_float(DType type) { return is_float(type) && bits(type) <= 16; }
bool is_integer(DType type) { return row(type).family == Row::kSigned || row(type).family == Row::kUnsigned; }
bool is_signed(DType type) { return row(type).family == Row::kSigned || is_float(type); }
bool is_complex(DType type) { return row(type).family == Row::kComplex; }

}  // namespace mlopt
