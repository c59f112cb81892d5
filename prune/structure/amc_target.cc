#include "prune/structure/amc_target.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/base/error.h"
#include "core/ir/view.h"

namespace mlopt::prune {
namespace {

constexpr double kMost[] = {0.8, 0.95, 1};  // of a group that may go, if less does not do; one channel always stays
constexpr int kTimes = 7;

std::vector<size_t> counts_of(const Removed& removed) {
  std::vector<size_t> counts;
  for (const auto& group : removed) counts.push_back(group.size());
  return counts;
}

double product(const std::vector<int64_t>& numbers) {
  double all = 1;
  for (const int64_t n : numbers) all *= static_cast<double>(n);
  return all;
}

/// Channels that a weight reads, its kernel and stride, the places that it is applied to.
std::vector<double> layer_of(const Node& node, double channels) {
  double size = 0, kernel = 1, places = 1;
  for (const Value* v : node.inputs())
    if (v && v->is_initializer() && v->constant->rank() >= 2 && static_cast<double>(v->constant->size()) > size) {
      const Dims& dims = v->constant->dims();
      size = static_cast<double>(v->constant->size());
      kernel = product({dims.begin() + 2, dims.end()});
    }
  if (const auto& dims = node.output(0)->type.dims)
    for (const Dim& dim : *dims) places *= static_cast<double>(dim.value().value_or(1));
  const NodeView view(node, 1);
  const double stride = node.is("Conv") || node.is("ConvTranspose") ? product(view.get_ints("strides")) : 1;
  return {size / (channels * kernel), kernel, stride, places / channels};
}

class Searched {
 public:
  Searched(const AmcTarget& t, std::vector<Episode>& episodes) : t_(t), episodes_(episodes) {
    if (!t_.spec.latency) return;
    std::map<std::string_view, double> times;
    for (const Curve& curve : *t_.means.curves) times[curve.name] += saved_by_all(curve, Saving::kTime);
    for (const std::string& name : t_.of.names) times_.push_back(times[name]);
  }

  Shares run() {
    settings_.budget = t_.spec.flops     ? *t_.spec.flops
                       : t_.spec.latency ? *t_.spec.latency
                                         : 1 - t_.spec.sparsity.value_or(0);
    settings_.episodes = t_.spec.episodes > 0 ? t_.spec.episodes : kUsualEpisodes;
    settings_.seed = t_.spec.seed;
    settings_.known = t_.means.amc->known;
    settings_.known_from = t_.means.amc->known_from;
    settings_.keep = t_.means.amc->keep;
    settings_.most = most();
    Surroundings here = surroundings();
    episodes_ = search_shares(here, settings_);
    std::vector<double> best = episodes_[best_of(episodes_)].shares;
    if (t_.spec.latency) hold_time(best);
    return named(best);
  }

 private:
  /// Rounded, so that specs are short.
  Shares named(std::span<const double> shares) const {
    Shares all;
    for (size_t g = 0; g < shares.size(); ++g) all.emplace_back(t_.of.names[g], std::round(shares[g] * 1e6) / 1e6);
    return all;
  }
  Removed removed(std::span<const double> shares) const { return t_.removed(named(shares)); }

  double most() {
    double least = 1;
    for (const double most : kMost) {
      least = left(std::vector<double>(t_.of.groups.size(), most));
      if (least <= settings_.budget) return most;
    }
    input_error(fmt::format("{:.4g} % of the {} cannot be reached: with one channel left everywhere {:.4g} % stay",
                            100 * settings_.budget, what(), 100 * least),
                t_.of.model.path, "--explain says which layers stay as they are, and why");
  }
  const char* what() const { return t_.spec.flops ? "FLOPs" : t_.spec.latency ? "time" : "channels"; }

  /// Of what the budget counts.
  double left(std::span<const double> shares) {
    if (t_.spec.latency) return time_left(shares);
    const Removed gone = removed(shares);
    const auto [found, fresh] = left_.try_emplace(counts_of(gone), 0);
    if (fresh) found->second = t_.spec.flops ? t_.macs_left(gone) : channels_left(gone);
    return found->second;
  }

  double channels_left(const Removed& gone) const {
    double all = 0, removed = 0;
    for (size_t g = 0; g < gone.size(); ++g) {
      all += static_cast<double>(t_.of.groups[g].channels.size());
      removed += static_cast<double>(gone[g].size());
    }
    return 1 - removed / all;
  }

  /// As far as what groups save alone adds up.
  double time_left(std::span<const double> shares) const {
    return 1 - std::inner_product(shares.begin(), shares.end(), times_.begin(), 0.0);
  }

  Surroundings surroundings() {
    Surroundings here;
    for (size_t g = 0; g < t_.of.groups.size(); ++g) {
      const Group& group = t_.of.groups[g];
      const auto channels = static_cast<double>(group.channels.size());
      std::vector<double> alone(t_.of.groups.size());
      alone[g] = 1;
      here.saves.push_back(1 - left(alone));
      std::vector<double>& known = here.groups.emplace_back(layer_of(*group.nodes.front(), channels));
      known.insert(known.end(), {channels, static_cast<double>(group.nodes.size()), here.saves.back()});
    }
    here.left = [this](std::span<const double> shares) { return left(shares); };
    here.reward = [this](std::span<const double> shares) { return reward(shares); };
    return here;
  }

  double reward(std::span<const double> shares) {
    const Removed gone = removed(shares);
    const auto [found, fresh] = rewards_.try_emplace(counts_of(gone), 0);
    if (fresh) found->second = t_.means.amc->reward(t_.of.smaller(gone));
    return found->second;
  }

  /// What groups save does not quite add up: the rest is taken from all, each as far as it may go.
  void hold_time(std::vector<double>& shares) const {
    const auto further = [&](double part) {
      std::vector<double> more = shares;
      for (double& share : more) share += part * (settings_.most - share);
      return more;
    };
    const auto holds = [&](double part) { return t_.measured_time(removed(further(part))) <= *t_.spec.latency; };
    if (holds(0)) return;
    if (!holds(1))
      input_error(fmt::format("a run takes longer than {:.4g}x, as measured, with {:.4g} % of every group gone",
                              *t_.spec.latency, 100 * settings_.most),
                  t_.of.model.path, "ask for less, or measure on a quieter machine");
    double low = 0, high = 1;
    for (int i = 0; i < kTimes; ++i) {
      const double middle = (low + high) / 2;
      (holds(middle) ? high : low) = middle;
    }
    shares = further(high);
  }

  const AmcTarget& t_;
  std::vector<Episode>& episodes_;
  SearchSettings settings_;
  std::vector<double> times_;  ///< that all of each group saves
  std::map<std::vector<size_t>, double> left_, rewards_;
};

}  // namespace

Shares search_by_amc(const AmcTarget& target, std::vector<Episode>& episodes) {
  if (!target.means.amc) usage_error("nothing says what a result is worth", "--allocation", "measure it");
  if (target.spec.latency && !target.means.curves)
    usage_error("nothing says what time each group takes", "--allocation", "measure it first");
  return Searched(target, episodes).run();
}

}  // namespace mlopt::prune
