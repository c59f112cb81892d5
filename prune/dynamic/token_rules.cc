#include "prune/dynamic/token_rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/ir/reduced_axes.h"
#include "core/ir/slice_span.h"
#include "prune/structure/rules.h"

namespace mlopt::prune {
namespace {

constexpr const char* kByPlace = "sees tokens by their places";
constexpr const char* kByNumber = "depends on how many tokens there are";

size_t axis_of(const NodeView& view, int64_t otherwise, size_t rank) {
  const int64_t axis = view.get_int("axis", otherwise);
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

int64_t product(const Dims& dims, size_t end) {
  int64_t n = 1;
  for (size_t i = 0; i < end; ++i) n *= dims[i];
  return n;
}

/// Element by element, broadcast: where one operand has tokens, each other has the same or one element.
void broadcast(TokenStep& s) {
  const size_t rank = TokenStep::dims(s.out()).size();
  const int operands = static_cast<int>(s.view.node().inputs().size());
  for (int i = 0; i < operands; ++i)
    for (const TokenAxis& t : s.at(i)) s.give({t.axis + rank - TokenStep::dims(s.in(i)).size(), t.outer, t.inner});
  for (int i = 0; i < operands; ++i) {
    if (!s.in(i)) continue;
    const Dims dims = TokenStep::dims(s.in(i));
    for (const TokenAxis& t : s.outputs) {
      if (t.axis + dims.size() < rank) continue;
      const size_t own = t.axis + dims.size() - rank;
      const TokenAxis same{own, t.outer, t.inner};
      if (dims[own] == 1 || std::find(s.at(i).begin(), s.at(i).end(), same) != s.at(i).end()) continue;
      s.problem = fmt::format("reads '{}', which has a part for each token", s.in(i)->name);
    }
  }
}

/// The same numbers in their order in another shape.
void relayout(TokenStep& s) {
  const Dims x = TokenStep::dims(s.in(0)), y = TokenStep::dims(s.out());
  for (const TokenAxis& t : s.at(0)) {
    const int64_t before = product(x, t.axis) * t.outer;
    bool found = false;
    for (size_t p = 0; p < y.size() && !found; ++p) {
      const int64_t skipped = product(y, p);
      if (before % skipped != 0 || y[p] % (before / skipped * s.tokens) != 0) continue;
      const int64_t outer = before / skipped;
      s.give({p, outer, y[p] / (outer * s.tokens)});
      found = true;
    }
    if (!found) s.problem = "takes tokens apart";
  }
  if (s.view.node().inputs().size() > 1 && !s.at(1).empty()) s.problem = kByNumber;
}

void transpose(TokenStep& s) {
  const size_t rank = TokenStep::dims(s.in(0)).size();
  std::vector<int64_t> perm = s.view.get_ints("perm");
  for (size_t i = rank; perm.size() < rank && i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  for (const TokenAxis& t : s.at(0))
    for (size_t i = 0; i < rank; ++i)
      if (perm[i] == static_cast<int64_t>(t.axis)) s.give({i, t.outer, t.inner});
}

/// Rows of tokens stay rows; over tokens themselves a product sums up as attention does, if both have them.
void product_of(TokenStep& s, size_t sum_a, size_t sum_b, size_t rows_a, size_t rows_b) {
  const size_t rank = TokenStep::dims(s.out()).size();
  if (s.on(0, sum_a) != s.on(1, sum_b)) s.problem = "multiplies by a weight for each token";
  for (const auto& [operand, sum, rows, to] :
       {std::array<size_t, 4>{0, sum_a, rows_a, rank - 2}, std::array<size_t, 4>{1, sum_b, rows_b, rank - 1}})
    for (const TokenAxis& t : s.at(static_cast<int>(operand))) {
      if (t.axis == sum && !t.alone()) s.problem = "sums over tokens and something else at once";
      if (t.axis == sum) continue;
      const size_t own = TokenStep::dims(s.in(static_cast<int>(operand))).size();
      s.give({t.axis == rows ? to : t.axis + rank - own, t.outer, t.inner});
    }
}

void matmul(TokenStep& s) {
  const Dims a = TokenStep::dims(s.in(0)), b = TokenStep::dims(s.in(1));
  if (a.size() < 2 || b.size() < 2) return void(s.problem = "has a vector as an operand");
  product_of(s, a.size() - 1, b.size() - 2, a.size() - 2, b.size() - 1);
  const size_t rank = TokenStep::dims(s.out()).size();
  for (const TokenAxis& t : s.outputs)
    for (int i = 0; i < 2 && t.axis + 2 < rank; ++i) {
      const Dims& dims = i == 0 ? a : b;
      if (t.axis + dims.size() < rank) continue;
      const size_t own = t.axis + dims.size() - rank;
      if (dims[own] != 1 && !s.on(i, own)) s.problem = "multiplies by a matrix for each token";
    }
}

void gemm(TokenStep& s) {
  const size_t a = s.view.get_int("transA", 0) ? 0 : 1, b = s.view.get_int("transB", 0) ? 1 : 0;
  product_of(s, a, b, 1 - a, 1 - b);
  if (!s.in(2)) return;
  const Dims c = TokenStep::dims(s.in(2));
  for (const TokenAxis& t : s.outputs)
    if (t.axis + c.size() >= 2 && c[t.axis + c.size() - 2] != 1 && !s.on(2, t.axis + c.size() - 2))
      s.problem = "adds a part for each token";
}

void reduce(TokenStep& s) {
  const std::string& op = s.view.node().op;
  const size_t rank = TokenStep::dims(s.in(0)).size();
  const auto reduced = reduced_axes(s.view, rank);
  if (!reduced) return void(s.problem = "reduces axes that are computed at run time");
  const bool pools = op == "ReduceMean" || op == "ReduceMax" || op == "ReduceMin";
  for (const TokenAxis& t : s.at(0)) {
    const auto gone = std::count(reduced->begin(), reduced->begin() + static_cast<std::ptrdiff_t>(t.axis), true);
    if (!(*reduced)[t.axis])
      s.give({s.view.get_int("keepdims", 1) ? t.axis : t.axis - static_cast<size_t>(gone), t.outer, t.inner});
    else if (!pools || !t.alone())
      s.problem = kByNumber;
  }
}

/// Axes from the normalization's on are one row.
void normalize(TokenStep& s) {
  const size_t axis = axis_of(s.view, -1, TokenStep::dims(s.in(0)).size());
  s.outputs = s.at(0);
  for (const TokenAxis& t : s.at(0))
    if (t.axis >= axis) s.problem = "takes statistics over tokens";
}

void softmax(TokenStep& s) {
  const size_t rank = TokenStep::dims(s.in(0)).size();
  const bool rest = s.view.opset() < 13;  // all axes from that one on are one
  const size_t axis = axis_of(s.view, rest ? 1 : -1, rank);
  s.outputs = s.at(0);
  for (const TokenAxis& t : s.at(0))
    if ((t.axis == axis && (!t.alone() || s.view.node().op == "LpNormalization")) ||
        (rest && t.axis >= axis && axis + 1 != rank))
      s.problem = "normalizes over tokens and something else at once";
}

void gather(TokenStep& s) {
  const Dims x = TokenStep::dims(s.in(0));
  const size_t axis = axis_of(s.view, 0, x.size());
  if (!s.at(1).empty()) return void(s.problem = kByPlace);
  const size_t places = TokenStep::dims(s.in(1)).size();
  const auto which = s.view.ints("", 1);
  for (const TokenAxis& t : s.at(0)) {
    if (t.axis != axis) {
      s.give({t.axis < axis ? t.axis : t.axis + places - 1, t.outer, t.inner});
      continue;
    }
    const bool first =
        which && t.alone() && std::all_of(which->begin(), which->end(), [](int64_t i) { return i == 0; });
    if (first)
      s.reads_first = true;
    else
      s.problem = kByPlace;
  }
}

void slice(TokenStep& s) {
  const Dims x = TokenStep::dims(s.in(0));
  const auto spans = slice_spans(s.view, x);
  if (!spans) return void(s.problem = "takes what is computed at run time");
  for (const TokenAxis& t : s.at(0)) {
    const SliceSpan& span = (*spans)[t.axis];
    if (span.first == 0 && span.step == 1 && span.count == x[t.axis])
      s.give(t);
    else if (span.first == 0 && span.count == 1 && t.alone())
      s.reads_first = true;
    else
      s.problem = kByPlace;
  }
}

void split(TokenStep& s) {
  const size_t axis = axis_of(s.view, 0, TokenStep::dims(s.in(0)).size());
  s.outputs = s.at(0);
  for (const TokenAxis& t : s.at(0))
    if (t.axis == axis) s.problem = kByPlace;
}

void concat(TokenStep& s) {
  const size_t axis = axis_of(s.view, 1, TokenStep::dims(s.out()).size());
  const int operands = static_cast<int>(s.view.node().inputs().size());
  for (int i = 0; i < operands; ++i)
    for (const TokenAxis& t : s.at(i)) s.give(t);
  for (const TokenAxis& t : s.outputs) {
    if (t.axis == axis) s.problem = kByPlace;
    for (int i = 0; i < operands; ++i)
      if (std::find(s.at(i).begin(), s.at(i).end(), t) == s.at(i).end())
        s.problem = fmt::format("reads '{}', which has a part for each token", s.in(i)->name);
  }
}

void expand(TokenStep& s) {
  const size_t more = TokenStep::dims(s.out()).size() - TokenStep::dims(s.in(0)).size();
  for (const TokenAxis& t : s.at(0)) s.give({t.axis + more, t.outer, t.inner});
  if (!s.at(1).empty()) s.problem = kByNumber;
}

/// The mean, or the largest, of all places of a picture.
void pool_all(TokenStep& s) {
  s.outputs = s.at(0);
  std::erase_if(s.outputs, [](const TokenAxis& t) { return t.axis >= 2 && t.alone(); });
  for (const TokenAxis& t : s.outputs)
    if (t.axis >= 2) s.problem = kByNumber;
}

void quantize(TokenStep& s) {
  s.outputs = s.at(0);
  const Dims scale = TokenStep::dims(s.in(1));
  if (product(scale, scale.size()) == 1) return;
  const size_t axis = axis_of(s.view, 1, TokenStep::dims(s.in(0)).size());
  for (const TokenAxis& t : s.at(0))
    if (t.axis == axis || scale.size() != 1) s.problem = "has a scale for each token";
}

/// Their number or their places are not seen.
void none(TokenStep&) {}

struct Row {
  void (*as)(Ties&);  ///< the rule of channels for the same operators
  void (*step)(TokenStep&);
};
constexpr Row kRows[] = {{rules::unary, broadcast},
                         {rules::broadcast, broadcast},
                         {rules::reshape, relayout},
                         {rules::flatten, relayout},
                         {rules::squeeze, relayout},
                         {rules::unsqueeze, relayout},
                         {rules::transpose, transpose},
                         {rules::matmul, matmul},
                         {rules::gemm, gemm},
                         {rules::layer_normalization, normalize},
                         {rules::softmax, softmax},
                         {rules::reduce, reduce},
                         {rules::reduce_sum, reduce},
                         {rules::gather, gather},
                         {rules::slice, slice},
                         {rules::split, split},
                         {rules::concat, concat},
                         {rules::expand, expand},
                         {rules::quantization, quantize},
                         {rules::shape, none}};

}  // namespace

void step_tokens(TokenStep& s) {
  const Node& node = s.view.node();
  std::vector<const Value*> all(node.inputs().begin(), node.inputs().end());
  all.push_back(node.first_output());
  for (const Value* v : all)
    if (v && element_count(v->type.static_dims().value_or(Dims{0})) == 0)
      return void(s.problem = fmt::format("has to do with '{}', whose shape is not known or empty", v->name));
  if (node.is("GlobalAveragePool") || node.is("GlobalMaxPool")) return pool_all(s);
  const AxisRule* known = rule_of(node);
  for (const Row& row : kRows)
    if (known && known->tie == row.as) return row.step(s);
  s.problem = "does with tokens what is not known here";
}

}  // namespace mlopt::prune
