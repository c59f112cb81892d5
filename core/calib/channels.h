#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/calib/observe.h"
#include "core/ir/model.h"

namespace mlopt {

/// Runs the model over the data and shows these values of its main graph, as they are computed. Gives the number of
/// samples. Throws Error{kBadInput} where there is none.
int64_t each_value(const Model& model, std::span<const std::string> names, const Looking& means,
                   const std::function<void(size_t value, const Tensor& tensor)>& see);

/// Of each entry of axis 1 of a value (channels of pictures, features of rows), over all places of all samples.
struct ChannelStatistics {
  std::vector<double> mins, maxes, means, variances;
};

/// Sums over all places of each entry of axis 1; empty for fewer than two axes.
std::vector<double> channel_sums(const Tensor& tensor);

/// Of these values of the main graph; empty for one of fewer than two axes.
std::vector<ChannelStatistics> channel_statistics(const Model& model, std::span<const std::string> names,
                                                  const Looking& means);

}  // namespace mlopt
