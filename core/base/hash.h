#pragma once
#include <memory>
#include <span>
#include <string>

namespace mlopt {

/// A 128-bit digest (XXH3) of a stream of bytes: tells files apart, does not resist forgery.
class Hash {
 public:
  Hash();
  ~Hash();
  Hash(const Hash&) = delete;
  Hash& operator=(const Hash&) = delete;

  void add(std::span<const std::byte> bytes);
  /// Reads the file in pieces. Throws Error{kBadInput} when it cannot be read.
  void add_file(const std::string& path);
  /// "xxh3:" and 32 hexadecimal digits.
  std::string digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mlopt
