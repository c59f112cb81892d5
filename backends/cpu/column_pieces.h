#pragma once
#include <algorithm>

#include "core/base/parallel.h"
#include "core/ir/middle.h"

namespace mlopt::cpu {

/// fn(outer, first, count) for the columns [first, first + count) of [outer, length, inner], at most `most` at a time,
/// so that what is kept of each stays in the first cache while all rows pass. Shared among threads from `grain`
/// elements on.
template <class Fn>
void for_column_pieces(const Middle& m, int64_t most, int64_t grain, const Fn& fn) {
  const int64_t pieces = (m.inner + most - 1) / most;
  const int64_t items = std::max<int64_t>(1, grain / (m.length * std::min(m.inner, most)));
  parallel_for(m.outer * pieces, items, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % pieces * most;
      fn(i / pieces, first, std::min(most, m.inner - first));
    }
  });
}

}  // namespace mlopt::cpu
