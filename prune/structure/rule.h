#pragma once
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/ir/view.h"
#include "prune/structure/atoms.h"

namespace mlopt::prune {

/// Where an axis is split into several of which only one can lose elements (an embedding into heads and their
/// dimensions): the outer one (whole heads) or the inner one (the same dimensions of every head).
enum class SplitBy { kInner, kOuter };

/// Whether axes over which normalizations take their statistics stay, or these become the statistics of what is left.
enum class Statistics { kStay, kOfTheRest };

/// A place where an operator sums over an axis of an input: what is removed must add nothing there.
struct Contraction {
  const Node* node = nullptr;
  int input = 0;
  int axis = 0;
  bool mean = false;  ///< it divides the sum by how many there are
};

/// Axes of x whose elements, counted row-major, are those of axes of y: a part of what Reshape does.
struct Regrouping {
  const Node* node = nullptr;
  const Value *x = nullptr, *y = nullptr;
  std::vector<int> x_axes, y_axes;
};

/// Everything that the operators of a model say of its axes.
struct Relations {
  Atoms atoms;
  SplitBy split = SplitBy::kInner;
  Statistics statistics = Statistics::kStay;
  std::vector<Contraction> contractions;
  std::vector<const Node*> normalizations;  ///< whose statistics are those of what is left of their last axis
  std::vector<Regrouping> regroupings;      ///< settled when the rest is known
  std::unordered_set<const Value*> fixed;   ///< values that no input of the model changes
};

/// What a rule has to say of one operator. Ranks of all its inputs and outputs are known.
class Ties {
 public:
  Ties(Relations& all, const NodeView& view) : view(view), all_(all) {}

  const NodeView view;
  const Value* in(int i) const { return view.node().input(i); }
  const Value* out(int i = 0) const { return view.node().output(i); }
  static int rank(const Value& v) { return static_cast<int>(v.type.dims->size()); }
  /// The size where it is a known integer.
  static std::optional<int64_t> size(const Value& v, int axis);
  bool fixed(const Value& v) const { return all_.fixed.contains(&v); }

  /// The axes are one, element by element. Where their sizes are not known to be equal, both stay as they are.
  void tie(const Value* a, int axis_a, const Value* b, int axis_b);
  /// One element with one element.
  void tie(const Value* a, int axis_a, int64_t i, const Value* b, int axis_b, int64_t j);
  /// All axes of x with those of y, aligned at the end; where x has size 1 or no axis it is repeated.
  void tie_broadcast(const Value* x, const Value* y);
  /// All axes of x with those of y, of the same rank.
  void tie_all(const Value* x, const Value* y);
  void pin(const Value* v, int axis, const std::string& why);
  void pin(const Value* v, int axis, int64_t i, const std::string& why);
  void pin_from(const Value* v, int axis, const std::string& why);
  void pin_all(const Value* v, const std::string& why) { pin_from(v, 0, why); }
  /// All inputs and outputs.
  void pin_node(const std::string& why);

  /// The axis of a weight that has an output channel for each element.
  void produces(const Value* weight, int axis);
  void contracts(int input, int axis);
  /// Whose mean over the last axis of an input, or all whose statistics over that of the first, are those of the rest.
  bool over_the_rest() const { return all_.statistics == Statistics::kOfTheRest; }
  /// Do whole heads go where attention has them side by side? Else the same dimensions of all.
  bool whole_heads() const { return all_.split == SplitBy::kOuter; }
  void averages(int input, int axis);
  void normalizes();
  void heads(const Value* v, int axis);
  void regroup(const Value* x, std::vector<int> x_axes, const Value* y, std::vector<int> y_axes);

 private:
  std::string because(const std::string& why) const;

  Relations& all_;
};

class Rewriting;

/// How axes pass through operators, and what of an operator is rewritten when some elements go.
struct AxisRule {
  std::string_view domain;
  std::span<const std::string_view> ops;
  void (*tie)(Ties&) = nullptr;
  void (*rewrite)(Rewriting&) = nullptr;  ///< null: nothing but its weights changes
};

}  // namespace mlopt::prune
