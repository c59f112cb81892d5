#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/train/builder.h"

namespace mlopt::distill {

/// What a loss compares: a tensor of the student with one of a teacher, of the same batch. Both are floats whose first
/// axis is the sample.
struct PairArgs {
  train::Builder& build;
  Value *student, *teacher;
  double temperature;            ///< of softened class scores
  std::vector<Value*>& learned;  ///< gets the initializers of the loss that are trained too
  uint64_t seed;                 ///< of these
  std::string where;             ///< the pair, for messages
};

/// A loss between student and teacher, a scalar: the mean over the batch.
struct LossDef {
  std::string_view name;
  std::string_view doc;  ///< one line
  Value* (*build)(PairArgs&);
  double weight;  ///< where none is given
};

// One a file.
Value* kl_loss(PairArgs& args);
Value* mse_loss(PairArgs& args);
Value* cosine_loss(PairArgs& args);
Value* hidden_loss(PairArgs& args);
Value* hint_loss(PairArgs& args);
Value* attention_transfer_loss(PairArgs& args);
Value* attention_map_loss(PairArgs& args);
Value* rkd_distance_loss(PairArgs& args);
Value* rkd_angle_loss(PairArgs& args);

std::span<const LossDef> losses();
/// Throws Error{kUsage} with the nearest name where there is none of that name.
const LossDef& find_loss(std::string_view name, const char* option);

/// Throws Error{kBadInput} saying both shapes.
[[noreturn]] void shapes_error(const PairArgs& args, std::string_view why);
/// Throws unless both have the same shape.
void require_same_shape(const PairArgs& args);
/// The student's tensor as wide as the teacher's: by a learned linear layer along the one axis where they differ, or
/// where none does along the axis of features if `always`. Pictures are averaged to the smaller size first, both.
struct Fitted {
  Value *student, *teacher;
};
Fitted fitted(PairArgs& args, bool always);

}  // namespace mlopt::distill
