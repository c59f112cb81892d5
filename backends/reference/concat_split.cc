#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "backends/reference/concat.h"
#include "backends/reference/kernels.h"
#include "backends/reference/movement.h"

namespace mlopt::reference {

Tensor concatenated(const Call& call, std::span<const Tensor> parts, int axis) {
  Dims dims = parts.front().dims();
  const auto along = static_cast<size_t>(axis);
  dims[along] = 0;
  for (const Tensor& part : parts) {
    Dims others = part.dims();
    require(call, others.size() == dims.size(), "the tensors to be joined have different ranks");
    const int64_t length = std::exchange(others[along], dims[along]);
    if (others != dims)
      fail(call, fmt::format("shape {} cannot be joined with {} on axis {}", to_string(part.dims()),
                             to_string(parts.front().dims()), axis));
    dims[along] += length;
  }
  ElementCodec codec(parts.front().dtype());
  std::vector<Tensor> opened;
  for (const Tensor& part : parts) {
    if (part.dtype() != parts.front().dtype()) fail(call, "the tensors to be joined have different types");
    opened.push_back(codec.open(part));
  }
  Tensor out = codec.blank(dims);
  if (out.size() == 0) return codec.close(std::move(out));
  std::byte* target = out.mutable_raw();
  const Dims strides = row_major_strides(dims);
  for (const Tensor& part : opened) {
    copy_strided(part.dims(), codec.width(), part.raw(), row_major_strides(part.dims()), target, strides);
    target += static_cast<size_t>(part.dim(axis) * strides[along]) * codec.width();
  }
  return codec.close(std::move(out));
}

std::vector<Tensor> split_along(const Tensor& data, int axis, std::span<const int64_t> lengths) {
  std::vector<Tensor> parts;
  const Dims strides = row_major_strides(data.dims());
  Dims dims = data.dims();
  int64_t begin = 0;
  for (const int64_t length : lengths) {
    dims[static_cast<size_t>(axis)] = length;
    parts.push_back(gather_strided(data, dims, strides, begin * strides[static_cast<size_t>(axis)]));
    begin += length;
  }
  return parts;
}

namespace {

void concat(Call& call) {
  std::vector<Tensor> parts;
  for (int i = 0; i < call.input_count(); ++i) parts.push_back(call.in(i));
  require(call, !parts.empty(), "Concat has no inputs");
  const int axis = axis_of(call, call.view.opset() < 4 ? call.view.get_int("axis", 1) : call.view.get_int("axis"),
                           parts.front().rank());
  call.set(0, concatenated(call, parts, axis));
}

/// The lengths of the pieces: given, or as equal as the operator's version allows.
std::vector<int64_t> split_lengths(const Call& call, int64_t length) {
  const auto pieces = static_cast<int64_t>(call.output_count());
  std::vector<int64_t> lengths = call.ints("split", 1);
  if (lengths.empty() && !call.has(1) && pieces > 0) {
    const int64_t most = (length + pieces - 1) / pieces;
    if (call.view.opset() < 18 && length % pieces != 0)
      fail(call, fmt::format("{} elements cannot be split into {} equal pieces", length, pieces));
    for (int64_t i = 0; i < pieces; ++i) lengths.push_back(std::clamp<int64_t>(length - i * most, 0, most));
  }
  if (static_cast<int64_t>(lengths.size()) != pieces)
    fail(call, fmt::format("{} lengths are given for {} outputs", lengths.size(), pieces));
  int64_t sum = 0;
  for (const int64_t piece : lengths) {
    require(call, piece >= 0 && piece <= length - sum, "the lengths of the pieces do not add up to the axis");
    sum += piece;
  }
  require(call, sum == length, "the lengths of the pieces do not add up to the axis");
  return lengths;
}

void split(Call& call) {
  const Tensor& data = call.in(0);
  const int axis = axis_of(call, call.view.get_int("axis", 0), data.rank());
  std::vector<Tensor> parts = split_along(data, axis, split_lengths(call, data.dim(axis)));
  for (size_t i = 0; i < parts.size(); ++i) call.set(static_cast<int>(i), std::move(parts[i]));
}

/// How often each axis is repeated; before opset 6 the inputs are one number and one axis.
std::vector<int64_t> tile_repeats(const Call& call) {
  const Tensor& data = call.in(0);
  std::vector<int64_t> repeats(static_cast<size_t>(data.rank()), 1);
  if (call.view.opset() < 6)
    repeats[static_cast<size_t>(axis_of(call, int_in(call, 2, 0), data.rank()))] = int_in(call, 1, 1);
  else
    repeats = to_ints(call.in(1));
  require(call, static_cast<int>(repeats.size()) == data.rank(), "there must be one repeat for each axis");
  for (const int64_t repeat : repeats) require(call, repeat >= 0, "a repeat is negative");
  return repeats;
}

void tile(Call& call) {
  const Tensor& data = call.in(0);
  const std::vector<int64_t> repeats = tile_repeats(call);
  const Dims own = row_major_strides(data.dims());
  Dims walked, strides, dims;
  for (size_t i = 0; i < repeats.size(); ++i) {
    walked.insert(walked.end(), {repeats[i], data.dims()[i]});
    strides.insert(strides.end(), {0, own[i]});
    dims.push_back(element_count({repeats[i], data.dims()[i]}));
  }
  call.set(0, gather_strided(data, walked, strides).reshaped(std::move(dims)));
}

constexpr Kernel kKernels[] = {
    {"", "Concat", concat},
    {"", "Split", split},
    {"", "Tile", tile},
};

}  // namespace

std::span<const Kernel> concat_split_kernels() { return kKernels; }

}  // namespace mlopt::reference
