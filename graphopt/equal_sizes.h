#pragma once
#include <map>
#include <string>

#include "core/ir/infer.h"
#include "core/ir/model.h"

namespace mlopt::graphopt {

/// Free dimensions of inputs, by name, and what they are in terms of the others in every run, because Concat and
/// products of matrices that a run meets take no other sizes: caches that exporters name one by one. Reads types as
/// they are inferred.
std::map<std::string, Dim> equal_sizes(const Model& model);

/// The dimension with others in the place of such names.
Dim in_terms_of(const Dim& dim, const std::map<std::string, Dim>& equal);

/// The same of a model as it was read, for data to run it on: with those sizes too that operators take together unless
/// one is 1, as a mask that is added to scores.
std::map<std::string, Dim> likely_sizes(const Model& read, TypeRule standard);

}  // namespace mlopt::graphopt
