#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "core/base/error.h"
#include "core/data/byte_source.h"

namespace mlopt {
namespace {

constexpr size_t kChunk = size_t{256} << 10;

/// A zlib stream over a source: gives the next bytes, and can start over.
class Inflater {
 public:
  Inflater(Source packed, Compression kind) : packed_(std::move(packed)), kind_(kind), input_(kChunk) {
    const int window = kind == Compression::kGzip ? MAX_WBITS + 16 : -MAX_WBITS;
    if (inflateInit2(&stream_, window) != Z_OK) internal_error("inflateInit2 failed", packed_->where());
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  void restart() {
    inflateReset(&stream_);
    stream_.avail_in = 0;
    taken_ = 0;
    given_ = 0;
  }

  /// Decompressed bytes given since the start; 0 again after a failure.
  int64_t given() const { return given_; }

  /// The next out.size() bytes; throws when the stream ends or is damaged before.
  void next(std::span<std::byte> out) {
    while (!out.empty()) {
      refill();
      const size_t part = std::min(out.size(), size_t{1} << 30);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data());
      stream_.avail_out = static_cast<uInt>(part);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      given_ += static_cast<int64_t>(part - stream_.avail_out);
      out = out.subspan(part - stream_.avail_out);
      if (status == Z_OK || out.empty()) continue;
      // A gzip file may hold several members, one after the other.
      if (status == Z_STREAM_END && (stream_.avail_in > 0 || taken_ < packed_->size())) {
        inflateReset(&stream_);
        continue;
      }
      if (status == Z_STREAM_END) fail("the compressed data end too early");
      fail_damaged();
    }
    check_end();
  }

 private:
  /// Behind the last byte stands the checksum of gzip, which nothing else would look at.
  void check_end() {
    if (kind_ != Compression::kGzip) return;
    refill();
    stream_.avail_out = 0;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_DATA_ERROR) fail_damaged();
    const bool exhausted = stream_.avail_in == 0 && taken_ == packed_->size();
    if (status != Z_STREAM_END && exhausted) fail("the compressed data end too early");
  }

  [[noreturn]] void fail_damaged() {
    fail(fmt::format("the compressed data are damaged ({})", stream_.msg ? stream_.msg : "no progress"));
  }
  [[noreturn]] void fail(const std::string& what) {
    restart();
    input_error(what, packed_->where(), "fetch or write the file again");
  }

  void refill() {
    if (stream_.avail_in > 0) return;
    const int64_t count = std::min<int64_t>(static_cast<int64_t>(input_.size()), packed_->size() - taken_);
    if (count > 0) packed_->read(taken_, std::span(input_).first(static_cast<size_t>(count)));
    taken_ += count;
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(count);
  }

  Source packed_;
  Compression kind_;
  std::vector<std::byte> input_;
  z_stream stream_{};
  int64_t taken_ = 0;  // compressed bytes handed to zlib
  int64_t given_ = 0;
};

class InflateSource final : public ByteSource {
 public:
  InflateSource(Source packed, Compression kind, int64_t size, std::string where, int64_t keep)
      : size_(size),
        keep_(keep),
        where_(std::move(where)),
        inflater_(std::move(packed), kind),
        keeping_(size <= keep) {}

  int64_t size() const override { return size_; }
  const std::string& where() const override { return where_; }

  void read(int64_t offset, std::span<std::byte> out) const override {
    const auto count = static_cast<int64_t>(out.size());
    if (offset < 0 || (size_ >= 0 && (count > size_ || offset > size_ - count))) {
      input_error("the data end too early", where_, "the file is truncated or damaged: fetch or write it again");
    }
    const std::lock_guard lock(mutex_);
    if (keeping_ && offset + count > keep_) stop_keeping();
    if (!keeping_) return skim(offset, out);
    while (inflater_.given() < offset + count) {
      const int64_t step = std::min<int64_t>(static_cast<int64_t>(kChunk), offset + count - inflater_.given());
      kept_.resize(static_cast<size_t>(inflater_.given() + step));
      inflater_.next(std::span(kept_).last(static_cast<size_t>(step)));
    }
    std::copy_n(kept_.begin() + offset, count, out.begin());
  }

 private:
  void stop_keeping() const {
    keeping_ = false;
    kept_.clear();
    kept_.shrink_to_fit();
  }

  void skim(int64_t offset, std::span<std::byte> out) const {
    if (offset < inflater_.given()) inflater_.restart();
    std::vector<std::byte> skipped(kChunk);
    while (inflater_.given() < offset) {
      const int64_t step = std::min<int64_t>(static_cast<int64_t>(kChunk), offset - inflater_.given());
      inflater_.next(std::span(skipped).first(static_cast<size_t>(step)));
    }
    inflater_.next(out);
  }

  int64_t size_, keep_;
  std::string where_;
  mutable std::mutex mutex_;
  mutable Inflater inflater_;
  mutable bool keeping_;  // everything that inflater_ gave is in kept_
  mutable std::vector<std::byte> kept_;
};

}  // namespace

Source inflated(Source packed, Compression kind, int64_t size, std::string where, int64_t keep) {
  return std::make_shared<InflateSource>(std::move(packed), kind, size, std::move(where), keep);
}

}  // namespace mlopt
