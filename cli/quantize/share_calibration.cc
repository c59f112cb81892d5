#include "cli/quantize/share_calibration.h"

#include <cstring>

namespace mlopt::cli {
namespace {

/// Numbers of eight bytes, and texts behind their sizes.
class Packer {
 public:
  template <class T>
  void numbers(const std::vector<T>& values) {
    static_assert(sizeof(T) == 8);
    size(values.size());
    text_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  void text(const std::string& value) {
    size(value.size());
    text_ += value;
  }
  void size(uint64_t value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  const std::string& packed() const { return text_; }

 private:
  std::string text_;
};

class Unpacker {
 public:
  explicit Unpacker(const std::string& packed) : packed_(packed) {}
  template <class T>
  std::vector<T> numbers() {
    std::vector<T> values(size());
    std::memcpy(values.data(), packed_.data() + at_, values.size() * sizeof(T));
    at_ += values.size() * sizeof(T);
    return values;
  }
  std::string text() {
    const uint64_t count = size();
    at_ += count;
    return packed_.substr(at_ - count, count);
  }
  uint64_t size() {
    uint64_t value = 0;
    std::memcpy(&value, packed_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

 private:
  const std::string& packed_;
  size_t at_ = 0;
};

std::string packed(const Calibration& calibration) {
  Packer out;
  out.size(static_cast<uint64_t>(calibration.samples));
  out.size(calibration.values.size());
  for (const auto& [name, histogram] : calibration.values) {
    out.text(name);
    out.numbers(histogram.limits());
    out.numbers(histogram.counts());
  }
  return out.packed();
}

}  // namespace

Calibration share_calibration(train::Communicator& ranks, const Calibration& mine) {
  Calibration all;
  for (const std::string& part : train::gather(ranks, packed(mine))) {
    Unpacker in(part);
    all.samples += static_cast<int64_t>(in.size());
    for (uint64_t left = in.size(); left > 0; --left) {
      const std::string name = in.text();
      const auto limits = in.numbers<double>();
      const auto counts = in.numbers<int64_t>();
      all.values[name].merge(Histogram(limits, counts));
    }
  }
  return all;
}

}  // namespace mlopt::cli
