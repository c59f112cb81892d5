#include "prune/mask_model.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/named.h"
#include "core/calib/features.h"
#include "core/calib/weights.h"
#include "core/onnx/tools.h"
#include "core/tensor/kept_in_file.h"
#include "prune/allocations.h"
#include "prune/criteria.h"
#include "prune/finite.h"
#include "prune/fit.h"
#include "prune/masks.h"
#include "prune/scales.h"
#include "prune/slopes.h"
#include "prune/stages.h"
#include "prune/statistics.h"

namespace mlopt::prune {
namespace {

constexpr int64_t kFitStages = 24;
constexpr int64_t kProductBytes = int64_t{512} << 20;  // of inputs, held at once

int64_t count_zeros(const Matrix& values) { return std::count(values.values.begin(), values.values.end(), 0.0F); }

/// The weight's numbers, or those of its like in `other`; the file that they may lie in is not kept in memory.
Matrix passing_load(Weight weight, const Model* other = nullptr) {
  if (other) weight.value = other->graph->find(weight.name());
  Matrix values = load(weight);
  weight.value->constant->release_pages();
  return values;
}

class Masker {
 public:
  Masker(const Model& source, const Spec& spec, const Means& means)
      : spec_(spec), means_(means), criterion_(find_criterion(spec.method)) {
    const std::string looking = sees_inputs() ? spec.method : spec.fit ? "lstsq" : spec.statistics ? "bn" : "";
    if (!looking.empty() && !means.data)
      usage_error(fmt::format("{} needs data: it looks at what layers are given", looking), "--data",
                  "give --data with inputs of the kind that the model will see, or use --method magnitude");
    if (criterion_.look == Look::kMovement && !means.movements)
      usage_error("movement is that of a training, of which nothing is known here", "--method",
                  "use --method magnitude");
    result_.model = clone(source);
    if (!result_.model.functions.empty()) inline_functions(result_.model);
    if (spec.fit || spec.statistics) dense_ = clone(result_.model);
  }

  Pruned run() {
    Found found = find_weights(result_.model, {spec_.only, spec_.skip});
    result_.left = std::move(found.left);
    weights_ = std::move(found.weights);
    leave_out_what_does_not_fit();
    name_weights();
    for (const Weight& weight : weights_) look_before(weight);
    for (int64_t i = 1; i <= spec_.iterations; ++i) {
      // Most goes at first, when there is most to choose from (Zhu and Gupta 2017).
      const double rest = 1 - static_cast<double>(i) / static_cast<double>(spec_.iterations);
      sparsity_ = spec_.sparsity.value_or(spec_.shares.empty() ? 0 : 1) * (1 - rest * rest * rest);
      result_.layers.clear();
      prune_all();
      if (spec_.fit) fit_all();
    }
    if (spec_.statistics) correct();
    result_.spec = spec_;
    warn();
    return std::move(result_);
  }

 private:
  const Allocation& allocation() const {
    return *find_named(allocations(), spec_.allocation.empty() ? criterion_.allocation : spec_.allocation);
  }

  void look_before(const Weight& weight) {
    Matrix values = passing_load(weight);
    require_finite(values.values, weight.name());
    if (means_.before && means_.before->graph->find(weight.name())) values = passing_load(weight, means_.before);
    zeros_before_.push_back(count_zeros(values));
  }

  void prune_all() {
    const bool each_for_itself =
        spec_.granularity.pattern() || !spec_.shares.empty() || (!spec_.threshold && allocation().own_share);
    if (each_for_itself || criterion_.prune) {
      shares_.assign(weights_.size(), sparsity_);
      for (size_t i = 0; i < weights_.size() && !spec_.shares.empty(); ++i)
        shares_[i] *= *share_of(spec_.shares, names_[i]);
      if (!each_for_itself) find_shares();
      in_stages(spec_.stages ? spec_.stages : criterion_.stages, criterion_.look,
                [&](size_t i, const Evidence& e) { prune_alone(i, e, shares_[i]); });
    } else {
      prune_together();
    }
  }

  bool sees_inputs() const { return criterion_.look == Look::kSquares || criterion_.look == Look::kProducts; }

  void leave_out_what_does_not_fit() {
    std::erase_if(weights_, [&](const Weight& weight) {
      std::string problem = spec_.granularity.pattern() ? pattern_problem(weight, spec_.granularity) : "";
      if (problem.empty() && (spec_.fit || sees_inputs())) problem = features_problem(weight);
      if (!problem.empty()) result_.left.emplace(weight.layer, problem);
      return !problem.empty();
    });
    if (weights_.empty()) {
      std::string reasons;
      for (const auto& [layer, reason] : result_.left) reasons += (reasons.empty() ? "" : "; ") + layer + ": " + reason;
      input_error("no weight of the model can be pruned so: " + reasons, {}, "choose another method or granularity");
    }
  }

  /// Settles what is said by layer, or by curves of them; layers without a share stay.
  void name_weights() {
    for (const Weight& weight : weights_) names_.push_back(weight.layer);
    names_ = told_apart(std::move(names_));
    if (spec_.allocation == kSensitivity) {
      spec_.shares = shares_of_least_loss(*means_.curves, Saving::kSize, *spec_.sparsity);
      spec_.allocation.clear();
      spec_.sparsity = std::nullopt;
    }
    if (spec_.shares.empty()) return;
    check_names(spec_.shares, names_);
    std::vector<Weight> with;
    std::vector<std::string> names;
    for (size_t i = 0; i < weights_.size(); ++i)
      if (share_of(spec_.shares, names_[i])) {
        with.push_back(weights_[i]);
        names.push_back(names_[i]);
      } else {
        result_.left.try_emplace(weights_[i].layer, "has no share");
      }
    weights_ = std::move(with);
    names_ = std::move(names);
  }

  /// Calls `work` for each weight with what the criterion looks at.
  template <class Work>
  void in_stages(int64_t stages, Look look, const Work& work, const Model* original = nullptr) {
    size_t first = 0;
    OnTheWay way;
    if (look == Look::kNothing || look == Look::kSlopes || look == Look::kMovement) stages = 1;
    for (const size_t end : stage_ends(weights_, stages, look == Look::kProducts ? kProductBytes : 0)) {
      std::vector<Observed> seen;
      std::vector<Slopes> slopes;
      const auto stage = std::span(weights_).subspan(first, end - first);
      way.next.clear();
      for (const Weight& weight : stage) way.next.push_back(weight.name());
      if (look == Look::kSlopes)
        slopes = slopes_of(result_.model, stage, means_);
      else if (look == Look::kSquares || look == Look::kProducts)
        seen = observe(result_.model, stage, {look == Look::kProducts, original}, means_.looking(), &way);
      if (look != Look::kNothing && look != Look::kMovement && result_.samples == 0) result_.samples = looked_at();
      for (size_t i = first; i < end; ++i) {
        const Matrix values = passing_load(weights_[i]);
        work(i, {&weights_[i], &values, &spec_, static_cast<int64_t>(i), seen.empty() ? nullptr : &seen[i - first],
                 slopes.empty() ? nullptr : &slopes[i - first],
                 look == Look::kMovement ? &means_.movements->at(weights_[i].name()) : nullptr});
      }
      first = end;
    }
  }

  int64_t looked_at() const { return std::min(means_.data->size(), means_.calibration_samples); }

  void prune_alone(size_t i, const Evidence& e, double share) {
    if (criterion_.prune) return put(i, criterion_.prune(e, share));
    Matrix after = *e.values;
    if (spec_.granularity.pattern()) {
      Matrix scores = criterion_.score(e);
      for (size_t k = 0; k < scores.values.size(); ++k)
        if (after.values[k] == 0) scores.values[k] = -1;  // what is gone already goes first
      zero_out(pattern_mask(weights_[i], scores, spec_.granularity), after);
    } else {
      Candidate c = candidate_of(i, e, criterion_.score(e));
      remove_share(c, share, criterion_.rivals);
      zero_out(unit_mask(c), after);
    }
    put(i, after);
  }

  std::string_view scale() const {
    if (!spec_.scale.empty()) return spec_.scale;
    if (spec_.threshold || !spec_.shares.empty()) return "none";
    return criterion_.scale.empty() ? allocation().scale : criterion_.scale;
  }

  Candidate candidate_of(size_t i, const Evidence& e, Matrix scores) const {
    find_named(scales(), scale())->apply(scores);
    Candidate c;
    c.weight = &weights_[i];
    c.units = units_of(weights_[i], spec_.granularity);
    c.scores = unit_scores(c.units, scores, *e.values, spec_.norm);
    c.removed.resize(c.scores.size());
    return c;
  }

  /// All weights with what goes of them, by the source as it is.
  std::vector<Candidate> allocated(Look look) {
    std::vector<Candidate> candidates;
    in_stages(1, look,
              [&](size_t i, const Evidence& e) { candidates.push_back(candidate_of(i, e, criterion_.score(e))); });
    if (!spec_.threshold) {
      allocation().allocate(candidates, sparsity_, criterion_.rivals);
      return candidates;
    }
    for (Candidate& c : candidates)
      std::transform(c.scores.begin(), c.scores.end(), c.removed.begin(),
                     [&](float x) { return static_cast<double>(x) < *spec_.threshold; });
    return candidates;
  }

  void prune_together() {
    const std::vector<Candidate> candidates = allocated(criterion_.look);
    for (size_t i = 0; i < weights_.size(); ++i) {
      Matrix after = passing_load(weights_[i]);
      zero_out(unit_mask(candidates[i]), after);
      put(i, after);
    }
  }

  /// What share of each weight an allocation over all of them takes, for a criterion that chooses by itself what goes.
  void find_shares() {
    const std::vector<Candidate> candidates = allocated(Look::kSquares);
    for (size_t i = 0; i < candidates.size(); ++i) {
      const auto gone = std::count(candidates[i].removed.begin(), candidates[i].removed.end(), true);
      shares_[i] = static_cast<double>(gone) / static_cast<double>(candidates[i].removed.size());
    }
  }

  /// Layer by layer, each when those before are fitted.
  void fit_all() {
    std::vector<Matrix> wanted;
    for (const Weight& weight : weights_) wanted.push_back(passing_load(weight, &dense_));
    in_stages(
        kFitStages, Look::kProducts,
        [&](size_t i, const Evidence& e) {
          store(weights_[i], fitted(weights_[i], *e.observed, wanted[i], *e.values));
        },
        &dense_);
  }

  void correct() {
    if (correct_statistics(result_.model, dense_, means_) == 0)
      result_.warnings.emplace_back("no layer has a normalization or a bias that --recover bn could correct");
    result_.samples = looked_at();
  }

  void put(size_t i, const Matrix& after) {
    const Weight& weight = weights_[i];
    PrunedLayer layer{names_[i], weight.layer, weight.op, weight.name(), weight.value->constant->dims(), weight.size()};
    layer.zeros_before = zeros_before_[i];
    layer.zeros = count_zeros(after);
    store(weight, after);
    if (!means_.spill.empty() && !weight.value->producer)
      weight.value->constant = kept_in_file(*weight.value->constant, means_.spill);
    result_.layers.push_back(std::move(layer));
  }

  void warn() {
    int64_t before = 0, after = 0;
    for (const PrunedLayer& layer : result_.layers) {
      before += layer.zeros_before;
      after += layer.zeros;
      if (layer.zeros == layer.parameters)
        result_.warnings.push_back(fmt::format("nothing of {} is left: what it gives is constant now", layer.layer));
    }
    if (after == before)
      result_.warnings.push_back(before > 0 ? "nothing was removed: the model has as many zeros already"
                                            : "nothing was removed");
  }

  Spec spec_;
  const Means& means_;
  const Criterion& criterion_;
  std::vector<Weight> weights_;
  std::vector<std::string> names_;  // of the weights, as in Spec::shares
  std::vector<double> shares_;
  std::vector<int64_t> zeros_before_;
  double sparsity_ = 0;  // of the iteration at hand
  Model dense_;          ///< as it was, where what is left is fitted to it
  Pruned result_;
};

}  // namespace

Pruned mask_model(const Model& source, const Spec& spec, const Means& means) {
  return Masker(source, spec, means).run();
}

}  // namespace mlopt::prune
