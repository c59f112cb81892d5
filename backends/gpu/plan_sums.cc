#include "backends/gpu/plan_sums.h"

#include <algorithm>

#include "backends/gpu/operand.h"
#include "core/base/error.h"

namespace mlopt::gpu {
namespace {

/// Where the slots of a plan lie.
struct MemoryMap {
  const Plan::Parts& parts;
  const std::vector<std::byte*>& where;

  const TensorDesc& desc(int slot) const { return *parts.slots[static_cast<size_t>(slot)].desc; }
  std::byte* at(int slot) const { return where[static_cast<size_t>(slot)]; }

  /// How many steps are done when none is left that reads or writes where the slot lies; the copies of updates behind
  /// the last count as one more.
  size_t last_touch(int k) const {
    const std::byte *begin = at(k), *end = begin + desc(k).bytes();
    const auto touches = [&](int other) {
      if (other < 0 || !parts.slots[static_cast<size_t>(other)].desc) return false;
      return at(other) < end && at(other) + desc(other).bytes() > begin;
    };
    for (const Plan::Update& update : parts.updates)
      if (!update.in_place && (touches(update.from) || touches(update.to))) return parts.steps.size() + 1;
    for (size_t done = parts.steps.size(); done > 0; --done) {
      const auto touched = [&](const auto& step) {
        return std::any_of(step.in.begin(), step.in.end(), touches) ||
               std::any_of(step.out.begin(), step.out.end(), touches);
      };
      if (std::visit(touched, parts.steps[done - 1])) return done;
    }
    return 0;
  }
};

}  // namespace

PlannedSums::PlannedSums(const Plan::Parts& parts, const std::vector<std::byte*>& where,
                         std::shared_ptr<StateSums> sums)
    : sums_(std::dynamic_pointer_cast<RankSums>(sums)) {
  if (!sums_) internal_error("sums over ranks that are another device's", {});
  const MemoryMap memory{parts, where};
  std::vector<std::pair<size_t, int>> all;  // when it is complete; slot
  for (const Plan::Update& update : parts.updates) {
    const std::string& name = parts.slots[static_cast<size_t>(update.to)].value->name;
    if (std::find(sums->names().begin(), sums->names().end(), name) != sums->names().end())
      all.emplace_back(memory.last_touch(update.to), update.to);
  }
  if (all.size() != sums->names().size()) internal_error("a plan adds up what it does not make", {});
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  int64_t in_bucket = sums->bucket_bytes();
  for (const auto& [after, slot] : all) {
    const TensorDesc& desc = memory.desc(slot);
    const auto bytes = static_cast<int64_t>(desc.bytes());
    if (in_bucket >= sums->bucket_bytes()) {
      buckets_.emplace_back();
      in_bucket = 0;
    }
    buckets_.back().after = after;
    buckets_.back().parts.push_back({*float_of(desc.dtype), memory.at(slot), desc.size()});
    in_bucket += bytes;
    bytes_ += bytes;
  }
}

void PlannedSums::begin(size_t done, WorkQueue& queue) {
  if (done <= 1) begun_ = 0;  // of a run before, which an error may have ended
  for (; begun_ < buckets_.size() && buckets_[begun_].after <= done; ++begun_)
    sums_->begin(buckets_[begun_].parts, queue);
}

void PlannedSums::end(WorkQueue& queue) {
  for (; begun_ < buckets_.size(); ++begun_) sums_->begin(buckets_[begun_].parts, queue);
  begun_ = 0;
  sums_->end(queue);
}

}  // namespace mlopt::gpu
