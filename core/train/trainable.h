#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/ir/model.h"

namespace mlopt::train {

/// Which initializers may be trained, by globs of their names.
struct TrainableChoice {
  std::vector<std::string> only = {};              ///< empty: those that look like weights
  std::vector<std::string> freeze = {};            ///< but not these
  std::vector<std::string> also = {};              ///< names of initializers that are weights whatever they look like
  std::map<std::string, std::string> copies = {};  ///< globs know these by the other name too, see Copies in untie.h
};

/// Float initializers in the order of the graph. Left out unless `only` names them: single numbers that no layer has as
/// a weight or bias, masks (a value of -1e4 or less, or none), what inputs are normalized with, the ones and zeros of
/// normalizations without weights, and the angles of positions (angles.h). Throws Error{kBadInput} where nothing is
/// left, or a glob matches nothing.
std::vector<Value*> trainable(const Model& model, const TrainableChoice& choice);

}  // namespace mlopt::train
