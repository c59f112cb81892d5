#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "backends/reference/indices.h"
#include "backends/reference/kernels.h"
#include "backends/reference/movement.h"

namespace mlopt::reference {
namespace {

/// `data` with block i of `updates` (each `block` elements) written at offsets[i], in order: the last one wins.
Tensor overwritten(const Tensor& data, const Tensor& updates, std::span<const int64_t> offsets, int64_t block) {
  ElementCodec codec(data.dtype());
  Tensor out = codec.open(data);
  const Tensor from = codec.open(updates);
  const size_t bytes = static_cast<size_t>(block) * codec.width();
  if (from.size() == 0 || bytes == 0) return data;
  std::byte* target = out.mutable_raw();
  for (size_t i = 0; i < offsets.size(); ++i)
    std::memcpy(target + static_cast<size_t>(offsets[i]) * codec.width(), from.raw() + i * bytes, bytes);
  return codec.close(std::move(out));
}

/// As overwritten(), where each element becomes combine(old, update) in the compute type.
template <class T, class Fn>
Tensor combined(const Tensor& data, const Tensor& updates, std::span<const int64_t> offsets, int64_t block,
                const Fn& combine) {
  Tensor out = as(data, dtype_of<T>());
  const Tensor from = as(updates, dtype_of<T>());
  if (from.size() == 0) return data;
  T* target = out.mutable_data<T>();
  const T* source = from.data<T>();
  for (size_t i = 0; i < offsets.size(); ++i)
    for (int64_t k = 0; k < block; ++k, ++source) target[offsets[i] + k] = combine(target[offsets[i] + k], *source);
  return as(out, data.dtype());
}

/// Writes or accumulates as the attribute reduction says.
Tensor scattered(const Call& call, std::span<const int64_t> offsets, int64_t block) {
  const Tensor &data = call.in(0), &updates = call.in(2);
  require(call, updates.dtype() == data.dtype(), "data and updates have different types");
  const std::string how = call.view.get_string("reduction", "none");
  if (how == "none") return overwritten(data, updates, offsets, block);
  return with_number(call, data.dtype(), [&](auto sample) {
    using T = decltype(sample);
    using U = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>;  // integers wrap
    const auto with = [&](const auto& combine) { return combined<T>(data, updates, offsets, block, combine); };
    if (how == "add") return with([](T a, T b) { return static_cast<T>(static_cast<U>(a) + static_cast<U>(b)); });
    if (how == "mul") return with([](T a, T b) { return static_cast<T>(static_cast<U>(a) * static_cast<U>(b)); });
    if (how == "min") return with([](T a, T b) { return b < a || b != b ? b : a; });
    if (how == "max") return with([](T a, T b) { return a < b || b != b ? b : a; });
    fail(call, fmt::format("reduction '{}' is unknown", how));
  });
}

void scatter_elements(Call& call) {
  const Tensor &data = call.in(0), &indices = call.in(1);
  const int axis = axis_of(call, call.view.get_int("axis", 0), data.rank());
  require(call, indices.dims() == call.in(2).dims(), "indices and updates have different shapes");
  call.set(0, scattered(call, element_offsets(call, indices, data.dims(), axis), 1));
}

void scatter_nd(Call& call) {
  const Tensor &data = call.in(0), &indices = call.in(1);
  require(call, data.rank() >= 1 && indices.rank() >= 1, "data and indices must have at least one axis");
  const int64_t tuple = indices.dim(indices.rank() - 1);
  require(call, tuple <= data.rank(), "the indices name more axes than the data has");
  const auto rest = data.dims().begin() + static_cast<std::ptrdiff_t>(tuple);
  Dims wanted(indices.dims().begin(), indices.dims().end() - 1);
  wanted.insert(wanted.end(), rest, data.dims().end());
  if (call.in(2).dims() != wanted)
    fail(call, fmt::format("updates must have shape {}, not {}", to_string(wanted), to_string(call.in(2).dims())));
  call.set(0, scattered(call, tuple_offsets(call, indices, data.dims()), element_count({rest, data.dims().end()})));
}

/// Writes the update of each sequence into its cache from a position of its own on.
void tensor_scatter(Call& call) {
  const Tensor &cache = call.in(0), &update = call.in(1);
  const int axis = axis_of(call, call.view.get_int("axis", -2), cache.rank());
  require(call, axis > 0, "the axis must not be the batch");
  const std::string mode = call.view.get_string("mode", "linear");
  require(call, mode == "linear" || mode == "circular", "mode must be linear or circular");
  Dims same = update.dims();
  require(call, same.size() == cache.dims().size() && same[static_cast<size_t>(axis)] <= cache.dim(axis),
          "the update does not fit the cache");
  same[static_cast<size_t>(axis)] = cache.dim(axis);
  require(call, same == cache.dims() && update.dtype() == cache.dtype(), "the update does not fit the cache");
  const auto batch = static_cast<size_t>(cache.dim(0));
  const std::vector<int64_t> begins = call.has(2) ? to_ints(call.in(2)) : std::vector<int64_t>(batch, 0);
  require(call, begins.size() == batch, "there must be one write index for each sequence");

  const AxisView to = around_axis(cache.dims(), axis), from = around_axis(update.dims(), axis);
  std::vector<int64_t> offsets;
  for (int64_t outer = 0; outer < from.outer; ++outer) {
    const int64_t begin = begins[static_cast<size_t>(outer / (from.outer / cache.dim(0)))];
    require(call, begin >= 0 && begin < to.length + (from.length == 0), "a write index is outside the cache");
    require(call, mode == "circular" || begin + from.length <= to.length, "the update goes beyond the cache");
    for (int64_t i = 0; i < from.length; ++i)
      offsets.push_back((outer * to.length + (begin + i) % to.length) * to.inner);
  }
  call.set(0, overwritten(cache, update, offsets, to.inner));
}

constexpr Kernel kKernels[] = {
    {"", "Scatter", scatter_elements},
    {"", "ScatterElements", scatter_elements},
    {"", "ScatterND", scatter_nd},
    {"", "TensorScatter", tensor_scatter},
};

}  // namespace

std::span<const Kernel> scatter_kernels() { return kKernels; }

}  // namespace mlopt::reference
