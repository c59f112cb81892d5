// A look for infinity and what is no number in many tensors at once, of which only whether there is any comes back.
#include "backends/gpu/device/optimizer.h"

namespace mlopt::gpu {
namespace {

constexpr int64_t kSlice = 16384;  // numbers of a block

struct Look {
  struct Shared {};
  struct Local {};
  FiniteArgs args;

  template <class T>
  MLOPT_DEVICE void slice(const FiniteArgs::Part& part, int64_t first, int t) const {
    const int64_t end = first + kSlice < part.count ? first + kSlice : part.count;
    bool bad = false;
    for (int64_t i = first + t; i < end; i += kBlock) {
      const float v = widen(static_cast<const T*>(part.values)[i]);
      bad = bad || (bits_as<uint32_t>(v) & 0x7f800000u) == 0x7f800000u;
    }
    if (bad) *args.bad = 1;  // all that write it write the same
  }

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    int64_t slice_of = block.index;
    int k = 0;
    for (; k < args.count; ++k) {
      const int64_t slices = (args.parts[k].count + kSlice - 1) / kSlice;
      if (slice_of < slices) break;
      slice_of -= slices;
    }
    const FiniteArgs::Part& part = args.parts[k];
    block.each([&](int t, Local&) {
      if (part.type == Elem::kF16)
        slice<Half>(part, slice_of * kSlice, t);
      else if (part.type == Elem::kBF16)
        slice<Brain>(part, slice_of * kSlice, t);
      else
        slice<float>(part, slice_of * kSlice, t);
    });
  }
};

}  // namespace

Status find_infinite(Queue& queue, const FiniteArgs& args) {
  int64_t blocks = 0;
  for (int k = 0; k < args.count; ++k) blocks += (args.parts[k].count + kSlice - 1) / kSlice;
  return for_blocks<kBlock>(queue, blocks, Look{args});
}

}  // namespace mlopt::gpu
