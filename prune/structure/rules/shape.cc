#include <algorithm>

#include "core/base/text.h"
#include "prune/structure/rules.h"

namespace mlopt::prune::rules {
namespace {

constexpr std::string_view kMoves[] = {"Gather", "Slice", "Concat", "Unsqueeze", "Squeeze", "Identity", "Split"};
constexpr std::string_view kTargets[] = {"Reshape", "Expand", "ConstantOfShape"};

template <size_t N>
bool among(const std::string_view (&list)[N], const std::string& op) {
  return std::find(std::begin(list), std::end(list), op) != std::end(list);
}

/// Do the numbers end as shapes, which are rewritten, and nowhere else?
bool only_shapes(const Value& v, int depth) {
  if (v.is_output() || depth == 0) return false;
  return std::all_of(v.uses.begin(), v.uses.end(), [&](const Use& use) {
    if (among(kTargets, use.node->op)) return true;
    return among(kMoves, use.node->op) && use.node->output(0) && only_shapes(*use.node->output(0), depth - 1);
  });
}

/// Are the numbers that are read those of axes whose size is free?
bool reads_free_axes(const NodeView& shape, const Value& x) {
  const int64_t start = shape.get_int("start", 0);
  return start == 0 &&
         std::all_of(shape.node().output(0)->uses.begin(), shape.node().output(0)->uses.end(), [&](const Use& use) {
           const auto index =
               use.node->is("Gather") && use.index == 0 ? NodeView(*use.node, shape.opset()).ints("", 1) : std::nullopt;
           if (!index) return false;
           return std::all_of(index->begin(), index->end(),
                              [&](int64_t i) { return !Ties::size(x, static_cast<int>(i)); });
         });
}

}  // namespace

/// Sizes may be read where they end as shapes again.
void shape(Ties& t) {
  const Value *x = t.in(0), *y = t.out();
  constexpr int kLongest = 12;
  if (!y || (y->uses.empty() && !y->is_output())) return;
  const bool harmless =
      t.view.node().op == "Shape" && !y->is_output() && (reads_free_axes(t.view, *x) || only_shapes(*y, kLongest));
  if (!harmless) t.pin_all(x, "its size is computed with");
}

}  // namespace mlopt::prune::rules
