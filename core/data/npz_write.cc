#include <zlib.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/data/array_file.h"

namespace mlopt {
namespace {

constexpr size_t kPiece = size_t{1} << 30;  // zlib counts in 32 bits
constexpr uint64_t kFull32 = 0xffffffff;

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string deflated(const std::string& bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    internal_error("deflateInit2 failed");
  std::string out, piece(size_t{1} << 20, '\0');
  size_t taken = 0;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (stream.avail_in == 0 && taken < bytes.size()) {
      const size_t count = std::min(kPiece, bytes.size() - taken);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + taken));
      stream.avail_in = static_cast<uInt>(count);
      taken += count;
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    status = deflate(&stream, taken == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    out.append(piece, 0, piece.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return out;
}

uint32_t checksum(const std::string& bytes) {
  uLong crc = crc32(0, nullptr, 0);
  for (size_t at = 0; at < bytes.size(); at += kPiece) {
    crc = crc32(crc, reinterpret_cast<const Bytef*>(bytes.data() + at),
                static_cast<uInt>(std::min(kPiece, bytes.size() - at)));
  }
  return static_cast<uint32_t>(crc);
}

struct Member {
  std::string name;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint64_t packed = 0, size = 0, offset = 0;
};

/// The fields that local headers and directory entries share: version needed .. name and extra lengths.
void put_common(std::string& out, const Member& m, uint16_t extra) {
  put<uint16_t>(out, 45);       // needs zip64
  put<uint16_t>(out, 1 << 11);  // names are UTF-8
  put<uint16_t>(out, m.method);
  put<uint16_t>(out, 0);  // time and date: midnight of 1980-01-01, so that the same arrays give the same bytes
  put<uint16_t>(out, 33);
  put<uint32_t>(out, m.crc);
  put<uint32_t>(out, kFull32);
  put<uint32_t>(out, kFull32);
  put<uint16_t>(out, static_cast<uint16_t>(m.name.size()));
  put<uint16_t>(out, extra);
}

std::string local_header(const Member& m) {
  std::string out;
  put<uint32_t>(out, 0x04034b50);
  put_common(out, m, 20);
  out += m.name;
  put<uint16_t>(out, 1);
  put<uint16_t>(out, 16);
  put<uint64_t>(out, m.size);
  put<uint64_t>(out, m.packed);
  return out;
}

std::string directory_entry(const Member& m) {
  std::string out;
  put<uint32_t>(out, 0x02014b50);
  put<uint16_t>(out, 45);
  put_common(out, m, 28);
  out.append(10, '\0');  // comment, disk, attributes
  put<uint32_t>(out, kFull32);
  out += m.name;
  put<uint16_t>(out, 1);
  put<uint16_t>(out, 24);
  put<uint64_t>(out, m.size);
  put<uint64_t>(out, m.packed);
  put<uint64_t>(out, m.offset);
  return out;
}

std::string end_records(uint64_t count, uint64_t size, uint64_t offset) {
  std::string out;
  put<uint32_t>(out, 0x06064b50);
  put<uint64_t>(out, 44);
  put<uint16_t>(out, 45);
  put<uint16_t>(out, 45);
  put<uint64_t>(out, 0);  // disks
  put<uint64_t>(out, count);
  put<uint64_t>(out, count);
  put<uint64_t>(out, size);
  put<uint64_t>(out, offset);
  put<uint32_t>(out, 0x07064b50);
  put<uint32_t>(out, 0);
  put<uint64_t>(out, offset + size);
  put<uint32_t>(out, 1);
  put<uint32_t>(out, 0x06054b50);
  put<uint32_t>(out, 0);
  put<uint16_t>(out, 0xffff);
  put<uint16_t>(out, 0xffff);
  put<uint32_t>(out, kFull32);
  put<uint32_t>(out, kFull32);
  put<uint16_t>(out, 0);
  return out;
}

}  // namespace

void write_npz(const std::string& path, const NamedTensors& arrays, bool deflate) {
  AtomicFile file(path);
  std::string directory;
  for (const auto& [name, tensor] : arrays) {
    std::string bytes = npy_bytes(tensor);
    Member member{.name = name + ".npy",
                  .crc = checksum(bytes),
                  .size = bytes.size(),
                  .offset = static_cast<uint64_t>(file.size())};
    if (member.name.size() > 0xffff) input_error("a name is too long for an .npz archive", path);
    if (deflate) {
      bytes = deflated(bytes);
      member.method = 8;
    }
    member.packed = bytes.size();
    file.write(local_header(member));
    file.write(bytes);
    directory += directory_entry(member);
  }
  const auto offset = static_cast<uint64_t>(file.size());
  file.write(directory);
  file.write(end_records(arrays.size(), directory.size(), offset));
  file.commit();
}

}  // namespace mlopt
