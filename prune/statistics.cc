#include "prune/statistics.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/ir/view.h"
#include "core/tensor/cast.h"
#include "prune/moments.h"

namespace mlopt::prune {
namespace {

constexpr size_t kStages = 32;  // each sees what those before, corrected, give

/// A node to be corrected.
struct Site {
  Node* node;
  std::string seen;  ///< the value whose moments it is corrected by
  bool normalizes;
};

/// A constant that nothing else reads, so that it can be changed; null: there is none.
Value* own_constant(const Node& node, int input) {
  Value* v = node.input(input);
  return v && v->is_initializer() && v->single_use() && is_float(v->constant->dtype()) ? v : nullptr;
}

bool read_by_normalization(const Value& value) {
  return std::any_of(value.uses.begin(), value.uses.end(),
                     [](const Use& use) { return use.node->is("BatchNormalization") && use.index == 0; });
}

/// Which axis of the layer's weight numbers its outputs; nothing where they cannot be told or do not sum up so.
std::optional<size_t> output_axis(const Node& node) {
  const NodeView view(node, 1);
  if (node.is("Conv")) return 0;
  if (node.is("ConvTranspose")) return view.get_int("group", 1) == 1 ? std::optional<size_t>(1) : std::nullopt;
  if (view.get_float("alpha", 1) != 1 || view.get_float("beta", 1) != 1) return std::nullopt;
  return view.get_int("transB", 0) != 0 ? 0 : 1;
}

std::optional<Site> site_of(Node* node) {
  if (node->is("BatchNormalization")) {
    if (!node->input(0)->producer || !own_constant(*node, 3) || !own_constant(*node, 4)) return std::nullopt;
    return Site{node, node->input(0)->name, true};
  }
  if (!node->is("Conv") && !node->is("ConvTranspose") && !node->is("Gemm")) return std::nullopt;
  const Value* bias = own_constant(*node, 2);
  if (!bias || bias->constant->rank() != 1 || !own_constant(*node, 1) || !output_axis(*node)) return std::nullopt;
  if (read_by_normalization(*node->output(0))) return std::nullopt;
  return Site{node, node->output(0)->name, false};
}

void put(Value& value, const std::vector<double>& numbers) {
  if (static_cast<size_t>(value.constant->size()) != numbers.size()) return;
  value.constant = cast(Tensor::of<double>(value.constant->dims(), numbers), value.constant->dtype());
}

bool finite(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

/// By how much each output is to be multiplied so that it varies as it did; less where it hardly varies any more.
std::vector<double> factors_of(const Moments& now, const Moments& before) {
  constexpr double kMost = 4;
  std::vector<double> factors;
  for (size_t i = 0; i < now.variances.size(); ++i) {
    const double ratio = std::sqrt(before.variances[i] / now.variances[i]);
    factors.push_back(std::isfinite(ratio) && ratio > 0 ? std::min(ratio, kMost) : 1);
  }
  return factors;
}

void multiply(Value& weight, size_t axis, const std::vector<double>& factors) {
  std::vector<double> numbers = to_doubles(*weight.constant);
  const auto inner = static_cast<size_t>(row_major_strides(weight.constant->dims())[axis]);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] *= factors[i / inner % factors.size()];
  put(weight, numbers);
}

bool correct(const Site& site, const Moments& now, const Moments& before) {
  if (now.means.empty() || before.means.size() != now.means.size() || !finite(now.means) || !finite(now.variances) ||
      !finite(before.means))
    return false;
  if (site.normalizes) {
    std::vector<double> means = to_doubles(*site.node->input(3)->constant);
    std::vector<double> variances = to_doubles(*site.node->input(4)->constant);
    if (means.size() != now.means.size() || variances.size() != means.size()) return false;
    for (size_t i = 0; i < means.size(); ++i) {
      const double ratio = now.variances[i] / before.variances[i];
      means[i] += now.means[i] - before.means[i];
      variances[i] = std::isfinite(ratio) ? variances[i] * ratio : now.variances[i];
    }
    put(*site.node->input(3), means);
    put(*site.node->input(4), variances);
    return true;
  }
  std::vector<double> bias = to_doubles(*site.node->input(2)->constant);
  if (bias.size() != now.means.size()) return false;
  const std::vector<double> factors = factors_of(now, before);
  for (size_t i = 0; i < bias.size(); ++i) bias[i] = (bias[i] - now.means[i]) * factors[i] + before.means[i];
  put(*site.node->input(2), bias);
  multiply(*site.node->input(1), *output_axis(*site.node), factors);
  return true;
}

std::vector<std::string> names_of(std::span<const Site> sites) {
  std::vector<std::string> names;
  for (const Site& site : sites) names.push_back(site.seen);
  return names;
}

}  // namespace

int64_t correct_statistics(Model& model, const Model& original, const Means& means) {
  std::vector<Site> sites;
  for (Node* node : model.graph->nodes())
    if (auto site = site_of(node)) sites.push_back(*std::move(site));
  if (sites.empty()) return 0;
  const std::vector<Moments> before = moments_of(original, names_of(sites), means);
  int64_t corrected = 0;
  const size_t stages = std::min(kStages, sites.size());
  for (size_t stage = 0; stage < stages; ++stage) {
    const size_t first = stage * sites.size() / stages, end = (stage + 1) * sites.size() / stages;
    const auto now = moments_of(model, names_of(std::span(sites).subspan(first, end - first)), means);
    for (size_t i = first; i < end; ++i) corrected += correct(sites[i], now[i - first], before[i]);
  }
  return corrected;
}

}  // namespace mlopt::prune
