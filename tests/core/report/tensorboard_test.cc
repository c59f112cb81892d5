#include "core/report/tensorboard.h"

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;

namespace {

template <class T>
T number_in(const std::string& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

uint32_t unmasked(uint32_t crc) { return std::rotl(crc - 0xa282ead8U, 15); }

/// The records of the file, whose checksums are right.
std::vector<std::string> records(const std::string& file) {
  std::vector<std::string> found;
  for (size_t at = 0; at < file.size();) {
    const auto length = number_in<uint64_t>(file, at);
    CHECK(unmasked(number_in<uint32_t>(file, at + 8)) == crc32c(file.substr(at, 8)));
    found.push_back(file.substr(at + 12, length));
    CHECK(unmasked(number_in<uint32_t>(file, at + 12 + length)) == crc32c(found.back()));
    at += length + 16;
  }
  return found;
}

}  // namespace

TEST_CASE("CRC-32C") {
  CHECK(crc32c("123456789") == 0xe3069283);            // the check value of its definition
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);  // RFC 3720
  CHECK(crc32c("") == 0);
}

TEST_CASE("an event file holds the version and then a record for each value") {
  const test::TempDir folder;
  {
    EventFile file(folder / "new/run");
    file.add("loss", 300, 1.5);
  }
  std::string path;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "new/run")) path = entry.path();
  const std::vector<std::string> all = records(read_file(path));
  REQUIRE(all.size() == 2);
  CHECK(all[0].find("brain.Event:2") != std::string::npos);
  // After the time: step 300 as a varint; summary {value {tag, simple_value}}.
  const std::string expected("\x10\xac\x02\x2a\x0d\x0a\x0b\x0a\x04loss\x15\x00\x00\xc0\x3f", 18);
  CHECK(all[1].substr(9) == expected);
}

TEST_CASE("a folder that cannot be written is an error") {
  const test::TempDir folder;
  std::ofstream(folder / "file") << "x";
  CHECK_THROWS_AS(EventFile(folder / "file/run"), Error);
}
