#include "core/report/tensorboard.h"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <filesystem>

#include "core/base/error.h"

namespace mlopt {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

template <class T>
std::string little_endian(T value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

// Fields of a Protocol Buffers message: the number of the field and the kind of its encoding, then the value.
enum Kind { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value > 127; value >>= 7) bytes += static_cast<char>((value & 127) | 128);
  return bytes + static_cast<char>(value);
}

std::string key(int field, Kind kind) { return varint(static_cast<uint64_t>(field) << 3 | kind); }
std::string field_of(int field, std::string_view bytes) {
  return key(field, kBytes) + varint(bytes.size()) + std::string(bytes);
}
std::string time_field() { return key(1, kFixed64) + little_endian(std::bit_cast<uint64_t>(now())); }

std::string masked_crc(std::string_view bytes) {
  constexpr uint32_t kMask = 0xa282ead8;
  const uint32_t crc = crc32c(bytes);
  return little_endian(std::rotr(crc, 15) + kMask);
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static const auto kTable = [] {
    constexpr uint32_t kPolynomial = 0x82f63b78;  // its bits in reverse
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < table.size(); ++i) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? kPolynomial : 0);
      table[i] = crc;
    }
    return table;
  }();
  uint32_t crc = 0xffffffff;
  for (const char c : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 255] ^ (crc >> 8);
  return ~crc;
}

EventFile::EventFile(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  path_ = fmt::format("{}/events.out.tfevents.{}.{}.mlopt", folder, static_cast<int64_t>(now()), ::getpid());
  file_.open(path_, std::ios::binary);
  write(time_field() + field_of(3, "brain.Event:2"));
}

void EventFile::add(std::string_view curve, int64_t step, double value) {
  const std::string number = key(2, kFixed32) + little_endian(std::bit_cast<uint32_t>(static_cast<float>(value)));
  const std::string summary = field_of(1, field_of(1, curve) + number);
  write(time_field() + key(2, kVarint) + varint(static_cast<uint64_t>(step)) + field_of(5, summary));
}

void EventFile::write(const std::string& event) {
  const std::string length = little_endian(static_cast<uint64_t>(event.size()));
  file_ << length << masked_crc(length) << event << masked_crc(event) << std::flush;
  if (!file_) input_error("cannot write", path_, "is the folder writable, and the disk not full?");
}

}  // namespace mlopt
