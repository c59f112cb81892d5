#include "core/train/angles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

#include "core/tensor/cast.h"

namespace mlopt::train {
namespace {

/// Operators that angles are made by, from frequencies and positions.
constexpr std::array<std::string_view, 17> kMaking{"Add",    "Cast",    "Concat", "Expand",     "Gather",   "Identity",
                                                   "MatMul", "Mul",     "Einsum", "Reciprocal", "Reshape",  "Slice",
                                                   "Split",  "Squeeze", "Tile",   "Transpose",  "Unsqueeze"};

/// What reads a value in the end.
struct Readers {
  bool cosine = false, sine = false, rotary = false, other = false;
};

/// Reads on until something else than angles is found.
Readers readers_of(const Value& made) {
  Readers found;
  std::vector<const Value*> open{&made};
  std::unordered_set<const Value*> seen{&made};
  const auto read = [&](const Use& use) {
    const Node& node = *use.node;
    if (node.is("Cos")) {
      found.cosine = true;
    } else if (node.is("Sin")) {
      found.sine = true;
    } else if (node.op == "RotaryEmbedding" && use.index > 0) {
      found.rotary = true;
    } else if (node.domain.empty() && std::ranges::count(kMaking, node.op) > 0) {
      for (const Value* next : node.outputs())
        if (next && seen.insert(next).second) open.push_back(next);
    } else {
      found.other = true;
    }
  };
  while (!open.empty() && !found.other) {
    const Value& v = *open.back();
    open.pop_back();
    found.other = v.is_output();
    for (const Use& use : v.uses) read(use);
  }
  return found;
}

bool makes_angles(const Value& v) {
  const Readers found = readers_of(v);
  return !found.other && (found.rotary || (found.cosine && found.sine));
}

/// Elements i and j of a table and of the same or another one.
struct Pair {
  int64_t i = 0, j = 0;
};

/// Do the squares of so many pairs add up to 1? Not of ones and zeros, as new normalizations have them.
template <class PairAt>
bool are_cosines_and_sines(const Tensor& a, const Tensor& b, int64_t count, const PairAt& pair_at) {
  constexpr double kClose = 1e-2, kPlain = 1e-3;  // half floats
  bool plain = true;
  for (int64_t n = 0; n < count; ++n) {
    const Pair at = pair_at(n);
    const double x = number_at(a, at.i), y = number_at(b, at.j);
    if (!(std::abs(x * x + y * y - 1) < kClose)) return false;
    plain = plain && (std::abs(x) < kPlain || std::abs(y) < kPlain);
  }
  return !plain;
}

bool are_two_tables(const Tensor& a, const Tensor& b) {
  return a.rank() >= 2 && a.dims() == b.dims() && are_cosines_and_sines(a, b, a.size(), [](int64_t n) {
           return Pair{n, n};
         });
}

/// Both in one, in the halves of a row or by turns.
bool is_table_of_both(const Tensor& t) {
  const int64_t half = t.rank() < 2 ? 0 : t.dims().back() / 2;
  if (half == 0 || half * 2 != t.dims().back()) return false;
  const auto halves = [&](int64_t n) {
    return Pair{n / half * 2 * half + n % half, (n / half * 2 + 1) * half + n % half};
  };
  const auto by_turns = [](int64_t n) { return Pair{2 * n, 2 * n + 1}; };
  return are_cosines_and_sines(t, t, t.size() / 2, halves) || are_cosines_and_sines(t, t, t.size() / 2, by_turns);
}

}  // namespace

std::vector<const Value*> angles(const std::vector<Value*>& initializers) {
  std::vector<const Value*> found;
  for (const Value* v : initializers) {
    const Tensor& table = *v->constant;
    const auto beside = [&](const Value* other) { return other != v && are_two_tables(table, *other->constant); };
    if (makes_angles(*v) || is_table_of_both(table) || std::ranges::any_of(initializers, beside)) found.push_back(v);
  }
  return found;
}

}  // namespace mlopt::train
