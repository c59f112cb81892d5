#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "backends/reference/kernels.h"
#include "backends/reference/movement.h"

namespace mlopt::reference {
namespace {

/// Axis i of the result is axis perm[i] of `data`.
Tensor permuted(const Tensor& data, std::span<const int> perm) {
  const Dims own = row_major_strides(data.dims());
  Dims dims, strides;
  for (const int axis : perm) {
    dims.push_back(data.dim(axis));
    strides.push_back(own[static_cast<size_t>(axis)]);
  }
  return gather_strided(data, dims, strides);
}

void transpose(Call& call) {
  const Tensor& data = call.in(0);
  std::vector<int> perm(static_cast<size_t>(data.rank()));
  std::iota(perm.rbegin(), perm.rend(), 0);
  if (call.view.has("perm")) {
    perm = axes_of(call, call.view.get_ints("perm"), data.rank());
    if (static_cast<int>(perm.size()) != data.rank())
      fail(call, fmt::format("perm names {} axes of {}", perm.size(), data.rank()));
  }
  call.set(0, permuted(data, perm));
}

int64_t block_size(const Call& call) {
  const int64_t block = call.view.get_int("blocksize");
  require(call, call.in(0).rank() == 4, "the input must have 4 axes");
  require(call, block > 0 && block < (1 << 20), "blocksize must be positive");
  return block;
}

/// "DCR": the blocks' offsets are the slow part of the channels; "CRD": the fast part.
bool offsets_first(const Call& call) {
  const std::string mode = call.view.get_string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") fail(call, fmt::format("mode '{}' is unknown", mode));
  return mode == "DCR";
}

void depth_to_space(Call& call) {
  const Tensor& data = call.in(0);
  const int64_t block = block_size(call), n = data.dim(0), height = data.dim(2), width = data.dim(3);
  const int64_t channels = data.dim(1) / (block * block);
  require(call, channels * block * block == data.dim(1), "the channels are no multiple of the block");
  const bool first = offsets_first(call);
  const Tensor blocks = data.reshaped(first ? Dims{n, block, block, channels, height, width}
                                            : Dims{n, channels, block, block, height, width});
  const Tensor moved =
      permuted(blocks, first ? std::vector<int>{0, 3, 4, 1, 5, 2} : std::vector<int>{0, 1, 4, 2, 5, 3});
  call.set(0, moved.reshaped({n, channels, height * block, width * block}));
}

void space_to_depth(Call& call) {
  const Tensor& data = call.in(0);
  const int64_t block = block_size(call), n = data.dim(0), channels = data.dim(1);
  const int64_t height = data.dim(2) / block, width = data.dim(3) / block;
  require(call, height * block == data.dim(2) && width * block == data.dim(3),
          "height and width are no multiples of the block");
  const Tensor blocks = data.reshaped({n, channels, height, block, width, block});
  const Tensor moved =
      permuted(blocks, offsets_first(call) ? std::vector<int>{0, 3, 5, 1, 2, 4} : std::vector<int>{0, 1, 3, 5, 2, 4});
  call.set(0, moved.reshaped({n, channels * block * block, height, width}));
}

void reverse_sequence(Call& call) {
  const Tensor& data = call.in(0);
  require(call, data.rank() >= 2, "the input must have a batch and a time axis");
  const int64_t batch_axis = call.view.get_int("batch_axis", 1), time_axis = call.view.get_int("time_axis", 0);
  require(call, (batch_axis == 0 && time_axis == 1) || (batch_axis == 1 && time_axis == 0),
          "batch_axis and time_axis must be 0 and 1");
  const int64_t batch = data.dim(static_cast<int>(batch_axis)), time = data.dim(static_cast<int>(time_axis));
  const std::vector<int64_t> lengths = to_ints(call.in(1));
  require(call, static_cast<int64_t>(lengths.size()) == batch, "there must be one length for each sequence");
  for (const int64_t length : lengths)
    require(call, length >= 0 && length <= time, "a length is outside the time axis");

  ElementCodec codec(data.dtype());
  const Tensor from = codec.open(data);
  Tensor to = codec.blank(data.dims());
  const int64_t step =
      data.size() == 0 ? 0 : data.size() / (batch * time);  // elements of one time step of one sequence
  const size_t bytes = static_cast<size_t>(step) * codec.width();
  std::byte* target = to.mutable_raw();
  for (int64_t place = 0; step > 0 && place < batch * time; ++place) {
    const int64_t b = batch_axis == 0 ? place / time : place % batch,
                  t = batch_axis == 0 ? place % time : place / batch;
    const int64_t length = lengths[static_cast<size_t>(b)], source_t = t < length ? length - 1 - t : t;
    const int64_t source = batch_axis == 0 ? b * time + source_t : source_t * batch + b;
    std::memcpy(target + static_cast<size_t>(place) * bytes, from.raw() + static_cast<size_t>(source) * bytes, bytes);
  }
  call.set(0, codec.close(std::move(to)));
}

constexpr Kernel kKernels[] = {
    {"", "Transpose", transpose},
    {"", "DepthToSpace", depth_to_space},
    {"", "SpaceToDepth", space_to_depth},
    {"", "ReverseSequence", reverse_sequence},
};

}  // namespace

std::span<const Kernel> transpose_kernels() { return kKernels; }

}  // namespace mlopt::reference
