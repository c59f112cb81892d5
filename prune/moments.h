#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/calib/channels.h"
#include "prune/prune.h"

namespace mlopt::prune {

/// Runs the model over the data and shows these values of its main graph, as they are computed. Gives the number of
/// samples. Throws Error{kBadInput} where there is none.
int64_t each_value(const Model& model, const std::vector<std::string>& names, const Means& means,
                   const std::function<void(size_t value, const Tensor& tensor)>& see);

using Moments = ChannelStatistics;

/// Of axis 1 of these values: channels of pictures, features of rows.
std::vector<Moments> moments_of(const Model& model, const std::vector<std::string>& names, const Means& means);

}  // namespace mlopt::prune
