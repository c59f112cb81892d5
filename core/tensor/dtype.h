#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mlopt {

/// Element types; the numbers are those of ONNX's TensorProto.DataType.
enum class DType : int32_t {
  kUndefined = 0,
  kF32 = 1,
  kU8 = 2,
  kI8 = 3,
  kU16 = 4,
  kI16 = 5,
  kI32 = 6,
  kI64 = 7,
  kString = 8,
  kBool = 9,
  kF16 = 10,
  kF64 = 11,
  kU32 = 12,
  kU64 = 13,
  kC64 = 14,
  kC128 = 15,
  kBF16 = 16,
  kF8E4M3FN = 17,
  kF8E4M3FNUZ = 18,
  kF8E5M2 = 19,
  kF8E5M2FNUZ = 20,
  kU4 = 21,
  kI4 = 22,
  kF4E2M1 = 23,
  kF8E8M0 = 24,
  kU2 = 25,
  kI2 = 26,
};
inline constexpr int kDTypeCount = 27;

/// "float32", "int4", ... as shown to the user.
std::string_view name(DType type);
/// The type of a name as shown by name(), also of the short forms f32, i8, fp16, bf16, ...
std::optional<DType> dtype_from_name(std::string_view text);

/// Bits of one element; 0 for strings and undefined.
int bits(DType type);
/// Bytes of `count` packed elements (sub-byte types share bytes, the low bits first).
size_t packed_bytes(DType type, int64_t count);

/// Two or four elements in one byte.
inline bool is_sub_byte(DType type) { return bits(type) > 0 && bits(type) < 8; }
/// float64, float32, float16, bfloat16 and the 8 and 4 bit floats.
bool is_float(DType type);
/// float16, bfloat16 and the 8 and 4 bit floats: computed in float32 and rounded.
bool is_small_float(DType type);
/// Integers of 2 to 64 bits, not bool.
bool is_integer(DType type);
bool is_signed(DType type);
bool is_complex(DType type);

}  // namespace mlopt
