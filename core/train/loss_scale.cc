#include "core/train/loss_scale.h"

#include <atomic>
#include <bit>

#include "core/base/parallel.h"
#include "core/tensor/cast.h"

namespace mlopt::train {
namespace {

constexpr int64_t kUpdatesToGrow = 2000;
constexpr int64_t kGrain = 65536;

/// A loop without branches, which compilers turn into vector instructions.
bool finite(const float* values, int64_t count) {
  constexpr uint32_t kExponent = 0x7f800000;  // all ones: infinity, or no number
  uint32_t bad = 0;
  for (int64_t i = 0; i < count; ++i) bad |= (std::bit_cast<uint32_t>(values[i]) & kExponent) == kExponent;
  return bad == 0;
}

bool finite(const Tensor& tensor) {
  if (tensor.dtype() != DType::kF32) {
    const std::vector<float> values = to_floats(tensor);
    return finite(values.data(), static_cast<int64_t>(values.size()));
  }
  std::atomic<bool> all = true;
  const float* values = tensor.data<float>();
  parallel_for(tensor.size(), kGrain, [&](int64_t begin, int64_t end) {
    if (!finite(values + begin, end - begin)) all = false;
  });
  return all;
}

}  // namespace

void note_finite(LossScale& scale) {
  if (++scale.good < kUpdatesToGrow) return;
  scale.value *= 2;
  scale.good = 0;
}

bool note_overflow(LossScale& scale) {
  if (scale.value < 2) return false;
  scale.value /= 2;
  scale.good = 0;
  ++scale.skipped;
  return true;
}

bool all_finite(const StateStore& state, std::span<const std::string> names) {
  std::vector<StateCopy*> elsewhere;
  for (const std::string& name : names) {
    StateCopy* copy = state.copy(name).get();
    if (copy && copy->newer)
      elsewhere.push_back(copy);
    else if (!finite(state.at(name)))
      return false;
  }
  return elsewhere.empty() || elsewhere.front()->all_finite(elsewhere);
}

}  // namespace mlopt::train
