#pragma once
#include <span>
#include <string_view>

#include "prune/prune.h"
#include "prune/structure/score.h"

namespace mlopt::prune {

/// What a method for channels looks at.
struct ChannelEvidence {
  const Model& model;
  const Relations& all;
  const std::vector<Group>& groups;
  const Means& means;
};

/// How much channels are needed by something else than their weights' norms. Groups of which no axis tells stay.
struct ChannelMethod {
  std::string_view name;
  std::string_view tells;  ///< what such a group has not: "no BatchNormalization behind it"
  AxisScores (*score)(const ChannelEvidence& evidence);
  bool data;  ///< looks at data (no labels)
};

/// Null where the method is none of them.
const ChannelMethod* find_channel_method(std::string_view name);

/// The mean absolute value of the channel behind its activation (Molchanov et al. 2017).
AxisScores mean_activation(const ChannelEvidence& evidence);
/// The share of what the activation leaves above or below zero: 1 - APoZ (Hu et al. 2016, "Network Trimming").
AxisScores not_zero(const ChannelEvidence& evidence);
/// |gamma| of the BatchNormalization behind (Liu et al. 2017, "Network Slimming").
AxisScores normalization_scale(const ChannelEvidence& evidence);
/// The sum of distances of a filter from the others of its layer: what lies in their midst can be made up for by them
/// (He et al. 2019, "FPGM").
AxisScores median_distance(const ChannelEvidence& evidence);

}  // namespace mlopt::prune
