// Slice, Crop and Split: views where what is taken lies together, else strided copies.
#include <algorithm>
#include <utility>

#include "backends/cpu/kernels.h"
#include "backends/cpu/strided.h"
#include "core/ir/slice_span.h"

namespace mlopt::cpu {
namespace {

/// Elements of an input that become one output.
struct Taken {
  TensorDesc out;
  Dims strides;  ///< in the input, for each axis of `out`
  int64_t offset = 0;
};

StridedCopy copy_of(const Taken& t, size_t width) { return {width, t.out.dims, t.strides, t.out.strides()}; }

Expected<Taken> sliced(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto spans = slice_spans(site.view, x.dims);
  if (!spans) return spans.error();
  Taken t{x, x.strides()};
  for (size_t axis = 0; axis < spans->size(); ++axis) {
    const SliceSpan& span = (*spans)[axis];
    t.out.dims[axis] = span.count;
    t.offset += span.first * t.strides[axis];
    t.strides[axis] *= span.step;
  }
  return t;
}

/// A picture without its borders: left, top, right, bottom.
Expected<Taken> cropped(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const Dims border = site.view.get_ints("border"), size = site.view.get_ints("scale");
  if (x.dims.size() != 4 || border.size() != 4 || (!size.empty() && size.size() != 2)) return Decline{"not a picture"};
  Taken t{x, x.strides()};
  for (size_t k = 0; k < 2; ++k) {
    const int64_t all = x.dims[2 + k], first = border[1 - k], last = border[3 - k];
    if (first < 0 || first > all || last < 0 || last > all) return Decline{"a border is too large"};
    t.out.dims[2 + k] = size.empty() ? all - first - last : size[k];
    if (t.out.dims[2 + k] < 0 || t.out.dims[2 + k] > all - first) return Decline{"it goes beyond the picture"};
    t.offset += first * t.strides[2 + k];
  }
  return t;
}

template <Expected<Taken> (*take)(const Site&)>
Expected<PlannedStep> plan_taken(const Site& site) {
  const auto width = element_bytes(site.desc(0).dtype);
  if (!width) return Decline{"elements of less than a byte"};
  const auto taken = take(site);
  if (!taken) return taken.error();
  if (taken->out.size() == 0) return Decline{"nothing is taken"};
  PlannedStep step{.out = {taken->out}};
  for (int i = 1; i < static_cast<int>(site.in.size()); ++i) step.packed.push_back(i);
  return view_or_copy(std::move(step), copy_of(*taken, *width), taken->offset * static_cast<int64_t>(*width));
}

/// How long the pieces are: as given, or as equal as the operator's version allows.
Expected<Dims> piece_lengths(const Site& site, int64_t length) {
  const auto pieces = static_cast<int64_t>(site.view.node().outputs().size());
  auto lengths = site.view.ints("split", 1);
  if (!lengths) return Decline{"the lengths are not constant"};
  if (lengths->empty() && !site.view.node().input(1) && pieces > 0) {
    const int64_t most = (length + pieces - 1) / pieces;
    if (site.view.opset() < 18 && length % pieces != 0) return Decline{"unequal pieces"};
    for (int64_t i = 0; i < pieces; ++i) lengths->push_back(std::clamp<int64_t>(length - i * most, 0, most));
  }
  int64_t rest = length;
  for (const int64_t piece : *lengths) {
    if (piece < 1 || piece > rest) return Decline{"an empty piece, or more than there is"};
    rest -= piece;
  }
  if (rest != 0 || static_cast<int64_t>(lengths->size()) != pieces) return Decline{"the pieces do not fit"};
  return *std::move(lengths);
}

Expected<PlannedStep> plan_split(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto width = element_bytes(x.dtype);
  if (!width || x.dims.empty()) return Decline{"a scalar, or elements of less than a byte"};
  const auto axis =
      static_cast<size_t>(normalize_axis(site.view.get_int("axis", 0), static_cast<int64_t>(x.dims.size())));
  const auto lengths = piece_lengths(site, x.dims[axis]);
  if (!lengths) return lengths.error();
  PlannedStep step;
  if (site.has(1)) step.packed = {1};
  std::vector<std::pair<int64_t, StridedCopy>> copies;
  Taken piece{x, x.strides()};
  for (const int64_t length : *lengths) {
    piece.out.dims[axis] = length;
    step.out.push_back(piece.out);
    copies.emplace_back(piece.offset * static_cast<int64_t>(*width), copy_of(piece, *width));
    piece.offset += length * piece.strides[axis];
  }
  if (std::all_of(copies.begin(), copies.end(), [](const auto& c) { return c.second.is_nothing(); })) {
    step.view_of = 0;
    return step;
  }
  step.run = [copies = std::move(copies)](const Buffers& b) {
    for (size_t i = 0; i < copies.size(); ++i)
      copies[i].second.run(b.in<std::byte>(0) + copies[i].first, b.out<std::byte>(static_cast<int>(i)));
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Slice", .plan = plan_taken<sliced>, .layout = LayoutRule::kFollows, .bf16 = passes_first},
    {.domain = "", .op = "Crop", .plan = plan_taken<cropped>, .layout = LayoutRule::kFollows, .bf16 = passes_first},
    {.domain = "", .op = "Split", .plan = plan_split, .layout = LayoutRule::kFollows, .bf16 = passes_first},
};

}  // namespace

std::span<const Kernel> slice_kernels() { return kKernels; }

}  // namespace mlopt::cpu
