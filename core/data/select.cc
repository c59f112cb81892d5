#include "core/data/select.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "core/base/error.h"
#include "core/base/rng.h"

namespace mlopt {
namespace {

using Indices = std::vector<int64_t>;

constexpr int64_t kMostSamples = int64_t{1} << 28;  // their indices are held in memory

/// The first `quota[class]` of each class, in the order they stand.
Indices first_of_each(const Indices& from, const std::vector<int64_t>& classes, std::map<int64_t, int64_t> quota) {
  Indices chosen;
  for (size_t i = 0; i < from.size(); ++i) {
    if (quota[classes[i]]-- > 0) chosen.push_back(from[i]);
  }
  return chosen;
}

/// `limit` shared out evenly; what small classes cannot give goes to the others, one by one in class order.
std::map<int64_t, int64_t> even_quota(const std::map<int64_t, int64_t>& sizes, int64_t limit) {
  std::map<int64_t, int64_t> quota;
  auto open = sizes;  // what each class can still give
  while (limit > 0 && !open.empty()) {
    const int64_t share = std::max<int64_t>(limit / static_cast<int64_t>(open.size()), 1);
    for (auto it = open.begin(); it != open.end() && limit > 0;) {
      const int64_t taken = std::min({share, it->second, limit});
      quota[it->first] += taken;
      limit -= taken;
      it = (it->second -= taken) == 0 ? open.erase(it) : std::next(it);
    }
  }
  return quota;
}

Indices limited(const Indices& from, const std::vector<int64_t>& classes, int64_t limit) {
  const auto size = static_cast<int64_t>(from.size());
  if (limit >= size) return from;
  if (classes.empty()) return {from.begin(), from.begin() + limit};
  std::map<int64_t, int64_t> sizes;
  for (const int64_t c : classes) ++sizes[c];
  return first_of_each(from, classes, even_quota(sizes, limit));
}

void shuffle(Indices& indices, uint64_t seed) {
  Rng rng(seed);
  for (size_t i = indices.size(); i > 1; --i) {
    std::swap(indices[i - 1], indices[static_cast<size_t>(rng.integer(0, static_cast<int64_t>(i) - 1))]);
  }
}

}  // namespace

std::array<int64_t, 2> places_of(const std::array<double, 2>& split, int64_t size) {
  constexpr double kRounding = 1 + 1e-15;  // 0.29 * 100 is a little less than 29
  const auto all = static_cast<double>(size);
  const double unit = split[1] <= 1 ? all * kRounding : 1;
  const auto place = [&](double at) { return static_cast<int64_t>(std::min(at * unit, all)); };
  return {place(split[0]), place(split[1])};
}

Indices select_samples(int64_t size, const Selection& selection, uint64_t seed,
                       const std::function<std::optional<int64_t>(int64_t)>& class_of, const std::string& where) {
  if (size == 0) input_error("the data hold no samples", where, "give at least one");
  if (size > kMostSamples)
    input_error(fmt::format("the data claim {} samples", size), where, "split them into smaller files");
  Indices chosen(static_cast<size_t>(size));
  std::iota(chosen.begin(), chosen.end(), 0);
  const auto classes = [&] {
    std::vector<int64_t> all;
    for (const int64_t i : chosen) {
      const auto c = class_of(i);
      if (!c) return std::vector<int64_t>();
      all.push_back(*c);
    }
    return all;
  };
  if (selection.limit) chosen = limited(chosen, classes(), *selection.limit);
  if (selection.per_class) {
    const std::vector<int64_t> all = classes();
    if (all.empty()) input_error("per-class needs labels, and the data have none", where, "use limit=N");
    std::map<int64_t, int64_t> quota;
    for (const int64_t c : all) quota[c] = *selection.per_class;
    chosen = first_of_each(chosen, all, quota);
  }
  if (selection.every) {
    Indices kept;
    for (size_t i = 0; i < chosen.size(); i += static_cast<size_t>(*selection.every)) kept.push_back(chosen[i]);
    chosen = std::move(kept);
  }
  if (selection.shuffle) shuffle(chosen, seed);
  if (selection.split) {
    const auto [begin, end] = places_of(*selection.split, static_cast<int64_t>(chosen.size()));
    chosen = {chosen.begin() + begin, chosen.begin() + end};
  }
  if (chosen.empty()) input_error("no sample is left after the selection", where, "widen limit, every or split");
  return chosen;
}

}  // namespace mlopt
