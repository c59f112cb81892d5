#include "backends/cpu/byte_quads.h"

#include <algorithm>
#include <cstddef>

namespace mlopt::cpu {
namespace {

// 255 times the weights of one sign that a 16-bit sum takes in must fit: 255 * 128 does.
constexpr int kMost = 128;

/// For each sum in 16 bits, of two weights: what the positive ones come to, and the negative ones. Of a step, the
/// former come first.
void load_of(const int8_t* weights, size_t sums, uint8_t* loads) {
  for (size_t i = 0; i < sums; ++i) {
    const int a = weights[2 * i], b = weights[2 * i + 1];
    loads[i] = static_cast<uint8_t>(std::max(a, 0) + std::max(b, 0));
    loads[sums + i] = static_cast<uint8_t>(std::min(-std::min(a, 0) - std::min(b, 0), 255));  // 256 is too much too
  }
}

bool fits(const uint8_t* loads, size_t length) {
  uint8_t most = 0;
  for (size_t i = 0; i < length; ++i) most = std::max(most, loads[i]);
  return most <= kMost;
}

/// Halves of the sums, rounded up, stay in 8 bits.
bool fit_together(const uint8_t* a, const uint8_t* b, size_t length) {
  uint8_t most = 0;
  for (size_t i = 0; i < length; ++i) most = std::max(most, static_cast<uint8_t>((a[i] + b[i] + 1) / 2));
  return most <= kMost / 2;
}

/// The steps and what they load on sums, in the order in which they are given.
struct Steps {
  QuadPanel panel;
  std::vector<uint8_t> loads;
  size_t length;  ///< numbers of a step, and loads of it

  size_t count() const { return panel.order.size(); }
  int8_t* weights(size_t step) { return panel.weights.data() + step * length; }
  const uint8_t* loads_of(size_t step) const { return loads.data() + step * length; }
  void weigh(size_t step) { load_of(weights(step), length / 2, loads.data() + step * length); }
};

/// Appends a step that takes over a half of the weights of a step whose sums may leave 16 bits.
void split(Steps& s, size_t step) {
  s.panel.order.push_back(s.panel.order[step]);
  s.panel.weights.resize(s.panel.weights.size() + s.length, 0);
  s.loads.resize(s.panel.weights.size());
  const size_t sums = s.length / 2, last = s.count() - 1;
  for (size_t i = 0; i < sums; ++i) {
    if (s.loads_of(step)[i] <= kMost && s.loads_of(step)[sums + i] <= kMost) continue;
    for (size_t k = 2 * i; k < 2 * i + 2; ++k) {
      int8_t& weight = s.weights(step)[k];
      s.weights(last)[k] = static_cast<int8_t>(weight / 2);
      weight = static_cast<int8_t>(weight - weight / 2);
    }
  }
  s.weigh(step);
  s.weigh(last);
}

/// The steps in pairs that fit together, then the others.
std::vector<size_t> paired(const Steps& s, int64_t& twos) {
  constexpr int kTries = 24;
  std::vector<bool> taken(s.count(), false);
  std::vector<size_t> order, alone;
  for (size_t i = 0; i < s.count(); ++i) {
    if (taken[i]) continue;
    size_t found = s.count();
    for (size_t j = i + 1, tries = 0; j < s.count() && tries < kTries && found == s.count(); ++j) {
      if (taken[j]) continue;
      ++tries;
      if (fit_together(s.loads_of(i), s.loads_of(j), s.length)) found = j;
    }
    if (found == s.count()) {
      alone.push_back(i);
      continue;
    }
    taken[found] = true;
    order.insert(order.end(), {i, found});
  }
  twos = static_cast<int64_t>(order.size() / 2);
  order.insert(order.end(), alone.begin(), alone.end());
  return order;
}

}  // namespace

QuadPanel order_quads(std::vector<int8_t> weights, int64_t columns) {
  const auto length = static_cast<size_t>(4 * columns), steps = weights.size() / length;
  Steps given{{std::move(weights), {}}, std::vector<uint8_t>(steps * length), length};
  for (size_t i = 0; i < steps; ++i) given.panel.order.push_back(static_cast<int32_t>(4 * i));
  for (size_t i = 0; i < steps; ++i) {
    given.weigh(i);
    if (!fits(given.loads_of(i), length)) split(given, i);
  }
  QuadPanel ordered;
  ordered.weights.reserve(given.panel.weights.size());
  for (const size_t i : paired(given, ordered.twos)) {
    ordered.weights.insert(ordered.weights.end(), given.weights(i), given.weights(i) + length);
    ordered.order.push_back(given.panel.order[i]);
  }
  return ordered;
}

}  // namespace mlopt::cpu
