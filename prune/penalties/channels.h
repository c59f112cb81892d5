#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/train/builder.h"
#include "prune/spec.h"

namespace mlopt::prune {

/// The part that the channels of a group have of an axis of a parameter.
struct Member {
  std::string name;
  size_t axis = 0;
  Dims dims;
  std::vector<int64_t> positions;   ///< of the channels, one channel after the other, as many each
  std::vector<int64_t> channel_of;  ///< of each position of the axis: its channel, or their number: none
  std::vector<double> norms;        ///< of the channels' parts at first
  double mean = 0;                  ///< of these, where they say how large a channel is; else 0
  bool makes = false;               ///< it is of a weight, with outputs along the axis
  bool scale = false;               ///< channels are multiplied by it: of a normalization, or by itself
};

/// Channels of a group in a graph of a training. Parameters of less than two axes (biases, normalizations) go with
/// them, but do not say how large a channel is.
struct TrainedGroup {
  std::vector<Member> members;
  int64_t channels = 0;
};

/// The groups of channels, or heads, that can go and that the spec leaves, as far as what they have is trained; those
/// whose channels have unequal parts of an axis are left out.
std::vector<TrainedGroup> trained_groups(const Model& model, const Spec& spec,
                                         const std::function<bool(const std::string&)>& trains);

/// The scales alone, which say how large a channel is; no members where there are none.
TrainedGroup scales_of(const TrainedGroup& group);

/// The mean over weights of the norms of the channels' parts at first, each over its own mean.
std::vector<double> first_sizes(const TrainedGroup& group);
/// The mean over weights of the norms of the channels' parts, each over what it was on average at first: [channels].
/// `value` gives a parameter as it stands.
Value* sizes(train::Builder& b, const TrainedGroup& group, const std::function<Value*(const std::string&)>& value);
/// `w` with each channel's part times its factor, [channels].
Value* scaled(train::Builder& b, const Member& member, Value* w, Value* factors);

}  // namespace mlopt::prune
