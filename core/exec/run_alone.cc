#include "core/exec/run_alone.h"

#include <array>
#include <cstring>
#include <numeric>

namespace mlopt {
namespace {

/// 0, 1, 2 and so on: of most nodes they are there already.
std::span<const int> counting(size_t n, std::vector<int>& more) {
  static constexpr auto kFew = [] {
    std::array<int, 32> few{};
    std::iota(few.begin(), few.end(), 0);
    return few;
  }();
  if (n <= kFew.size()) return std::span(kFew).first(n);
  more.resize(n);
  std::iota(more.begin(), more.end(), 0);
  return more;
}

}  // namespace

void run_alone(const PlannedStep& step, std::span<std::byte* const> where) {
  const size_t inputs = where.size() - step.out.size();
  if (step.view_of >= 0) {
    const std::byte* from = where[static_cast<size_t>(step.view_of)] + step.view_offset;
    for (size_t i = 0; i < step.out.size(); from += step.out[i].bytes(), ++i)
      std::memcpy(where[inputs + i], from, step.out[i].bytes());
    return;
  }
  std::vector<int> more;
  const std::span<const int> all = counting(where.size(), more);
  Tensor scratch;
  if (step.scratch_bytes > 0) scratch = Tensor(DType::kU8, {static_cast<int64_t>(step.scratch_bytes)});
  std::any memo;
  step.run(Buffers(where.data(), all.first(inputs), all.subspan(inputs), scratch.mutable_raw(), memo));
}

void run_alone(const PlannedStep& step, std::span<const std::byte* const> in, std::span<std::byte* const> out) {
  std::vector<std::byte*> where;
  where.reserve(in.size() + out.size());
  for (const std::byte* p : in) where.push_back(const_cast<std::byte*>(p));
  where.insert(where.end(), out.begin(), out.end());
  run_alone(step, where);
}

}  // namespace mlopt
