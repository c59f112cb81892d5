#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "distill/losses.h"

namespace mlopt::distill {

/// A tensor of the student that is to follow one of the teachers.
struct Match {
  std::string teacher, student;  ///< names of values; globs where both are the same
  const LossDef* loss = nullptr;
  std::optional<double> weight;
};

/// Reads "t=NAME,s=NAME,loss=hidden,w=1"; without s=, the tensors of that name in both. Throws Error{kUsage}.
Match parse_match(const std::string& text);

/// Weights of losses by their names: "kl=0.9,hard=0.1". Throws Error{kUsage}.
std::map<std::string, double> parse_weights(const std::vector<std::string>& items);

}  // namespace mlopt::distill
