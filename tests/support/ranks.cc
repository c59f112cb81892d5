#include "tests/support/ranks.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include "core/tensor/small_float.h"

namespace mlopt::test {
namespace {

using train::Communicator;

/// Operations of all ranks, in the order in which each begins them.
class Meeting {
 public:
  explicit Meeting(int size) : size_(static_cast<size_t>(size)) {}

  /// Rank `rank`'s part of operation `index`.
  void bring(size_t index, int rank, std::string bytes) {
    const std::lock_guard lock(mutex_);
    if (parts_.size() <= index) parts_.resize(index + 1);
    if (parts_[index].empty()) parts_[index].resize(size_);
    parts_[index][static_cast<size_t>(rank)] = {true, std::move(bytes)};
    changed_.notify_all();
  }
  /// What all have brought. Throws Interrupted when one never will.
  std::vector<std::string> fetch(size_t index) {
    std::unique_lock lock(mutex_);
    const auto all_here = [&] {
      const auto& parts = parts_[index];
      return std::all_of(parts.begin(), parts.end(), [](const Part& p) { return p.here; });
    };
    changed_.wait(lock, [&] { return broken_ || all_here(); });
    if (!all_here()) throw train::Interrupted();
    std::vector<std::string> bytes;
    for (const Part& part : parts_[index]) bytes.push_back(part.bytes);
    return bytes;
  }
  void give_up() {
    const std::lock_guard lock(mutex_);
    broken_ = true;
    changed_.notify_all();
  }

 private:
  struct Part {
    bool here = false;
    std::string bytes;
  };
  size_t size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<Part>> parts_;
  bool broken_ = false;
};

template <class T>
void add_up(const std::vector<std::string>& parts, std::span<std::byte> into) {
  T* sum = reinterpret_cast<T*>(into.data());
  for (size_t i = 0; i < into.size() / sizeof(T); ++i) {
    double total = 0;  // of floats, to be rounded once
    for (const std::string& part : parts) {
      T value;
      std::memcpy(&value, part.data() + i * sizeof(T), sizeof(T));
      if constexpr (std::is_floating_point_v<T>)
        total += static_cast<double>(value);
      else
        total += static_cast<double>(to_float(value));
    }
    if constexpr (std::is_floating_point_v<T>) sum[i] = static_cast<T>(total);
    if constexpr (std::is_same_v<T, Half>) sum[i] = to_half(static_cast<float>(total));
    if constexpr (std::is_same_v<T, BFloat16>) sum[i] = to_bfloat16(static_cast<float>(total));
  }
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class ThreadRank : public Communicator {
 public:
  ThreadRank(Meeting& meeting, int rank, int size) : meeting_(meeting), rank_(rank), size_(size) {}
  std::string name() const override { return "threads"; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  Request begin_all_reduce(std::span<std::byte> values, DType type) override {
    return begin(text_of(values), [values, type](const std::vector<std::string>& parts) {
      if (type == DType::kF32) add_up<float>(parts, values);
      if (type == DType::kF64) add_up<double>(parts, values);
      if (type == DType::kF16) add_up<Half>(parts, values);
      if (type == DType::kBF16) add_up<BFloat16>(parts, values);
    });
  }
  Request begin_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    return begin(text_of(mine), [all](const std::vector<std::string>& parts) {
      std::byte* to = all.data();
      for (const std::string& part : parts)
        to = static_cast<std::byte*>(std::memcpy(to, part.data(), part.size())) + part.size();
    });
  }
  Request begin_broadcast(std::span<std::byte> bytes) override {
    return begin(rank_ == 0 ? text_of(bytes) : std::string(), [bytes](const std::vector<std::string>& parts) {
      std::memcpy(bytes.data(), parts[0].data(), bytes.size());
    });
  }
  void poll() override {}
  void wait(Request request) override {
    finish_[static_cast<size_t>(request)](meeting_.fetch(static_cast<size_t>(request)));
  }
  void set_stop(std::function<bool()>) override {}
  void close() override {}
  train::Traffic traffic() const override { return traffic_; }

 private:
  using Finish = std::function<void(const std::vector<std::string>&)>;

  Request begin(std::string mine, Finish finish) {
    traffic_.payload += static_cast<int64_t>(mine.size());
    meeting_.bring(finish_.size(), rank_, std::move(mine));
    finish_.push_back(std::move(finish));
    return static_cast<Request>(finish_.size()) - 1;
  }

  Meeting& meeting_;
  int rank_, size_;
  std::vector<Finish> finish_;
  train::Traffic traffic_;
};

}  // namespace

void with_ranks(int count, const std::function<void(Communicator&)>& fn) {
  Meeting meeting(count);
  std::mutex mutex;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      try {
        ThreadRank ranks(meeting, rank, count);
        fn(ranks);
      } catch (const train::Interrupted&) {
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
        meeting.give_up();
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace mlopt::test
