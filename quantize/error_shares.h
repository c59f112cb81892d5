#pragma once
#include <map>
#include <string>
#include <vector>

#include "quantize/quantize.h"

namespace mlopt::quantize {

/// Puts what is known of the layers' rounded inputs, by the values that own their grids, beside their errors.
void put_coverage(const std::vector<LayerValue>& layers, const std::map<std::string, Coverage>& inputs,
                  std::vector<LayerError>& errors);

/// Measures how much of the outputs' error goes when one layer is computed in floats again, for one layer after the
/// other, those first after which the error is furthest above that of the layer before (in schedule order, as `layers`
/// are), for at most means.share_seconds; the rest gets no share. Below 0: the layer makes up for what others do.
/// `result` is made of `source` and takes the same inputs. Gives the error of an output: squared, as a share of the
/// squares of the source's. Throws what running the models throws.
double measure_shares(const Model& source, const Model& result, const std::vector<LayerValue>& layers,
                      const Means& means, std::vector<LayerError>& errors);

}  // namespace mlopt::quantize
