// TfIdfVectorizer of numbers: each n-gram is looked for in each row.
#include <algorithm>
#include <map>
#include <set>

#include "backends/gpu/kernels.h"
#include "backends/gpu/places.h"

namespace mlopt::gpu {
namespace {

struct Grams {
  std::vector<Gram> table;
  std::vector<int64_t> pool;
  int64_t columns = 0;
};

/// Those of the lengths that are asked for; of two that are the same, the first.
Expected<Grams> grams_of(const NodeView& view) {
  Grams made{{}, view.get_ints("pool_int64s"), 0};
  const std::vector<int64_t> begins = view.get_ints("ngram_counts"), columns = view.get_ints("ngram_indexes");
  const std::vector<float> weights = view.has("weights") ? view.get_floats("weights") : std::vector<float>();
  const int64_t shortest = view.get_int("min_gram_length"), longest = view.get_int("max_gram_length");
  for (const int64_t column : columns) {
    if (column < 0 || column >= (1 << 30)) return Decline{"a column is out of range"};
    made.columns = std::max(made.columns, column + 1);
  }
  if (!weights.empty() && static_cast<int64_t>(weights.size()) < made.columns) return Decline{"too few weights"};
  std::set<std::vector<int64_t>> known;
  std::set<int64_t> taken;
  size_t gram = 0;
  const auto all = static_cast<int64_t>(made.pool.size());
  for (size_t n = 1; n <= begins.size(); ++n) {
    const int64_t begin = begins[n - 1], end = n < begins.size() ? begins[n] : all;
    const auto length = static_cast<int64_t>(n);
    if (begin < 0 || begin > end || end > all) return Decline{"ngram_counts does not fit the pool"};
    for (int64_t at = begin; at + length <= end; at += length, ++gram) {
      if (gram == columns.size()) return Decline{"ngram_indexes is shorter than the pool"};
      const std::vector<int64_t> numbers(made.pool.begin() + at, made.pool.begin() + at + length);
      if (length < shortest || length > longest || !known.insert(numbers).second) continue;
      if (!taken.insert(columns[gram]).second) return Decline{"two n-grams share a column"};
      const auto column = static_cast<size_t>(columns[gram]);
      made.table.push_back({static_cast<int32_t>(at), static_cast<int32_t>(length), static_cast<int32_t>(column),
                            weights.empty() ? 1.0f : weights[column]});
    }
  }
  return made;
}

Expected<PlannedStep> plan(const Site& site) {
  static const std::map<std::string_view, GramMode> kKnown{
      {"TF", GramMode::kCount}, {"IDF", GramMode::kFound}, {"TFIDF", GramMode::kWeighted}};
  const TensorDesc& x = site.desc(0);
  const auto wide = has_wide_places(x);
  if (!wide) return Decline{"numbers that are neither int32 nor int64"};
  const auto mode = kKnown.find(site.view.get_string("mode", ""));
  const int64_t skips = site.view.get_int("max_skip_count");
  if (mode == kKnown.end() || skips < 0 || x.dims.empty() || x.dims.size() > 2) return Decline{"an unknown mode"};
  const auto grams = grams_of(site.view);
  if (!grams) return grams.error();
  const bool matrix = x.dims.size() == 2;
  const int64_t rows = matrix ? x.dims[0] : 1, length = x.dims.back();
  const TensorDesc out{DType::kF32, matrix ? Dims{rows, grams->columns} : Dims{grams->columns}};
  const auto count = static_cast<int64_t>(grams->table.size());
  if (count == 0 || !is_countable(out) || !is_countable({DType::kF32, {rows, count}}))
    return Decline{"no n-grams, or more than kernels count"};
  const GramsArgs args{mode->second, *wide,   rows,    length, grams->columns, count, std::min(skips, length),
                       nullptr,      nullptr, nullptr, nullptr};
  PlannedStep step{.out = {out}};
  step.run = [args, all = out.size(), table = brought(grams->table), pool = brought(grams->pool)](const Buffers& b) {
    GramsArgs now = args;
    now.table = reinterpret_cast<const Gram*>(table->at(queue_of(b)));
    now.pool = reinterpret_cast<const int64_t*>(pool->at(queue_of(b)));
    now.in = b.in<void>(0);
    now.out = b.out<float>(0);
    launch(b, &Kernels::fill, FillArgs{sizeof(float), nullptr, now.out, all});
    launch(b, &Kernels::count_grams, now);
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "TfIdfVectorizer", .plan = plan}};

}  // namespace

std::span<const Kernel> gram_kernels() { return kKernels; }

}  // namespace mlopt::gpu
