#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace mlopt {

/// Bytes that are read on demand into the caller's buffer: a file, a part of one, or its decompressed form. Nothing is
/// mapped, so that memory stays bounded and a truncated file is an Error. read() may be called from several threads.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Bytes in all; -1 when only decompression would tell.
  virtual int64_t size() const = 0;
  /// Fills `out` from `offset`; throws Error{kBadInput} naming the file when the bytes are not all there.
  virtual void read(int64_t offset, std::span<std::byte> out) const = 0;
  /// The file, and the member inside it, for messages.
  virtual const std::string& where() const = 0;
};

using Source = std::shared_ptr<const ByteSource>;

/// A regular file. Throws Error{kBadInput} when it cannot be opened.
Source open_source(const std::string& path);
/// `size` bytes of `whole` from `offset`; throws when they are not inside it.
Source part_of(Source whole, int64_t offset, int64_t size, std::string where);

enum class Compression { kDeflate, kGzip };
/// `packed` decompressed; `size` is the decompressed size or -1. Up to `keep` bytes are kept in memory; of more nothing
/// is, so that going back starts over.
Source inflated(Source packed, Compression kind, int64_t size, std::string where, int64_t keep = int64_t{256} << 20);
/// The file, decompressed when it starts with gzip's magic number.
Source open_maybe_gzip(const std::string& path);

/// The whole source (of known size) in memory.
std::string read_all(const ByteSource& source);

}  // namespace mlopt
