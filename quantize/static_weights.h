#pragma once
#include <map>
#include <string>

#include "core/calib/observe.h"
#include "quantize/emit/qdq.h"

namespace mlopt::quantize {

/// Lets the method of the spec change matrix products before they are quantized, by what they are given; how many
/// inputs it scaled.
int64_t prepare_products(Model& model, const Spec& spec, const Looking& data);

struct RoundedWeights {
  Rounded codes;
  Fallbacks fell_back;  ///< those that are left out
};

/// The weights of the plan's layers in the steps that they would have anyway, by the method of the spec, which looks at
/// what the layers are given. Left out are weights that codes of a byte or signs do not hold, and layers whose inputs
/// cannot be told. `grids` are those of values by name; a method that learns scales changes them. `types` as in
/// training; `product_bytes`: of what is observed at once.
RoundedWeights round_weights(const Model& model, const Plan& plan, std::map<std::string, Grid>& grids, const Spec& spec,
                             const Looking& data, TypeRule types, int64_t product_bytes);

}  // namespace mlopt::quantize
