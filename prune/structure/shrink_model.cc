#include "prune/structure/shrink_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/calib/model_inputs.h"
#include "core/data/random.h"
#include "core/ir/bind.h"
#include "core/ir/macs.h"
#include "core/ir/verify.h"
#include "graphopt/pipelines.h"
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

namespace mlopt::prune {
namespace {

/// What makes shapes constant and hides nothing: layers stay as they can be trained on.
const std::vector<std::string> kTidy = {"inline_functions",     "constant_to_initializer",   "fold_shapes",
                                        "fold_constants",       "eliminate_identity",        "eliminate_nop_cast",
                                        "eliminate_nop_expand", "materialize_reshape_shape", "eliminate_nop_reshape",
                                        "eliminate_dead_code"};

constexpr int kSearchSteps = 12;
constexpr double kCloseEnough = 0.005;  // of the MACs of the source

/// Old exporters list every weight as an input with a default, which is then no constant. Gives how many there were;
/// scalars, which may be settings, stay.
int64_t make_defaults_constant(Graph& graph) {
  int64_t made = 0;
  for (size_t i = graph.inputs().size(); i-- > 0;) {
    const Value* v = graph.inputs()[i];
    if (!v->is_initializer() || v->constant->rank() == 0) continue;
    graph.remove_input(static_cast<int>(i));
    ++made;
  }
  return made;
}

class Shrinker {
 public:
  Shrinker(const Model& source, const Spec& spec, const Means& means) : source_(source), spec_(spec), means_(means) {}

  Pruned run() {
    if ((spec_.fit || spec_.statistics) && !means_.data)
      usage_error(fmt::format("{} needs data: it looks at what layers are given", spec_.fit ? "lstsq" : "bn"), "--data",
                  "give --data with inputs of the kind that the model will see");
    tidy();
    all_ = relate_axes(model_, heads() ? SplitBy::kOuter : SplitBy::kInner);
    Groups found = find_groups(all_);
    result_.left = report_pinned(found.pinned);
    groups_ = chosen(std::move(found.groups));
    if (groups_.empty()) refuse();
    scores_ = scores();
    result_.macs_before = macs_of(model_);
    removed_ = spec_.flops ? for_flops() : remove_share(spec_.sparsity.value_or(0));
    result_.groups = report_groups(all_, groups_, removed_);
    if (std::all_of(removed_.begin(), removed_.end(), [](const auto& r) { return r.empty(); })) return unchanged();
    if (spec_.fit || spec_.statistics) recover();
    result_.model = remove_channels(model_, all_, groups_, removed_, means_.passes.standard_types);
    require_valid(result_.model, "the removal of channels");
    result_.macs_after = macs_of(result_.model);
    prove();
    return std::move(result_);
  }

 private:
  /// On the model as it is, with zeros in the place of what will be cut out.
  void recover() {
    const Model original = clone(model_);
    clear_channels(all_, groups_, removed_);
    if (spec_.fit) refit(model_, original, means_);
    if (spec_.statistics) correct_statistics(model_, original, means_);
    result_.samples = std::min(means_.data->size(), means_.calibration_samples);
  }

  bool heads() const { return spec_.granularity.name == "head"; }

  void tidy() {
    model_ = clone(source_);
    if (const int64_t made = make_defaults_constant(*model_.graph))
      result_.warnings.push_back(fmt::format("{} weights that were inputs with defaults are constants now", made));
    graphopt::fuse(model_, means_.passes, {kTidy, {}});
    infer(model_, means_.passes.standard_types);
  }

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

  static std::vector<std::string> names_of(const Relations& all, const Group& group) {
    std::vector<std::string> names;
    for (const Node* node : group.nodes) names.push_back(node->called());
    for (const size_t a : group.axes)
      if (const Value* v = all.atoms.axes()[a].value; v->known_constant()) names.push_back(v->name);
    return names;
  }

  /// Those of the granularity that --only and --skip leave.
  std::vector<Group> chosen(std::vector<Group> groups) {
    std::erase_if(groups, [&](const Group& g) { return g.heads != heads(); });
    check_globs(groups);
    std::erase_if(groups, [&](const Group& group) {
      const std::vector<std::string> names = names_of(all_, group);
      const auto hit = [&](const std::vector<std::string>& globs) {
        return std::any_of(names.begin(), names.end(), [&](const std::string& n) { return glob_any(globs, n); });
      };
      const bool out = (!spec_.only.empty() && !hit(spec_.only)) || hit(spec_.skip);
      for (const Node* node : group.nodes)
        if (out) result_.left.try_emplace(node->called(), "excluded by --only or --skip, or coupled to what is");
      return out;
    });
    return groups;
  }

  void check_globs(const std::vector<Group>& groups) const {
    std::vector<std::string> names;
    for (const Group& g : groups)
      for (std::string& name : names_of(all_, g)) names.push_back(std::move(name));
    const auto check = [&](const std::string& glob, const char* option) {
      if (std::none_of(names.begin(), names.end(), [&](const std::string& n) { return glob_match(glob, n); }))
        usage_error(fmt::format("'{}' matches no layer and no weight that can lose channels", glob), option,
                    suggestion(glob, names));
    };
    if (groups.empty()) return;
    for (const std::string& glob : spec_.only) check(glob, "--only");
    for (const std::string& glob : spec_.skip) check(glob, "--skip");
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
    input_error(fmt::format("no {} of the model can be removed{}", heads() ? "attention head" : "channel",
                            reasons.empty() ? "" : " (" + join(reasons, "; ") + ")"),
                source_.path,
                heads() ? "--granularity channel removes neurons and dimensions of heads"
                        : "a channel can go where a constant weight makes it and all that read it are understood");
  }

  Rounding rounding() const {
    if (!spec_.round) return {};
    return {.multiple = *spec_.round, .small_groups = true};
  }

  Removed remove_share(double share) const {
    if (spec_.threshold) return choose_below(scores_, *spec_.threshold);
    Rounding round = rounding();
    if (heads() && !spec_.round) round.multiple = 1;
    return spec_.allocation == "global" ? choose_global(scores_, share, round) : choose_uniform(scores_, share, round);
  }

  /// With the sizes that free dimensions have where nobody says more.
  int64_t macs_of(const Model& model) const {
    try {
      Model copy = clone(model);
      bind_input_shapes(copy, concrete_shapes(model_inputs(copy), {}), means_.passes.standard_types);
      return total_macs(copy).macs;
    } catch (const Error&) {
      return total_macs(model).macs;  // of the nodes whose shapes are known
    }
  }

  int64_t macs_without(const Removed& removed) const {
    return macs_of(shapes_without_channels(model_, all_, groups_, removed, means_.passes.standard_types));
  }

  /// The smallest share that is enough, by bisection: fewer channels never cost more.
  Removed for_flops() {
    if (result_.macs_before == 0)
      input_error("the FLOPs of the model are not known: none of its layers has a shape that is", source_.path,
                  "say how much to remove with --sparsity");
    const auto before = static_cast<double>(result_.macs_before), target = *spec_.flops * before;
    double low = 0, high = 1;
    Removed best = remove_share(high);
    const auto least = static_cast<double>(macs_without(best));
    if (least > target)
      input_error(fmt::format("{:.4g} % of the FLOPs cannot be reached: with one channel left everywhere {:.4g} % stay",
                              *spec_.flops * 100, least / before * 100),
                  source_.path, "--explain says which layers stay as they are, and why");
    for (int step = 0; step < kSearchSteps; ++step) {
      const double middle = (low + high) / 2;
      Removed removed = remove_share(middle);
      const auto macs = static_cast<double>(macs_without(removed));
      (macs <= target ? high : low) = middle;
      if (macs > target) continue;
      best = std::move(removed);
      if (target - macs < kCloseEnough * before) break;
    }
    return best;
  }

  Pruned unchanged() {
    result_.warnings.emplace_back("nothing was removed: every group of channels would be smaller than what is asked");
    result_.model = clone(source_);
    result_.macs_after = result_.macs_before;
    return std::move(result_);
  }

  /// Integers round alike only where the same kernels run: the judge's.
  bool quantized() const {
    const std::vector<Node*> nodes = all_nodes(*model_.graph);
    return std::any_of(nodes.begin(), nodes.end(), [](const Node* n) { return n->op == "QuantizeLinear"; });
  }

  void prove() {
    if (!means_.runner) return;
    const Runner plain{*means_.passes.judge, [](Model&) {}};
    const Runner& runner = quantized() ? plain : *means_.runner;
    const Model masked = mask_channels(model_, all_, groups_, removed_);
    Difference difference;
    try {
      difference = pruned_from_masked(masked, result_.model, runner, means_.data, spec_.seed);
    } catch (const Error& error) {
      if (error.code == Code::kInternal) throw;
      result_.not_verified.push_back("that the removed channels alone make the difference: " + error.message);
      return;
    }
    require_proof(difference, source_);
    if (difference.max_expected == 0) {
      result_.not_verified.emplace_back(
          "that the removed channels alone make the difference: all outputs are zero on generated inputs");
      return;
    }
    result_.proof = difference;
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
