// RotaryEmbedding of both domains: pairs of a head's first elements are turned, the others copied.
#include "backends/cpu/rotary.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

/// Where the two domains have their operands.
struct Operands {
  int cosines, sines, positions;
};

/// Element i of a head turns with i + half, or 2 i with 2 i + 1 where interleaved.
struct Rotation {
  int64_t batch = 0, heads = 0, rows = 0, size = 0;
  int64_t half = 0;   ///< pairs
  int64_t table = 0;  ///< rows of cosines
  bool interleaved = false;
  bool inside = false;      ///< the heads lie within a row: [batch, rows, heads, size]
  bool start_only = false;  ///< one position, that of the first row
  bool shared = false;      ///< without positions: all samples have the rows of one
};

struct Tables {
  const float *cosines, *sines;
  const int64_t* positions;  ///< null: each row has a row of its own
};

/// The row of the table for row `r` of sample `b`.
int64_t place(const Rotation& n, const int64_t* positions, int64_t b, int64_t r) {
  if (!positions) return n.shared ? r : b * n.rows + r;
  return n.start_only ? positions[0] + r : positions[b * n.rows + r];
}

/// Throws Error{kBadInput} for positions that the table has not.
void check_places(const Rotation& n, const int64_t* positions) {
  for (int64_t b = 0; b < n.batch; ++b)
    for (int64_t r = 0; r < n.rows; ++r)
      if (const int64_t at = place(n, positions, b, r); at < 0 || at >= n.table)
        input_error(fmt::format("position {} in a table of {}", at, n.table));
}

void turn_halves(const float* __restrict x, float* __restrict y, const float* __restrict c, const float* __restrict s,
                 int64_t half) {
  for (int64_t i = 0; i < half; ++i) {
    y[i] = c[i] * x[i] - s[i] * x[half + i];
    y[half + i] = s[i] * x[i] + c[i] * x[half + i];
  }
}

void turn_neighbours(const float* __restrict x, float* __restrict y, const float* __restrict c,
                     const float* __restrict s, int64_t half) {
  for (int64_t i = 0; i < half; ++i) {
    const float real = x[2 * i], imaginary = x[2 * i + 1];
    y[2 * i] = c[i] * real - s[i] * imaginary;
    y[2 * i + 1] = s[i] * real + c[i] * imaginary;
  }
}

using TurnPairs = void (*)(const float* __restrict, float* __restrict, const float* __restrict, const float* __restrict,
                           int64_t);

template <TurnPairs turn>
void turn_line(const Turn& by, const float* x, float* y, int64_t size) {
  turn(x, y, by.cosines, by.sines, by.half);
  std::copy(x + 2 * by.half, x + size, y + 2 * by.half);
}

/// Turns the lines from `begin` to `end`, which lie as in memory: rows of heads, or heads of rows.
template <TurnPairs turn>
void rotate_lines(const Rotation& n, const Tables& t, const float* x, float* y, int64_t begin, int64_t end) {
  const int64_t inner = n.inside ? n.heads : n.rows, outer = n.inside ? n.rows : n.heads;
  int64_t i = begin % inner, o = begin / inner % outer, b = begin / inner / outer;
  for (int64_t line = begin; line < end; ++line) {
    const int64_t at = place(n, t.positions, b, n.inside ? o : i) * n.half;
    const float* from = x + line * n.size;
    float* to = y + line * n.size;
    turn_line<turn>({t.cosines + at, t.sines + at, n.half}, from, to, n.size);
    if (++i < inner) continue;
    i = 0;
    if (++o < outer) continue;
    o = 0, ++b;
  }
}

void rotate(const Rotation& n, const Tables& t, const float* x, float* y) {
  constexpr int64_t kGrain = 8192;  // elements below which a second thread costs more than it brings
  const auto lines = n.interleaved ? rotate_lines<turn_neighbours> : rotate_lines<turn_halves>;
  parallel_for(n.batch * n.heads * n.rows, std::max<int64_t>(1, kGrain / n.size),
               [&](int64_t begin, int64_t end) { lines(n, t, x, y, begin, end); });
}

Expected<Rotation> rotation_of(const Site& site, const Operands& where) {
  const TensorDesc &x = site.desc(0), &cosines = site.desc(where.cosines), &sines = site.desc(where.sines);
  if (x.dtype != DType::kF32 || cosines.dtype != x.dtype || sines.dtype != x.dtype) return Decline{"not float32"};
  if (site.view.get_int("is_packed_batching", 0) != 0) return Decline{"batches are packed"};
  const size_t rank = x.dims.size();
  if ((rank != 3 && rank != 4) || x.size() == 0) return Decline{"neither 3 nor 4 axes"};
  if (sines.dims != cosines.dims || cosines.dims.size() < 2 || cosines.size() == 0)
    return Decline{"the tables do not fit"};
  Rotation n;
  n.interleaved = site.view.get_int("interleaved", 0) != 0;
  n.inside = rank == 3;
  n.half = cosines.dims.back(), n.table = cosines.size() / n.half;
  n.batch = x.dims[0], n.rows = x.dims[rank - 2];
  n.heads = rank == 4 ? x.dims[1] : site.view.get_int("num_heads", 0);
  if (n.heads == 0) n.heads = x.dims[2] / (2 * n.half);
  if (n.heads < 1 || (rank == 3 && x.dims[2] % n.heads != 0)) return Decline{"the heads do not fit"};
  n.size = rank == 4 ? x.dims[3] : x.dims[2] / n.heads;
  const int64_t turned = site.view.get_int("rotary_embedding_dim", 0), count = n.batch * n.rows;
  if ((turned != 0 && turned != 2 * n.half) || 2 * n.half > n.size) return Decline{"the tables do not fit"};
  if (!site.has(where.positions)) {
    n.shared = cosines.dims.size() == 3 && cosines.dims[0] == 1;
    return n.table >= (n.shared ? n.rows : count) ? Expected(n) : Decline{"the tables are too short"};
  }
  const TensorDesc& positions = site.desc(where.positions);
  n.start_only = positions.size() == 1 && count != 1;
  if (positions.dtype != DType::kI64 || (!n.start_only && positions.size() != count))
    return Decline{"the positions do not fit"};
  return n;
}

Expected<PlannedStep> plan(const Site& site) {
  const Operands where = site.view.node().domain.empty() ? Operands{1, 2, 3} : Operands{2, 3, 1};
  const auto rotation = rotation_of(site, where);
  if (!rotation) return rotation.error();
  PlannedStep step{.out = {site.desc(0)}};
  step.run = [n = *rotation, where, given = site.has(where.positions)](const Buffers& b) {
    const Tables t{b.in<float>(where.cosines), b.in<float>(where.sines),
                   given ? b.in<int64_t>(where.positions) : nullptr};
    if (t.positions) check_places(n, t.positions);
    rotate(n, t, b.in<float>(0), b.out<float>(0));
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "RotaryEmbedding", .plan = plan},
    {.domain = "com.microsoft", .op = "RotaryEmbedding", .plan = plan},
};

}  // namespace

void turn_head(bool interleaved, const Turn& turn, const float* x, float* y, int64_t size) {
  (interleaved ? turn_line<turn_neighbours> : turn_line<turn_halves>)(turn, x, y, size);
}

std::span<const Kernel> rotary_kernels() { return kKernels; }

}  // namespace mlopt::cpu
