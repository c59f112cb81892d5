#include "core/base/hash.h"

#include <fmt/core.h>

#define XXH_STATIC_LINKING_ONLY  // the state by value
#include <xxhash.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "core/base/error.h"

namespace mlopt {

struct Hash::State {
  XXH3_state_t xxh;
};

Hash::Hash() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->xxh); }
Hash::~Hash() = default;

void Hash::add(std::span<const std::byte> bytes) { XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size()); }

void Hash::add_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) input_error(fmt::format("cannot open the file ({})", std::strerror(errno)), path);
  std::vector<std::byte> buffer(1 << 20);
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    add(std::span(buffer).first(count));
  }
  if (std::ferror(file.get())) input_error(fmt::format("cannot read the file ({})", std::strerror(errno)), path);
}

std::string Hash::digest() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->xxh);
  return fmt::format("xxh3:{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace mlopt
