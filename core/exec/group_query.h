#pragma once
#include "core/base/expected.h"
#include "core/exec/kernel.h"
#include "core/ir/group_query.h"

// com.microsoft's GroupQueryAttention, as kernels on any device read it.
namespace mlopt::group_query {

/// Where heads lie in the input that has them: elements from its begin, and between its rows.
struct Place {
  int input = kQuery;
  int64_t offset = 0, row = 0;
};

struct Shape {
  int64_t batch = 0, rows = 0, heads = 0, kv_heads = 0;
  int64_t size = 0;  ///< of a head
  Place q, k, v;
  int64_t past = 0, total = 0;  ///< rows of the caches that come in, 0: none do; keys of the longest sample
  int64_t table = 0, half = 0;  ///< rows of cosines, and how many each has; 0: nothing is turned
  bool interleaved = false;     ///< neighbours are turned
  bool positions = false;       ///< the rows of cosines are given
  float scale = 1, cap = 0;     ///< of scores; 0: none
  int64_t window = 0;           ///< keys up to its own that a query sees; 0: all of those
  bool keys_out = false, values_out = false;

  /// Rows of the caches that come out.
  int64_t capacity() const { return past > total ? past : total; }
};

/// Declines where operands do not fit one another, a cache is quantized, scores are wanted, or how many keys there are
/// is not constant. Masks and sinks are not looked at.
Expected<Shape> shape_of(const Site& site);

}  // namespace mlopt::group_query
