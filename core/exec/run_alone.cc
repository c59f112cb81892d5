#include "core/exec/run_alone.h"

#include <cstring>
#include <numeric>

namespace mlopt {

void run_alone(const PlannedStep& step, std::span<const std::byte* const> in, std::span<std::byte* const> out) {
  if (step.view_of >= 0) {
    const std::byte* from = in[static_cast<size_t>(step.view_of)] + step.view_offset;
    for (size_t i = 0; i < step.out.size(); from += step.out[i].bytes(), ++i)
      std::memcpy(out[i], from, step.out[i].bytes());
    return;
  }
  std::vector<std::byte*> where;
  for (const std::byte* p : in) where.push_back(const_cast<std::byte*>(p));  // kernels only read it
  where.insert(where.end(), out.begin(), out.end());
  std::vector<int> slots(where.size());
  std::iota(slots.begin(), slots.end(), 0);
  Tensor scratch(DType::kU8, {static_cast<int64_t>(step.scratch_bytes)});
  std::any memo;
  const std::span<const int> all(slots);
  step.run(Buffers(where.data(), all.first(in.size()), all.subspan(in.size()), scratch.mutable_raw(), memo));
}

}  // namespace mlopt
