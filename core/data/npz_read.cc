#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "core/base/error.h"
#include "core/data/array_file.h"

// The zip format as in PKWARE's APPNOTE.TXT 6.3: all numbers are little-endian.

namespace mlopt {
namespace {

constexpr uint32_t kEndMagic = 0x06054b50, kEnd64Magic = 0x06064b50, kLocator64Magic = 0x07064b50;
constexpr uint32_t kEntryMagic = 0x02014b50, kLocalMagic = 0x04034b50;
constexpr int64_t kEndSize = 22, kLocatorSize = 20, kEnd64Size = 56, kEntrySize = 46, kLocalSize = 30;
constexpr int64_t kMaxDirectory = int64_t{64} << 20;
constexpr int64_t kChunk = int64_t{1} << 20, kMostChecked = int64_t{1} << 30;  // larger arrays would take seconds
constexpr int64_t kBestRatio = 1040;  // deflate cannot do better than 1032 to 1

template <class T>
T number(const std::string& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

[[noreturn]] void damaged(const std::string& path, std::string_view what) {
  input_error(fmt::format("not a readable .npz archive ({})", what), path, "write it again with numpy.savez");
}

std::string read_text(const ByteSource& file, int64_t offset, int64_t size) {
  if (offset < 0 || size < 0 || offset > file.size() - size) damaged(file.where(), "it is truncated");
  std::string bytes(static_cast<size_t>(size), '\0');
  file.read(offset, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

struct Directory {
  int64_t offset = 0, size = 0;
};

/// Finds the central directory through the record at the end of the file.
Directory find_directory(const ByteSource& file) {
  const int64_t tail = std::min<int64_t>(file.size(), kEndSize + 65535);
  const std::string end = read_text(file, file.size() - tail, tail);
  for (int64_t at = tail - kEndSize; at >= 0; --at) {
    const auto p = static_cast<size_t>(at);
    if (number<uint32_t>(end, p) != kEndMagic) continue;
    Directory directory{number<uint32_t>(end, p + 16), number<uint32_t>(end, p + 12)};
    if (directory.offset != 0xffffffff && directory.size != 0xffffffff) return directory;
    if (at < kLocatorSize) break;
    const size_t locator = p - kLocatorSize;
    if (number<uint32_t>(end, locator) != kLocator64Magic) break;
    const std::string end64 = read_text(file, number<int64_t>(end, locator + 8), kEnd64Size);
    if (number<uint32_t>(end64, 0) != kEnd64Magic) break;
    return {number<int64_t>(end64, 48), number<int64_t>(end64, 40)};
  }
  damaged(file.where(), "the directory is missing: it is truncated or not a zip archive");
}

struct Entry {
  std::string name;
  int method = 0, flags = 0;
  int64_t packed = 0, size = 0, offset = 0;
  uint32_t checksum = 0;
};

/// The 64-bit sizes and offset that stand in the extra field when the 32-bit ones are all ones.
void apply_zip64(Entry& entry, const std::string& extra, const std::string& path) {
  for (size_t at = 0; at + 4 <= extra.size();) {
    const size_t id = number<uint16_t>(extra, at), length = number<uint16_t>(extra, at + 2);
    size_t from = at + 4;
    at = from + length;
    if (id != 1 || at > extra.size()) continue;
    for (int64_t* field : {&entry.size, &entry.packed, &entry.offset}) {
      if (*field != 0xffffffff) continue;
      if (from + 8 > at) damaged(path, "bad zip64 field");
      *field = number<int64_t>(extra, from);
      from += 8;
    }
  }
}

std::vector<Entry> read_directory(const ByteSource& file) {
  const Directory directory = find_directory(file);
  if (directory.size > kMaxDirectory) damaged(file.where(), "the directory is too large");
  const std::string bytes = read_text(file, directory.offset, directory.size);
  std::vector<Entry> entries;
  for (size_t at = 0; at + kEntrySize <= bytes.size();) {
    if (number<uint32_t>(bytes, at) != kEntryMagic) damaged(file.where(), "bad directory entry");
    const size_t name = number<uint16_t>(bytes, at + 28), extra = number<uint16_t>(bytes, at + 30);
    const size_t comment = number<uint16_t>(bytes, at + 32), end = at + kEntrySize + name + extra + comment;
    if (end > bytes.size()) damaged(file.where(), "bad directory entry");
    Entry entry;
    entry.flags = number<uint16_t>(bytes, at + 8);
    entry.method = number<uint16_t>(bytes, at + 10);
    entry.checksum = number<uint32_t>(bytes, at + 16);
    entry.packed = number<uint32_t>(bytes, at + 20);
    entry.size = number<uint32_t>(bytes, at + 24);
    entry.offset = number<uint32_t>(bytes, at + 42);
    entry.name = bytes.substr(at + kEntrySize, name);
    apply_zip64(entry, bytes.substr(at + kEntrySize + name, extra), file.where());
    entries.push_back(std::move(entry));
    at = end;
  }
  return entries;
}

/// Arrays are read by row, so that a changed byte would go unnoticed: all bytes are read once beforehand.
void check_sum(const ByteSource& array, const Entry& entry) {
  std::vector<std::byte> chunk(static_cast<size_t>(std::min(array.size(), kChunk)));
  uLong sum = crc32(0, nullptr, 0);
  for (int64_t at = 0; at < array.size();) {
    const auto part = std::span(chunk).first(static_cast<size_t>(std::min(kChunk, array.size() - at)));
    array.read(at, part);
    sum = crc32(sum, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size()));
    at += static_cast<int64_t>(part.size());
  }
  if (sum != entry.checksum) damaged(array.where(), "its checksum is not the stored one");
}

Source open_entry(const Source& file, const Entry& entry) {
  const std::string where = fmt::format("{}, array '{}'", file->where(), entry.name);
  if (entry.flags & 1) input_error("the archive is encrypted", where, "write it with numpy.savez");
  const std::string local = read_text(*file, entry.offset, kLocalSize);
  if (number<uint32_t>(local, 0) != kLocalMagic) damaged(where, "bad entry");
  const int64_t skip = kLocalSize + number<uint16_t>(local, 26) + number<uint16_t>(local, 28);
  Source packed = part_of(file, entry.offset + skip, entry.packed, where);
  if (entry.method == 0) return packed;
  if (entry.method != 8)
    input_error(fmt::format("unknown compression method {}", entry.method), where, "use numpy.savez");
  if (entry.size < 0 || entry.size / kBestRatio > entry.packed) damaged(where, "impossible size");
  return inflated(std::move(packed), Compression::kDeflate, entry.size, where);
}

}  // namespace

std::vector<ArrayFile> open_npz(const std::string& path) {
  const Source file = open_source(path);
  std::vector<ArrayFile> arrays;
  for (const Entry& entry : read_directory(*file)) {
    if (!entry.name.ends_with(".npy")) continue;
    Source array = open_entry(file, entry);
    if (array->size() <= kMostChecked) check_sum(*array, entry);
    arrays.emplace_back(entry.name.substr(0, entry.name.size() - 4), std::move(array));
  }
  if (arrays.empty()) input_error("the archive holds no arrays", path, "write it with numpy.savez(file, name=array)");
  return arrays;
}

}  // namespace mlopt
