#include <fmt/core.h>

#include <algorithm>

#include "backends/reference/kernels.h"
#include "backends/reference/movement.h"
#include "core/base/checked.h"

namespace mlopt::reference {
namespace {

enum class Mode { kConstant, kReflect, kEdge, kWrap };

Mode mode_of(const Call& call) {
  const std::string mode = call.view.get_string("mode", "constant");
  if (mode == "constant") return Mode::kConstant;
  if (mode == "reflect") return Mode::kReflect;
  if (mode == "edge") return Mode::kEdge;
  if (mode == "wrap") return Mode::kWrap;
  fail(call, fmt::format("mode '{}' is unknown", mode));
}

/// `place` modulo `period`, not negative.
int64_t modulo(int64_t place, int64_t period) { return ((place % period) + period) % period; }

/// Where element `place` (before, in or behind the axis) is taken from; -1: from nowhere.
int64_t source_of(int64_t place, int64_t length, Mode mode) {
  if (place >= 0 && place < length) return place;
  switch (mode) {
    case Mode::kConstant:
      return -1;
    case Mode::kEdge:
      return std::clamp<int64_t>(place, 0, length - 1);
    case Mode::kWrap:
      return modulo(place, length);
    case Mode::kReflect:
      break;
  }
  if (length == 1) return 0;
  const int64_t period = 2 * (length - 1), folded = modulo(place, period);
  return folded < length ? folded : period - folded;
}

/// The source of each position of an axis padded by `before` and `after` (negative: cropped).
std::vector<int64_t> pad_map(const Call& call, int64_t length, int64_t before, int64_t after, Mode mode) {
  const auto most = checked_add(length, before);
  const auto total = most ? checked_add(*most, after) : std::nullopt;
  require(call, total && *total >= 0, "an axis is cropped by more than it has, or padded without bound");
  require(call, length > 0 || *total == 0 || mode == Mode::kConstant,
          "an empty axis can only be padded with a constant");
  std::vector<int64_t> map(static_cast<size_t>(element_count({*total})));
  for (int64_t i = 0; i < *total; ++i) map[static_cast<size_t>(i)] = source_of(i - before, length, mode);
  return map;
}

std::vector<int64_t> whole_axis(int64_t length) {
  std::vector<int64_t> map(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) map[static_cast<size_t>(i)] = i;
  return map;
}

/// The constant that fills: an attribute in old opsets, input 2 in newer ones, else the type's zero.
Tensor fill_value(const Call& call, ElementCodec& codec) {
  const DType type = call.in(0).dtype();
  if (call.has(2)) {
    require(call, call.in(2).size() == 1 && call.in(2).dtype() == type,
            "the constant must be one element of the input's type");
    return codec.open(call.in(2));
  }
  if (call.view.has("value")) return codec.open(cast(Tensor::scalar(call.view.get_float("value", 0)), type));
  return codec.zeros({});
}

void pad(Call& call) {
  const Tensor& data = call.in(0);
  const std::vector<int64_t> pads = call.ints(call.view.has("paddings") ? "paddings" : "pads", 1);
  std::vector<std::vector<int64_t>> maps;
  for (const int64_t length : data.dims()) maps.push_back(whole_axis(length));
  std::vector<int64_t> wanted;
  if (call.has(3))
    wanted = to_ints(call.in(3));
  else
    for (int i = 0; i < data.rank(); ++i) wanted.push_back(i);
  const std::vector<int> axes = axes_of(call, wanted, data.rank());
  if (pads.size() != 2 * axes.size())
    fail(call, fmt::format("{} pads are given for {} axes", pads.size(), axes.size()));
  const Mode mode = mode_of(call);
  for (size_t i = 0; i < axes.size(); ++i)
    maps[static_cast<size_t>(axes[i])] = pad_map(call, data.dim(axes[i]), pads[i], pads[i + axes.size()], mode);
  ElementCodec codec(data.dtype());
  const Tensor fill = fill_value(call, codec);
  call.set(0, codec.close(gather_mapped(codec, codec.open(data), maps, fill.raw())));
}

/// Crops or pads with zeros around the centre; an odd element goes behind.
void center_crop_pad(Call& call) {
  const Tensor& data = call.in(0);
  const std::vector<int64_t> shape = to_ints(call.in(1));
  std::vector<int64_t> wanted = call.view.get_ints("axes");
  if (!call.view.has("axes"))
    for (int i = 0; i < data.rank(); ++i) wanted.push_back(i);
  const std::vector<int> axes = axes_of(call, wanted, data.rank());
  require(call, shape.size() == axes.size(), "the shape must have one length for each axis");
  std::vector<std::vector<int64_t>> maps;
  for (const int64_t length : data.dims()) maps.push_back(whole_axis(length));
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t length = data.dim(axes[i]);
    require(call, shape[i] >= 0, "a length is negative");
    const int64_t difference = element_count({shape[i]}) - length;
    maps[static_cast<size_t>(axes[i])] =
        pad_map(call, length, difference / 2, difference - difference / 2, Mode::kConstant);
  }
  ElementCodec codec(data.dtype());
  const Tensor fill = codec.zeros({});
  call.set(0, codec.close(gather_mapped(codec, codec.open(data), maps, fill.raw())));
}

constexpr Kernel kKernels[] = {
    {"", "Pad", pad},
    {"", "CenterCropPad", center_crop_pad},
    {"com.microsoft", "Pad", pad},
};

}  // namespace

std::span<const Kernel> pad_kernels() { return kKernels; }

}  // namespace mlopt::reference
