#include "core/data/npy.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/unicode/utf8.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

constexpr int64_t kMaxHeader = 1 << 20;

struct TypeCode {
  char kind;
  int bytes;
  DType type;
};
constexpr std::array kTypeCodes = {
    TypeCode{'f', 4, DType::kF32}, TypeCode{'f', 8, DType::kF64},   TypeCode{'f', 2, DType::kF16},
    TypeCode{'i', 1, DType::kI8},  TypeCode{'i', 2, DType::kI16},   TypeCode{'i', 4, DType::kI32},
    TypeCode{'i', 8, DType::kI64}, TypeCode{'u', 1, DType::kU8},    TypeCode{'u', 2, DType::kU16},
    TypeCode{'u', 4, DType::kU32}, TypeCode{'u', 8, DType::kU64},   TypeCode{'b', 1, DType::kBool},
    TypeCode{'c', 8, DType::kC64}, TypeCode{'c', 16, DType::kC128},
};

/// NumPy's fixed-width text (code points of 4 bytes, padded with zeros) as UTF-8.
std::string utf8_from_ucs4(std::span<const std::byte> text, bool big_endian) {
  std::string out;
  for (size_t i = 0; i + 4 <= text.size(); i += 4) {
    uint32_t c;
    std::memcpy(&c, text.data() + i, 4);
    if (big_endian) c = __builtin_bswap32(c);
    if (c == 0) break;
    unicode::append_utf8(out, c);
  }
  return out;
}

[[noreturn]] void damaged(const std::string& where, std::string_view what) {
  input_error(fmt::format("not a readable .npy array ({})", what), where, "write it with numpy.save or numpy.savez");
}

/// The text after 'key': in the header's dictionary.
std::string_view field(std::string_view header, std::string_view key, const std::string& where) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = fmt::format("{}{}{}", quote, key, quote);
    const size_t at = header.find(quoted);
    if (at == std::string_view::npos) continue;
    const size_t colon = header.find(':', at + quoted.size());
    if (colon != std::string_view::npos) return trim(header.substr(colon + 1));
  }
  damaged(where, fmt::format("the header has no '{}'", key));
}

void parse_descr(std::string_view text, NpyHeader& header, const std::string& where) {
  if (text.size() < 4 || (text[0] != '\'' && text[0] != '"')) damaged(where, "structured arrays are not supported");
  const size_t end = text.find(text[0], 1);
  if (end == std::string_view::npos || end < 3) damaged(where, "bad type");
  const std::string_view descr = text.substr(1, end - 1);
  const std::string_view order = "<>|=";
  const bool has_order = order.find(descr[0]) != std::string_view::npos;
  header.big_endian = descr[0] == '>';
  header.kind = descr[has_order ? 1 : 0];
  const auto width = parse_int(descr.substr(has_order ? 2 : 1));
  if (header.kind == 'O') damaged(where, "it holds Python objects");
  if (!width || *width < 0 || *width > (1 << 20)) damaged(where, fmt::format("unknown type '{}'", descr));
  header.item_bytes = header.kind == 'U' ? 4 * *width : *width;
  if (header.kind == 'U' || header.kind == 'S') {
    header.dtype = DType::kString;
    return;
  }
  for (const TypeCode& code : kTypeCodes) {
    if (code.kind == header.kind && code.bytes == *width) header.dtype = code.type;
  }
  if (header.dtype == DType::kUndefined) damaged(where, fmt::format("unknown type '{}'", descr));
}

Dims parse_shape(std::string_view text, const std::string& where) {
  const size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == std::string_view::npos) damaged(where, "bad shape");
  Dims dims;
  for (const std::string& piece : split(text.substr(1, end - 1), ',')) {
    if (trim(piece).empty()) continue;
    const auto value = parse_int(trim(piece));
    if (!value || *value < 0) damaged(where, fmt::format("bad dimension '{}'", piece));
    dims.push_back(*value);
  }
  if (dims.size() > 64) damaged(where, "too many dimensions");
  return dims;
}

Tensor read_texts(const ByteSource& source, const NpyHeader& header, int64_t first, Dims dims) {
  const int64_t count = element_count(dims);
  std::vector<std::string> texts(static_cast<size_t>(count));
  std::vector<std::byte> item(static_cast<size_t>(header.item_bytes));
  for (int64_t i = 0; i < count; ++i) {
    source.read(header.data_offset + (first + i) * header.item_bytes, item);
    if (header.kind == 'U') {
      texts[static_cast<size_t>(i)] = utf8_from_ucs4(item, header.big_endian);
    } else {
      const auto* chars = reinterpret_cast<const char*>(item.data());
      texts[static_cast<size_t>(i)].assign(chars, strnlen(chars, item.size()));
    }
  }
  return Tensor::of_strings(std::move(dims), std::move(texts));
}

void swap_bytes(std::byte* data, int64_t count, int64_t width) {
  for (int64_t i = 0; i < count; ++i) std::reverse(data + i * width, data + (i + 1) * width);
}

}  // namespace

NpyHeader read_npy_header(const ByteSource& source) {
  const std::string& where = source.where();
  std::array<std::byte, 12> head{};
  if (source.size() >= 0 && source.size() < 12) damaged(where, "the header is missing");
  source.read(0, head);
  if (std::memcmp(head.data(), "\x93NUMPY", 6) != 0) damaged(where, "the magic number is missing");
  const int version = std::to_integer<int>(head[6]);
  if (version < 1 || version > 3) damaged(where, fmt::format("format version {}", version));
  int64_t length = std::to_integer<int64_t>(head[8]) | std::to_integer<int64_t>(head[9]) << 8;
  if (version > 1) length |= std::to_integer<int64_t>(head[10]) << 16 | std::to_integer<int64_t>(head[11]) << 24;
  const int64_t begin = version == 1 ? 10 : 12;
  if (length > kMaxHeader) damaged(where, "the header is too long");
  std::string text(static_cast<size_t>(length), '\0');
  source.read(begin, std::as_writable_bytes(std::span(text)));

  NpyHeader header;
  header.data_offset = begin + length;
  parse_descr(field(text, "descr", where), header, where);
  header.fortran = field(text, "fortran_order", where).starts_with("True");
  header.dims = parse_shape(field(text, "shape", where), where);
  const int64_t count = element_count(header.dims);
  const auto bytes = checked_mul(count, header.item_bytes);
  if (header.item_bytes == 0 && count > kMaxHeader) damaged(where, "too many empty texts");
  if (!bytes || (source.size() >= 0 && *bytes > source.size() - header.data_offset)) {
    damaged(where, fmt::format("{} elements do not fit into the file: it is truncated", count));
  }
  return header;
}

Tensor read_npy_elements(const ByteSource& source, const NpyHeader& header, int64_t first, Dims dims) {
  if (header.dtype == DType::kString) return read_texts(source, header, first, std::move(dims));
  Tensor out(header.dtype, std::move(dims));
  std::byte* data = out.mutable_raw();
  source.read(header.data_offset + first * header.item_bytes, {data, out.bytes()});
  if (header.big_endian) {
    const int64_t parts = is_complex(header.dtype) ? 2 : 1;
    swap_bytes(data, out.size() * parts, header.item_bytes / parts);
  }
  return out;
}

Tensor npy_storable(const Tensor& tensor) {
  if (is_small_float(tensor.dtype()) && tensor.dtype() != DType::kF16) return cast(tensor, DType::kF32);
  if (is_sub_byte(tensor.dtype())) return unpack(tensor);
  return tensor;
}

std::string npy_header(DType type, const Dims& dims, int64_t text_width) {
  std::string descr = type == DType::kString ? fmt::format("<U{}", text_width) : "";
  for (const TypeCode& code : kTypeCodes) {
    if (code.type == type) descr = fmt::format("{}{}{}", code.bytes == 1 ? '|' : '<', code.kind, code.bytes);
  }
  if (descr.empty()) internal_error(fmt::format("NumPy has no type {}", name(type)));
  std::string shape;
  for (const int64_t d : dims) shape += fmt::format("{}, ", d);
  if (dims.size() > 1) shape.erase(shape.size() - 2);
  if (dims.size() == 1) shape.pop_back();
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  std::string head = "\x93NUMPY";
  head += {'\x01', '\x00', static_cast<char>(text.size() & 255), static_cast<char>(text.size() >> 8)};
  return head + text;
}

std::string npy_bytes(const Tensor& tensor) {
  const Tensor stored = npy_storable(tensor);
  if (stored.dtype() != DType::kString) {
    std::string out = npy_header(stored.dtype(), stored.dims());
    if (stored.bytes() > 0) out.append(reinterpret_cast<const char*>(stored.raw()), stored.bytes());
    return out;
  }
  std::vector<std::u32string> texts;
  size_t width = 1;
  for (const std::string& s : stored.strings())
    width = std::max(width, texts.emplace_back(unicode::code_points(s)).size());
  std::string out = npy_header(DType::kString, stored.dims(), static_cast<int64_t>(width));
  for (std::u32string& text : texts) {
    text.resize(width, U'\0');
    out.append(reinterpret_cast<const char*>(text.data()), 4 * width);
  }
  return out;
}

}  // namespace mlopt
