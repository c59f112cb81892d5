#include "prune/structure/channel_methods.h"

#include <cmath>

#include "core/base/named.h"
#include "core/tensor/cast.h"
#include "prune/structure/member_weight.h"

namespace mlopt::prune {
namespace {

constexpr ChannelMethod kMethods[] = {
    {"activation", "its values are not seen", mean_activation, true},
    {"apoz", "its values are not seen", not_zero, true},
    {"bn-scale", "no BatchNormalization is behind it (it may be folded: --method magnitude counts it)",
     normalization_scale, false},
    {"geometric-median", "no layer's weight makes it", median_distance, false},
};

}  // namespace

const ChannelMethod* find_channel_method(std::string_view name) {
  return find_named(std::span<const ChannelMethod>(kMethods), name);
}

AxisScores normalization_scale(const ChannelEvidence& e) {
  AxisScores scores;
  for (const Group& group : e.groups)
    for (const size_t a : group.axes) {
      const Value* v = e.all.atoms.axes()[a].value;
      for (const Use& use : v->uses) {
        if (!use.node->is("BatchNormalization") || use.index != 1 || !v->known_constant()) continue;
        scores[a] = to_doubles(*v->known_constant());
        for (double& x : scores[a]) x = std::abs(x);
      }
    }
  return scores;
}

AxisScores median_distance(const ChannelEvidence& e) {
  AxisScores scores;
  for (const Group& group : e.groups)
    for (const size_t a : group.axes) {
      const Axis& axis = e.all.atoms.axes()[a];
      const auto weight = axis.producer ? member_weight(axis) : std::nullopt;
      if (!weight) continue;
      const auto n = static_cast<size_t>(axis.size);
      const auto inner = static_cast<size_t>(row_major_strides(weight->dims())[static_cast<size_t>(axis.axis)]);
      std::vector<std::vector<float>> rows(n);
      for (size_t i = 0; i < static_cast<size_t>(weight->size()); ++i)
        rows[i / inner % n].push_back(weight->data<float>()[i]);
      std::vector<double>& score = scores[a];
      score.resize(n);
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < i; ++j) {
          double squares = 0;
          for (size_t k = 0; k < rows[i].size(); ++k) {
            const double apart = static_cast<double>(rows[i][k]) - static_cast<double>(rows[j][k]);
            squares += apart * apart;
          }
          score[i] += std::sqrt(squares);
          score[j] += std::sqrt(squares);
        }
    }
  return scores;
}

}  // namespace mlopt::prune
