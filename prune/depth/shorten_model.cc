#include "prune/depth/shorten_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/ir/verify.h"
#include "graphopt/pipelines.h"
#include "prune/depth/block_scores.h"
#include "prune/finite.h"
#include "prune/statistics.h"
#include "prune/structure/choose.h"
#include "prune/structure/prove.h"
#include "prune/structure/refit.h"
#include "prune/structure/tidy.h"

namespace mlopt::prune {
namespace {

class Shortener {
 public:
  Shortener(const Model& source, const Spec& spec, const Means& means) : source_(source), spec_(spec), means_(means) {}

  Pruned run() {
    require_data(spec_, means_.data != nullptr);
    model_ = tidied(source_, means_.passes, result_.warnings);
    choose_blocks();
    result_.spec = spec_;
    result_.macs_before = macs(model_);
    order_ = least_first();
    const std::vector<size_t> gone = going();
    for (size_t b = 0; b < blocks_.size(); ++b) report(b, std::find(gone.begin(), gone.end(), b) != gone.end());
    if (gone.empty()) return unchanged();
    remove(gone);
    result_.macs_after = macs(result_.model);
    return std::move(result_);
  }

 private:
  int64_t macs(const Model& model) const { return macs_of(model, means_.passes.standard_types); }

  static std::vector<std::string> names_of(const Block& block) {
    std::vector<std::string> names{block.name, block.join->called()};
    for (const Node* node : block.nodes) names.push_back(node->called());
    for (const Value* weight : block.weights) names.push_back(weight->name);
    return names;
  }

  /// Those that --only and --skip leave.
  void choose_blocks() {
    Blocks found = find_blocks(model_);
    result_.left = std::move(found.left);
    blocks_ = std::move(found.blocks);
    std::vector<std::string> names, all;
    for (const Block& block : blocks_) {
      names.push_back(block.name);
      for (std::string& name : names_of(block)) all.push_back(std::move(name));
    }
    if (!blocks_.empty()) {
      check_globs(spec_, all, "blocks");
      check_names(spec_.shares, names);
    }
    std::erase_if(blocks_, [&](const Block& block) {
      const bool out = left_out(spec_, names_of(block));
      if (out) result_.left.try_emplace(block.name, "excluded by --only or --skip");
      return out;
    });
    if (blocks_.empty()) refuse();
  }

  [[noreturn]] void refuse() const {
    constexpr size_t kShown = 4;
    std::vector<std::string> reasons;
    for (const auto& [node, reason] : result_.left)
      if (reasons.size() < kShown) reasons.push_back(fmt::format("{}: {}", node, reason));
    input_error(fmt::format("the model has no residual block that can be left out{}",
                            reasons.empty() ? "" : " (" + join(reasons, "; ") + ")"),
                source_.path, "--granularity channel makes layers narrower instead");
  }

  /// From the one that is needed least on. Of measured curves: by what is lost for what is saved.
  std::vector<size_t> least_first() {
    std::vector<size_t> order(blocks_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (!spec_.shares.empty()) return order;
    scores_.resize(blocks_.size());
    if (by_curves(spec_)) {
      for (const Curve& curve : *means_.curves)
        for (size_t b = 0; b < blocks_.size(); ++b)
          if (blocks_[b].name == curve.name && !curve.points.empty()) scores_[b] = price(curve.points.back());
    } else {
      BlockScores found = score_blocks(model_, blocks_, spec_, means_);
      scores_ = std::move(found.scores);
      result_.samples = found.samples;
      for (size_t b = 0; b < scores_.size(); ++b) require_ordered({&scores_[b], 1}, blocks_[b].name);
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores_[a] < scores_[b]; });
    return order;
  }

  double price(const CurvePoint& point) const {
    const bool by_time = spec_.latency || spec_.allocation == kByLatency;
    const double saved = by_time ? point.time : spec_.flops ? point.macs : 1;
    return saved > 0 ? point.loss / saved : INFINITY;
  }

  std::vector<size_t> first(size_t count) const {
    return {order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  std::vector<size_t> going() {
    std::vector<size_t> gone;
    if (!spec_.shares.empty() || spec_.threshold) {
      for (const size_t b : order_)
        if (spec_.threshold ? is_below(scores_[b], *spec_.threshold)
                            : share_of(spec_.shares, blocks_[b].name).value_or(0) >= 0.5)
          gone.push_back(b);
      return gone;
    }
    if (spec_.sparsity)
      gone = first(static_cast<size_t>(std::llround(*spec_.sparsity * static_cast<double>(blocks_.size()))));
    else
      gone = enough();
    if (spec_.sparsity && !by_curves(spec_)) return gone;
    if (spec_.flops && !by_curves(spec_)) return gone;
    result_.spec.allocation.clear();  // what was measured is said by names
    result_.spec.sparsity = result_.spec.flops = result_.spec.latency = std::nullopt;
    for (const size_t b : gone) result_.spec.shares.emplace_back(blocks_[b].name, 1);
    if (gone.empty()) result_.spec.sparsity = 0;
    return gone;
  }

  /// Share of the source's multiply-accumulates, or of its time, that is left.
  double left_with(size_t count) {
    const Model shorter = bypass_blocks(model_, chosen(first(count)));
    const double share =
        static_cast<double>(macs(shorter)) / static_cast<double>(std::max<int64_t>(1, result_.macs_before));
    if (spec_.flops) return share;
    if (!means_.time) unsupported_error("nothing is there that times models", "--latency");
    const double time = means_.time(shorter);
    result_.tried.push_back({static_cast<double>(count) / static_cast<double>(blocks_.size()), 1, share, time});
    return time;
  }

  /// As few blocks as are enough, by halving: fewer never cost more.
  std::vector<size_t> enough() {
    const double target = spec_.flops ? *spec_.flops : *spec_.latency;
    const char* what = spec_.flops ? "FLOPs" : "time";
    if (spec_.flops && result_.macs_before == 0)
      input_error("the FLOPs of the model are not known: none of its layers has a shape that is", source_.path,
                  "say how much to remove with --sparsity");
    size_t low = 0, high = blocks_.size();
    if (const double least = left_with(high); least > target)
      input_error(fmt::format("{:.4g} % of the {} cannot be reached: without all {} blocks {:.4g} % stay", 100 * target,
                              what, high, 100 * least),
                  source_.path, "--granularity channel makes what is left narrower");
    while (high - low > 1) {
      const size_t middle = (low + high) / 2;
      (left_with(middle) <= target ? high : low) = middle;
    }
    return target >= 1 ? first(0) : first(high);
  }

  std::vector<Block> chosen(const std::vector<size_t>& numbers) const {
    std::vector<Block> some;
    for (const size_t b : numbers) some.push_back(blocks_[b]);
    return some;
  }

  void report(size_t b, bool gone) {
    PrunedGroup& group = result_.groups.emplace_back();
    const Block& block = blocks_[b];
    group.name = block.name;
    group.unit = "blocks";
    for (const Node* node : block.layers) group.layers.push_back(node->called());
    for (const Value* weight : block.weights) group.members.push_back(weight->name);
    group.coupled_by = {block.join->label()};
    group.channels = 1;
    group.kept = gone ? 0 : 1;
  }

  void remove(const std::vector<size_t>& gone) {
    const std::vector<Block> blocks = chosen(gone);
    result_.model = bypass_blocks(model_, blocks);
    if (means_.runner && means_.prove) prove(mask_blocks(model_, blocks), source_, spec_.seed, means_, result_);
    if (spec_.fit) refit(result_.model, model_, means_);
    if (spec_.statistics) correct_statistics(result_.model, model_, means_);
    if (spec_.fit || spec_.statistics) result_.samples = std::min(means_.data->size(), means_.calibration_samples);
    graphopt::fuse(result_.model, means_.passes, {{"eliminate_identity", "eliminate_dead_code"}, {}});
    require_valid(result_.model, "the removal of blocks");
  }

  Pruned unchanged() {
    result_.warnings.emplace_back("nothing was removed: one block is more than what is asked");
    result_.model = clone(source_);
    result_.macs_after = result_.macs_before;
    return std::move(result_);
  }

  const Model& source_;
  const Spec& spec_;
  const Means& means_;
  Model model_;
  std::vector<Block> blocks_;
  std::vector<double> scores_;
  std::vector<size_t> order_;  // of the blocks
  Pruned result_;
};

}  // namespace

Pruned shorten_model(const Model& source, const Spec& spec, const Means& means) {
  return Shortener(source, spec, means).run();
}

}  // namespace mlopt::prune
