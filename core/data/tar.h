#pragma once
#include <string>
#include <vector>

#include "core/data/byte_source.h"

namespace mlopt {

/// A regular file or a folder (its path ends with "/") inside a tar archive. The path is only ever a name: nothing is
/// written to disk.
struct TarEntry {
  std::string path;
  int64_t offset = 0, size = 0;  ///< of its bytes in the archive
};

/// The regular files and folders of an archive (ustar, with GNU's and pax's long names), in its order. Throws
/// Error{kBadInput} for a truncated or damaged archive.
std::vector<TarEntry> read_tar(const ByteSource& archive);

}  // namespace mlopt
