#pragma once
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace mlopt {

/// A file of scalars that TensorBoard reads, growing while the program runs: TFRecord (a length, the record, and a
/// masked CRC-32C of each) of Event messages.
class EventFile {
 public:
  /// A new file in `folder`, which is made. Throws Error{kBadInput} when it cannot be written.
  explicit EventFile(const std::string& folder);

  /// The value of a curve at a step. Throws Error{kBadInput} when it cannot be written.
  void add(std::string_view curve, int64_t step, double value);

 private:
  void write(const std::string& event);

  std::string path_;
  std::ofstream file_;
};

/// CRC-32C (Castagnoli).
uint32_t crc32c(std::string_view bytes);

}  // namespace mlopt
