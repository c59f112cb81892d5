#pragma once
#include <string>
#include <vector>

#include "core/rewrite/pass.h"
#include "core/train/batch_inputs.h"

namespace mlopt::distill {

/// A network that is followed: its weights stay, its normalizations keep to their running statistics.
struct Teacher {
  Model model;                    ///< its input shapes bound
  std::vector<size_t> inputs;     ///< which input of the student each of its inputs reads
  std::vector<std::string> taps;  ///< values that the student follows; the outputs of `model` once it is tapped
};

/// The teacher under the opset of the student and for its batches. Throws Error{kBadInput} where it does not
/// take what the student takes, and Error{kUnsupported} where it has no such opset.
Teacher make_teacher(const Model& model, const Model& student, const train::BatchInputs& inputs, TypeRule types);

/// Leaves of the model only what gives `taps`, made as fast as for inference.
void tap(Teacher& teacher, const PassContext& context);

/// Puts a tapped teacher beside the student, whose inputs it reads: the values of its taps.
std::vector<Value*> graft(Model& student, const Teacher& teacher);

}  // namespace mlopt::distill
