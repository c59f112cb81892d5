#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/ir/model.h"
#include "quantize/spec.h"

namespace mlopt::quantize {

/// What the weights of a prepared model become in its file, while they are trained: those of formats of weights alone,
/// of w8a8-dynamic, and of half floats. The codes and what they stand for are chosen anew for the weights as they are
/// each time, by the method of the spec without data: the values of least error for the codes, as LQ-Nets has them
/// (Zhang et al. 2018), for three values the threshold and scale of Ternary Weight Networks (Li, Zhang and Liu 2016),
/// for codebooks k-means.
class WeightRounding {
 public:
  /// Throws Error{kUsage} for a method that looks at data, and for what is done to weights before or beside the codes.
  WeightRounding(const Model& model, const Spec& spec);

  /// The initializers that are rounded.
  std::vector<std::string> names() const;
  /// Rounds none but these.
  void keep(const std::vector<std::string>& names);
  /// Numbers that the file would have in place of these, of one of names().
  Tensor rounded(const std::string& name, const Tensor& weight);

 private:
  void add_codes(const Spec& spec);
  void add_dynamic(const Spec& spec);
  void add_halves(const Spec& spec);

  Model model_;
  std::map<std::string, std::function<Tensor()>> made_;  ///< of the weight as it is in the model
};

}  // namespace mlopt::quantize
