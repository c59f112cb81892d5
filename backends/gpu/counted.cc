// mlopt.CountedNonZero, CountedSuppression and CountedUnique (core/rewrite/lower/counted.cc): as many results as there
// can be, and how many there are.
#include <algorithm>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"

namespace mlopt::gpu {
namespace {

const TensorDesc kOne{DType::kI64, {1}};

int64_t* numbers_at(std::byte* where) { return reinterpret_cast<int64_t*>(where); }

Expected<PlannedStep> plan_non_zero(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto type = elem_of(x.dtype);
  if (!type) return type.error();
  const auto rank = static_cast<int64_t>(x.dims.size());
  const TensorDesc places{DType::kI64, {rank, x.size()}};
  if (rank < 1 || rank > 8 || !is_countable(places)) return Decline{"a scalar, or more elements than kernels count"};
  NonZeroArgs args{};
  args.type = *type;
  args.count = x.size();
  args.rank = static_cast<int>(rank);
  for (size_t k = 0; k < x.dims.size(); ++k) args.dims[x.dims.size() - 1 - k] = Divider(x.dims[k]);
  PlannedStep step{.out = {places, kOne}};
  step.scratch_bytes = static_cast<size_t>(args.count / NonZeroArgs::kChunk + 2) * sizeof(int64_t);
  step.run = [args](const Buffers& b) {
    NonZeroArgs now = args;
    now.before = numbers_at(b.scratch);
    now.in = b.in<void>(0);
    now.out = b.out<int64_t>(0);
    now.found = b.out<int64_t>(1);
    launch(b, &Kernels::non_zero, now);
  };
  return step;
}

/// Inputs as NonMaxSuppression has them.
Expected<PlannedStep> plan_suppression(const Site& site) {
  enum Input { kBoxes, kScores, kMost, kOverlap, kScore };
  const TensorDesc &boxes = site.desc(kBoxes), &scores = site.desc(kScores);
  const auto type = float_of(boxes.dtype);
  const auto most = site.view.ints("", kMost, {0});
  if (!type || !most || most->size() != 1) return type ? Decline{"how many at most is not constant"} : type.error();
  if (boxes.dims.size() != 3 || scores.dims.size() != 3 || boxes.dims[2] != 4 || boxes.dtype != scores.dtype ||
      boxes.dims[0] != scores.dims[0] || boxes.dims[1] != scores.dims[2])
    return Decline{"boxes and scores do not fit"};
  for (const int i : {kOverlap, kScore})
    if (site.has(i) && (site.desc(i).dtype != DType::kF32 || site.desc(i).size() != 1)) return Decline{"no such limit"};
  SuppressionArgs args{};
  args.type = *type;
  args.centers = site.view.get_int("center_point_box", 0) != 0;
  args.batch = boxes.dims[0], args.classes = scores.dims[1], args.boxes = boxes.dims[1];
  args.most = std::clamp<int64_t>(most->front(), 0, args.boxes);
  const int64_t pairs = args.batch * args.classes;
  const TensorDesc kept{DType::kI64, {pairs * args.most, 3}};
  if (args.most == 0) return Decline{"no box is asked for"};
  if (!is_countable(kept) || !is_countable(scores) || !is_countable(boxes))
    return Decline{"more elements than kernels count"};
  PlannedStep step{.out = {kept, kOne}};
  const size_t numbers = static_cast<size_t>(pairs * args.most + pairs + 1) * sizeof(int64_t);
  step.scratch_bytes = numbers + static_cast<size_t>(scores.size());
  step.run = [args, pairs, numbers, overlap = site.has(kOverlap), score = site.has(kScore)](const Buffers& b) {
    SuppressionArgs now = args;
    now.corners = b.in<void>(kBoxes);
    now.scores = b.in<void>(kScores);
    now.overlap = overlap ? b.in<float>(kOverlap) : nullptr;
    now.score = score ? b.in<float>(kScore) : nullptr;
    now.kept = numbers_at(b.scratch);
    now.counts = now.kept + pairs * args.most;
    now.left = reinterpret_cast<uint8_t*>(b.scratch + numbers);
    now.out = b.out<int64_t>(0);
    now.found = b.out<int64_t>(1);
    launch(b, &Kernels::suppress, now);
  };
  return step;
}

Expected<PlannedStep> plan_unique(const Site& site) {
  constexpr int64_t kMostWork = int64_t{1} << 36;
  const TensorDesc& x = site.desc(0);
  const auto type = elem_of(x.dtype);
  if (!type) return type.error();
  const auto rank = static_cast<int64_t>(x.dims.size());
  Middle m{1, x.size(), 1};
  if (site.view.has("axis")) {
    const auto axis = static_cast<size_t>(normalize_axis(site.view.get_int("axis"), rank));
    m = around(x.dims, axis, axis + 1);
  }
  if (!is_countable(x)) return Decline{"more elements than kernels count"};
  if (x.size() > kMostWork / m.length) return Decline{"too many slices to compare each with all others"};
  UniqueArgs args{*type,   site.view.get_int("sorted", 1) != 0,
                  m.outer, m.length,
                  m.inner, nullptr,
                  nullptr, nullptr,
                  nullptr, nullptr,
                  nullptr};
  const TensorDesc list{DType::kI64, {m.length}};
  PlannedStep step{.out = {list, list, list, kOne}};
  step.scratch_bytes = list.bytes();
  step.run = [args](const Buffers& b) {
    UniqueArgs now = args;
    now.in = b.in<void>(0);
    now.members = numbers_at(b.scratch);
    now.first = b.out<int64_t>(0);
    now.group = b.out<int64_t>(1);
    now.sizes = b.out<int64_t>(2);
    now.found = b.out<int64_t>(3);
    launch(b, &Kernels::unique, now);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "mlopt", .op = "CountedNonZero", .plan = plan_non_zero},
    {.domain = "mlopt", .op = "CountedSuppression", .plan = plan_suppression},
    {.domain = "mlopt", .op = "CountedUnique", .plan = plan_unique},
};

}  // namespace

std::span<const Kernel> counted_kernels() { return kKernels; }

}  // namespace mlopt::gpu
