#include "prune/mask_model.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/named.h"
#include "core/onnx/tools.h"
#include "prune/allocations.h"
#include "prune/criteria.h"
#include "prune/masks.h"
#include "prune/scales.h"
#include "prune/weights.h"

namespace mlopt::prune {
namespace {

int64_t count_zeros(const Matrix& values) { return std::count(values.values.begin(), values.values.end(), 0.0F); }

class Masker {
 public:
  Masker(const Model& source, const Spec& spec) : spec_(spec), criterion_(find_criterion(spec.method)) {
    result_.model = clone(source);
    if (!result_.model.functions.empty()) inline_functions(result_.model);
  }

  Pruned run() {
    Found found = find_weights(result_.model, spec_);
    result_.left = std::move(found.left);
    weights_ = std::move(found.weights);
    if (spec_.granularity.pattern()) {
      leave_out_what_does_not_fit();
      for (size_t i = 0; i < weights_.size(); ++i) mask_pattern(i);
    } else {
      mask_units();
    }
    warn();
    return std::move(result_);
  }

 private:
  /// The criterion's scores, not yet scaled.
  Matrix score(size_t i, const Matrix& values) const {
    Matrix scores =
        criterion_.score({.weight = &weights_[i], .values = &values, .spec = &spec_, .index = static_cast<int64_t>(i)});
    return scores;
  }

  const Scale& scale() const {
    const std::string_view name = spec_.scale.empty() ? find_allocation(spec_.allocation).scale : spec_.scale;
    return *find_named(scales(), spec_.threshold && spec_.scale.empty() ? "none" : name);
  }

  void leave_out_what_does_not_fit() {
    std::erase_if(weights_, [&](const Weight& weight) {
      const std::string problem = pattern_problem(weight, spec_.granularity);
      if (!problem.empty()) result_.left.emplace(weight.layer, problem);
      return !problem.empty();
    });
  }

  void mask_pattern(size_t i) {
    Matrix values = load(weights_[i]), scores = score(i, values);
    for (size_t k = 0; k < scores.values.size(); ++k)
      if (values.values[k] == 0) scores.values[k] = -1;  // what is gone already goes first
    put(i, std::move(values), pattern_mask(weights_[i], scores, spec_.granularity));
  }

  Candidate candidate_of(size_t i) const {
    const Matrix values = load(weights_[i]);
    Matrix scores = score(i, values);
    scale().apply(scores);
    Candidate c;
    c.weight = &weights_[i];
    c.units = units_of(weights_[i], spec_.granularity);
    c.scores = unit_scores(c.units, scores, values, spec_.norm);
    c.sizes = unit_sizes(c.units);
    c.removed.resize(c.sizes.size());
    return c;
  }

  void mask_units() {
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < weights_.size(); ++i) candidates.push_back(candidate_of(i));
    if (spec_.threshold) {
      for (Candidate& c : candidates)
        std::transform(c.scores.begin(), c.scores.end(), c.removed.begin(),
                       [&](float x) { return static_cast<double>(x) < *spec_.threshold; });
    } else {
      find_allocation(spec_.allocation).allocate(candidates, *spec_.sparsity, criterion_.rivals);
    }
    for (size_t i = 0; i < weights_.size(); ++i) put(i, load(weights_[i]), unit_mask(candidates[i]));
  }

  void put(size_t i, Matrix values, const std::vector<bool>& mask) {
    const Weight& weight = weights_[i];
    PrunedLayer layer{weight.layer, weight.op, weight.name(), weight.value->constant->dims(), weight.size()};
    layer.zeros_before = count_zeros(values);
    apply(mask, values);
    layer.zeros = count_zeros(values);
    store(weight, values);
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

  const Spec& spec_;
  const Criterion& criterion_;
  std::vector<Weight> weights_;
  Pruned result_;
};

}  // namespace

Pruned mask_model(const Model& source, const Spec& spec, const Means& /*means*/) { return Masker(source, spec).run(); }

}  // namespace mlopt::prune
