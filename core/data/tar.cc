#include "core/data/tar.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt {
namespace {

constexpr int64_t kBlock = 512;
constexpr int64_t kMaxName = int64_t{1} << 20;

[[noreturn]] void damaged(const ByteSource& archive, std::string_view what) {
  input_error(fmt::format("the tar archive is damaged ({})", what), archive.where(), "write it again with tar cf");
}

/// A field's text up to its first zero.
std::string_view text_of(std::string_view header, size_t at, size_t size) {
  const std::string_view field = header.substr(at, size);
  return field.substr(0, std::min(field.find('\0'), field.size()));
}

/// Octal text, or (large files) big-endian binary with the top bit set.
int64_t number_of(const ByteSource& archive, std::string_view header, size_t at, size_t size) {
  int64_t value = 0;
  if (static_cast<unsigned char>(header[at]) & 0x80) {
    for (size_t i = size - 8; i < size; ++i) value = value << 8 | static_cast<unsigned char>(header[at + i]);
    if (value < 0) damaged(archive, "bad size");
    return value;
  }
  for (const char c : trim(text_of(header, at, size))) {
    if (c < '0' || c > '7' || value >= int64_t{1} << 59) damaged(archive, "bad number");
    value = 8 * value + (c - '0');
  }
  return value;
}

void check_sum(const ByteSource& archive, std::string_view header) {
  int64_t sum = 8 * ' ';  // the field of the sum itself counts as blanks
  for (size_t i = 0; i < header.size(); ++i) {
    if (i < 148 || i >= 156) sum += static_cast<unsigned char>(header[i]);
  }
  if (sum != number_of(archive, header, 148, 8)) damaged(archive, "bad checksum");
}

/// The value of `path` in pax's records "LENGTH KEY=VALUE\n".
std::string pax_path(std::string_view records) {
  std::string path;
  while (!records.empty()) {
    const size_t space = records.find(' ');
    const auto length = parse_int(records.substr(0, space));
    if (space == std::string_view::npos || !length || *length <= static_cast<int64_t>(space) ||
        *length > static_cast<int64_t>(records.size())) {
      break;
    }
    const std::string_view record = records.substr(space + 1, static_cast<size_t>(*length) - space - 2);
    if (record.starts_with("path=")) path = record.substr(5);
    records.remove_prefix(static_cast<size_t>(*length));
  }
  return path;
}

std::string name_of(std::string_view header) {
  const std::string name(text_of(header, 0, 100));
  const std::string_view prefix =
      header.substr(257, 6) == std::string_view("ustar\0", 6) ? text_of(header, 345, 155) : "";
  return prefix.empty() ? name : fmt::format("{}/{}", prefix, name);
}

}  // namespace

std::vector<TarEntry> read_tar(const ByteSource& archive) {
  std::vector<TarEntry> entries;
  std::string long_name;
  std::array<char, kBlock> block{};
  for (int64_t at = 0;;) {
    if (at > archive.size() - kBlock) damaged(archive, "it is truncated");  // an end mark of zeros comes last
    archive.read(at, std::as_writable_bytes(std::span(block)));
    const std::string_view header(block.data(), block.size());
    if (std::all_of(header.begin(), header.end(), [](char c) { return c == '\0'; })) break;
    check_sum(archive, header);
    const int64_t size = number_of(archive, header, 124, 12), offset = at + kBlock;
    if (size > archive.size() - offset) damaged(archive, "it is truncated");
    const char kind = header[156];
    if (kind == 'L' || kind == 'x') {
      if (size > kMaxName) damaged(archive, "a name is too long");
      std::string text(static_cast<size_t>(size), '\0');
      archive.read(offset, std::as_writable_bytes(std::span(text)));
      long_name = kind == 'x' ? pax_path(text) : std::string(text_of(text, 0, text.size()));
    } else {
      const bool regular = kind == '0' || kind == '\0' || kind == '7', folder = kind == '5';
      std::string name = long_name.empty() ? name_of(header) : long_name;
      if (folder && !name.ends_with('/')) name += '/';
      if (regular || folder) entries.push_back({std::move(name), offset, size});
      long_name.clear();
    }
    at = offset + (size + kBlock - 1) / kBlock * kBlock;
  }
  return entries;
}

}  // namespace mlopt
