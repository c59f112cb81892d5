#include "quantize/mixed.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/tensor/cast.h"
#include "quantize/methods.h"

namespace mlopt::quantize {
namespace {

constexpr int kProbeBits = 4;
constexpr int kBits[] = {2, 3, 4, 6, 8};
constexpr int64_t kGroup = 32;
constexpr double kNegligible = 1e-6;  // of the weight's squares: what rounding of scales leaves

/// Is a row long enough to be worth a scale for each group? Convolutions have short rows.
bool has_groups(const Weight& weight) {
  return weight.kernel == 1 && weight.groups == 1 && weight.columns >= 2 * kGroup;
}

WeightFormat format_of(bool groups, int bits) { return {Family::kUniform, bits, groups ? kGroup : 0}; }

Coded coded_in(const WeightFormat& format, const Weight& weight, const Matrix& values, const Spec& spec) {
  const Scheme scheme = scheme_of(format, spec.per_tensor, spec.symmetric);
  return encode(find_method("mse"), {values, scheme, nullptr, weight.groups});
}

double squared_distance(const Matrix& a, const Matrix& b) {
  double sum = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    const double off = static_cast<double>(a.values[i]) - static_cast<double>(b.values[i]);
    sum += std::isfinite(off) ? off * off : 0;
  }
  return sum;
}

/// How far the outputs move when only this weight has other values.
double moved_by(const Model& model, const Weight& weight, const Matrix& changed, const Outputs& source,
                const Means& means) {
  const Tensor kept = *weight.value->constant;
  store(weight, changed);
  std::optional<Outputs> moved;
  try {
    moved.emplace(model, means);
  } catch (...) {
    weight.value->constant = kept;
    throw;
  }
  weight.value->constant = kept;
  return source.distance(*moved);
}

}  // namespace

std::vector<WeightFormat> mixed_formats(const Weight& weight) {
  std::vector<WeightFormat> formats;
  for (const int bits : kBits) formats.push_back(format_of(has_groups(weight), bits));
  return formats;
}

MixedPlanner::MixedPlanner(const Model& model, std::span<const Weight> weights, const Spec& spec, const Means& means) {
  if (!means.data || means.generated)
    usage_error("mixed formats need data: what a weight's error does to the outputs is measured", "--data",
                "give inputs of the kind that the model will see");
  const Outputs source(model, means);
  std::set<std::string> grouped;  // layers with several weights have one format for all
  for (const Weight& w : weights)
    if (has_groups(w)) grouped.insert(w.layer);
  std::map<std::string, size_t> row_of;
  for (size_t i = 0; i < weights.size(); ++i) {
    const Weight& weight = weights[i];
    const auto [row, is_new] = row_of.emplace(weight.layer, rows_.size());
    std::vector<Option> options = options_of(model, weight, grouped.contains(weight.layer), spec, source, means);
    if (is_new) rows_.push_back({weight.layer, std::vector<Option>(options.size())});
    std::vector<Option>& all = rows_[row->second].options;
    for (size_t o = 0; o < all.size(); ++o)
      all[o] = {options[o].format, all[o].bytes + options[o].bytes, all[o].error + options[o].error};
    elements_ += weight.size();
    if (means.progress)
      means.progress("measuring what weights matter", static_cast<int64_t>(i) + 1, std::ssize(weights));
  }
  for (Row& row : rows_) row.options = hull_of(row.options);
}

std::vector<MixedPlanner::Option> MixedPlanner::options_of(const Model& model, const Weight& weight, bool groups,
                                                           const Spec& spec, const Outputs& source,
                                                           const Means& means) {
  const Matrix values = load(weight);
  std::vector<Option> options;
  std::vector<Coded> probes;
  for (const int bits : kBits) {
    const WeightFormat format = format_of(groups, bits);
    Coded coded = coded_in(format, weight, values, spec);
    options.push_back({format, packed_bytes(coded), squared_distance(values, decode(coded))});
    if (bits <= kProbeBits) probes.push_back(std::move(coded));
  }
  const double least = kNegligible * squared_distance(values, Matrix::zeros(values.rows, values.columns));
  double per_error = 0;  // how far the outputs move for each unit of the weight's squared error
  for (size_t o = probes.size(); o-- > 0 && per_error == 0;)
    if (options[o].error > least)
      per_error = moved_by(model, weight, decode(probes[o]), source, means) / options[o].error;
  for (Option& option : options) option.error *= per_error;
  return options;
}

/// Only what no mix of its neighbours beats.
std::vector<MixedPlanner::Option> MixedPlanner::hull_of(const std::vector<Option>& options) {
  const auto slope = [](const Option& a, const Option& b) {
    return (a.error - b.error) / static_cast<double>(std::max<int64_t>(1, b.bytes - a.bytes));
  };
  std::vector<Option> hull;
  for (const Option& o : options) {
    while (hull.size() >= 2 && slope(hull[hull.size() - 2], hull.back()) <= slope(hull.back(), o)) hull.pop_back();
    if (hull.empty() || o.error < hull.back().error) hull.push_back(o);
  }
  return hull;
}

int64_t MixedPlanner::least_bytes() const {
  int64_t bytes = 0;
  for (const Row& row : rows_) bytes += row.options[0].bytes;
  return bytes;
}

MixedPlanner::Choice MixedPlanner::choose(int64_t bytes) const {
  std::vector<size_t> chosen(rows_.size());
  int64_t left = bytes - least_bytes();
  struct Step {
    double gain;
    size_t row, option;
  };
  std::vector<Step> steps;
  for (size_t r = 0; r < rows_.size(); ++r)
    for (size_t o = 1; o < rows_[r].options.size(); ++o) {
      const Option &from = rows_[r].options[o - 1], &to = rows_[r].options[o];
      steps.push_back({(from.error - to.error) / static_cast<double>(to.bytes - from.bytes), r, o});
    }
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.gain > b.gain; });
  for (const Step& step : steps) {
    const std::vector<Option>& options = rows_[step.row].options;
    const int64_t cost = options[step.option].bytes - options[step.option - 1].bytes;
    if (chosen[step.row] + 1 != step.option || cost > left) continue;
    chosen[step.row] = step.option;
    left -= cost;
  }
  Choice choice;
  for (size_t r = 0; r < rows_.size(); ++r) {
    const Option& option = rows_[r].options[chosen[r]];
    choice.formats[rows_[r].layer] = option.format;
    choice.bytes += option.bytes;
  }
  return choice;
}

}  // namespace mlopt::quantize
