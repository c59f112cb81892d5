#include "prune/structure/shrink_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/ir/verify.h"
#include "prune/finite.h"
#include "prune/statistics.h"
#include "prune/structure/channel_methods.h"
#include "prune/structure/loss_score.h"
#include "prune/structure/propagate.h"
#include "prune/structure/prove.h"
#include "prune/structure/refit.h"
#include "prune/structure/remove.h"
#include "prune/structure/report.h"
#include "prune/structure/rules.h"
#include "prune/structure/score.h"
#include "prune/structure/target.h"
#include "prune/structure/tidy.h"

namespace mlopt::prune {
namespace {

class Shrinker {
 public:
  Shrinker(const Model& source, const Spec& spec, const Means& means) : source_(source), spec_(spec), means_(means) {}

  Pruned run() {
    require_data(spec_, means_.data != nullptr);
    model_ = tidied(source_, means_.passes, result_.warnings);
    all_ = relate_axes(model_, heads() ? SplitBy::kOuter : SplitBy::kInner,
                       embedding() ? Statistics::kOfTheRest : Statistics::kStay);
    Groups found = find_groups(all_);
    result_.left = report_pinned(found.pinned);
    groups_ = chosen(std::move(found.groups));
    if (groups_.empty()) refuse();
    scores_ = scores();
    if (spec_.method != "magnitude")  // there they are already
      put_zeros_first(all_, groups_, scores_, spec_.method != "random");
    const std::vector<std::string> names = group_names(groups_);
    for (size_t g = 0; g < names.size(); ++g) require_ordered(scores_[g], names[g]);
    Target target({model_, all_, groups_, names, scores_, [&](const Removed& gone) { return smaller(gone); }}, spec_,
                  means_);
    result_.macs_before = target.macs();
    Decision decided = target.decide();
    removed_ = std::move(decided.removed);
    result_.spec = std::move(decided.spec);
    result_.share = decided.share;
    result_.tried = std::move(decided.tried);
    result_.episodes = std::move(decided.episodes);
    result_.groups = report_groups(all_, groups_, removed_);
    if (std::all_of(removed_.begin(), removed_.end(), [](const auto& r) { return r.empty(); })) return unchanged();
    if (!means_.cut) return with_zeros();
    if (recovers()) recover(removed_, clone(model_));
    result_.model = cut_out(removed_);
    require_valid(result_.model, "the removal of channels");
    result_.macs_after = target.macs_of(result_.model);
    if (means_.runner && means_.prove)
      prove(mask_channels(model_, all_, groups_, removed_), source_, spec_.seed, means_, result_);
    return std::move(result_);
  }

 private:
  /// To see what it is worth; nothing stays changed.
  Model smaller(const Removed& removed) {
    if (!recovers()) return cut_out(removed);
    const Model original = clone(model_);
    recover(removed, original);
    Model made = cut_out(removed);
    for (const Value* before : original.graph->initializers())
      model_.graph->find(before->name)->constant = before->constant;
    return made;
  }

  Model cut_out(const Removed& removed) const {
    return remove_channels(model_, all_, groups_, removed, means_.passes.standard_types, means_.spill);
  }

  /// On the model as it is, with zeros in the place of what will be cut out.
  void recover(const Removed& removed, const Model& original) {
    clear_channels(all_, groups_, removed);
    if (spec_.fit) refit(model_, original, means_);
    if (spec_.statistics) correct_statistics(model_, original, means_);
    result_.samples = std::min(means_.data->size(), means_.calibration_samples);
  }

  bool recovers() const { return spec_.fit || spec_.statistics; }
  bool heads() const { return spec_.granularity.name == "head"; }
  bool embedding() const { return spec_.granularity.name == kEmbedding; }
  const char* part() const { return heads() ? "attention head" : embedding() ? "dimension" : "channel"; }

  /// Relative to the mean of each axis, so that layers can be compared; groups that nothing is known of stay.
  std::vector<std::vector<double>> scores_by(const ChannelMethod& method) {
    if (method.data && !means_.data)
      usage_error(fmt::format("{} needs data: it looks at what channels are", method.name), "--data",
                  "give --data with inputs of the kind that the model will see, or use --method magnitude");
    AxisScores axes = method.score({model_, all_, groups_, means_});
    if (method.data) result_.samples = std::min(means_.data->size(), means_.calibration_samples);
    for (auto& [axis, scores] : axes) {
      double mean = 0;
      for (const double x : scores) mean += x / static_cast<double>(scores.size());
      for (double& x : scores) x = mean > 0 ? x / mean : 1;
    }
    std::erase_if(groups_, [&](const Group& group) {
      const bool told = std::any_of(group.axes.begin(), group.axes.end(), [&](size_t a) { return axes.contains(a); });
      for (const Node* node : group.nodes)
        if (!told) result_.left.try_emplace(node->called(), std::string(method.tells));
      return !told;
    });
    if (groups_.empty()) refuse();
    return score_channels(groups_, axes);
  }

  std::vector<std::vector<double>> scores() {
    if (const ChannelMethod* method = find_channel_method(spec_.method)) return scores_by(*method);
    if (spec_.method != "taylor" && spec_.method != "fisher") return score_channels(all_, groups_, score(), spec_.seed);
    auto [axes, samples] = loss_scores(model_, all_, groups_, spec_.method == "fisher", means_);
    result_.samples = samples;
    return score_channels(groups_, axes);
  }

  ChannelScore score() const {
    if (spec_.method == "random") return ChannelScore::kRandom;
    return spec_.norm == "l1" ? ChannelScore::kL1 : ChannelScore::kL2;
  }

  /// Those of the granularity that --only and --skip leave.
  std::vector<Group> chosen(std::vector<Group> groups) {
    std::erase_if(groups, [&](const Group& g) {
      for (const Node* node : g.nodes)
        if (g.heads && !heads() && !embedding())
          result_.left.try_emplace(node->called(), "they are heads of attention: --granularity head removes these");
      return g.heads != heads() || g.normalized != embedding();
    });
    std::vector<std::string> all;
    for (const Group& g : groups)
      for (std::string& name : names_of(all_, g)) all.push_back(std::move(name));
    if (!groups.empty()) check_globs(spec_, all, "channels");
    std::erase_if(groups, [&](const Group& group) {
      const bool out = left_out(spec_, names_of(all_, group));
      for (const Node* node : group.nodes)
        if (out) result_.left.try_emplace(node->called(), "excluded by --only or --skip, or coupled to what is");
      return out;
    });
    return groups;
  }

  /// Nodes without a rule, for a model of which nothing else is known.
  std::vector<std::string> not_understood() const {
    std::set<std::string> ops;
    for (const Node* node : all_nodes(*model_.graph))
      if (!rule_of(*node)) ops.insert("how the axes of " + node->op + " hang together is not known");
    return {ops.begin(), ops.end()};
  }

  [[noreturn]] void refuse() const {
    constexpr size_t kShown = 8;
    std::vector<std::string> reasons;
    if (result_.left.empty()) reasons = not_understood();
    for (const auto& [layer, reason] : result_.left)
      if (reasons.size() < kShown) reasons.push_back(fmt::format("{}: {}", layer, reason));
    if (result_.left.size() > kShown) reasons.push_back(fmt::format("and {} more", result_.left.size() - kShown));
    input_error(fmt::format("no {} of the model can be removed{}", part(),
                            reasons.empty() ? "" : " (" + join(reasons, "; ") + ")"),
                source_.path,
                heads()
                    ? "mlopt fuse, run before, finds heads in more spellings; --granularity channel removes neurons "
                      "and dimensions of heads"
                    : "a channel can go where a constant weight makes it and all that read it are understood");
  }

  Pruned unchanged() {
    result_.warnings.emplace_back(
        spec_.sparsity == 0.0 ? "nothing was removed: the sparsity that is asked is 0"
                              : "nothing was removed: every group of channels would be smaller than what is asked");
    result_.model = clone(source_);
    result_.macs_after = result_.macs_before;
    return std::move(result_);
  }

  Pruned with_zeros() {
    clear_channels(all_, groups_, removed_);
    result_.model = std::move(model_);
    return std::move(result_);
  }

  const Model& source_;
  const Spec& spec_;
  const Means& means_;
  Model model_;
  Relations all_;
  std::vector<Group> groups_;
  std::vector<std::vector<double>> scores_;
  Removed removed_;
  Pruned result_;
};

}  // namespace

Pruned shrink_model(const Model& source, const Spec& spec, const Means& means) {
  return Shrinker(source, spec, means).run();
}

}  // namespace mlopt::prune
