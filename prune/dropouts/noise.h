#pragma once
#include <functional>
#include <string>

#include "core/train/constraint.h"
#include "prune/penalties/ramp.h"

namespace mlopt::prune {

/// Whatever read the value reads what `make` gives for it. The graph is to be sorted then.
void read_through(Value* value, const std::function<Value*(Value*)>& make);

/// What the graph of updates leaves for the next run of that of gradients, a float32 value of a training's state.
Value* left_over(train::Builder& gradients, const std::string& name, const Dims& dims);

/// Numbers by chance in a graph of a training: they follow from the seed and the number of the update alone, so that
/// all ranks and a training that is resumed draw the same.
class Chance {
 public:
  /// `update`: a float32 scalar.
  Chance(train::Builder& build, Value* update, uint64_t seed);

  /// Uniform in [0, 1), float32; other numbers with each call.
  Value* uniform(const Dims& dims);
  /// Standard normal.
  Value* normal(const Dims& dims);

 private:
  Value* draw(const char* op, const Dims& dims);

  train::Builder& build_;
  Value* keys_;
  int64_t node_ = 0;
};

/// The moment at which what is to go is removed: before it there is noise, afterwards what is zero stays zero.
struct Removal {
  Removal(train::Constraint& at, double end);

  Value *now, *past;  ///< bool scalars
  Value* over;        ///< one of them
  Value* progress;    ///< float32 scalar, which grows from 0 to 1 until then

  /// What `next` of a parameter is to be multiplied by: by `staying`, bool, at the moment; then by `alive`, bool.
  Value* factor(train::Builder& b, Value* staying, Value* alive) const;
};

/// States of a training with noise: what the loss pays for each number that stays, is there noise (1 or 0), the number
/// of the update.
inline constexpr const char *kPull = "prune/pull", *kLoud = "prune/noise", *kUpdate = "prune/update";

/// Their next values. The pull grows while `gone`, how many of `total` would go by now (float32 scalar), are fewer than
/// the plan wants, and shrinks else, within what is on the scale of a loss; behind the removal it is zero.
void keep_noise(train::Constraint& at, const Removal& removal, int64_t total, Value* gone, const PenaltyPlan& plan);

}  // namespace mlopt::prune
