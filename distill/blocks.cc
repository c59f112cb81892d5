#include "distill/blocks.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/rewrite/pass.h"
#include "core/rewrite/segments.h"

namespace mlopt::distill {
namespace {

/// Segments `first` .. `first` + period * times - 1 repeat.
struct Run {
  size_t first = 0, period = 0, times = 0;
};

/// The longest repetition that begins at `first`; of what is left over at its end it leaves out the beginning instead,
/// so that a normalization belongs to the layer before it, as in the embedding of a transformer.
Run run_at(const std::vector<GraphSegment>& all, size_t first) {
  constexpr size_t kLongest = 32;  // segments of a block
  Run best;
  for (size_t period = 1; period <= kLongest && first + 2 * period <= all.size(); ++period) {
    size_t end = first + period;
    while (end < all.size() && all[end].signature == all[end - period].signature) ++end;
    const size_t times = (end - first) / period, start = end - times * period;
    const bool weighs = std::any_of(all.begin() + static_cast<std::ptrdiff_t>(start),
                                    all.begin() + static_cast<std::ptrdiff_t>(start + period),
                                    [](const GraphSegment& s) { return s.has_weights; });
    const bool fits = start > 0 && sample_type(*all[start - 1].end) == sample_type(*all[start + period - 1].end);
    if (times >= 2 && weighs && fits && times * period > best.times * best.period) best = {start, period, times};
  }
  return best;
}

}  // namespace

std::vector<Block> repeated_blocks(const Model& model) {
  const std::vector<GraphSegment> all = segments(model);
  std::vector<Block> blocks;
  for (size_t i = 1; i < all.size();) {
    const Run run = run_at(all, i);
    for (size_t k = 0; k < run.times; ++k) {
      const size_t first = run.first + k * run.period;
      Value *begin = all[first - 1].end, *end = all[first + run.period - 1].end;
      blocks.push_back({begin, end, end->producer->label()});
    }
    i = run.times > 0 ? run.first + run.times * run.period : i + 1;
  }
  return blocks;
}

std::vector<std::string> keep_blocks(Model& model, const std::vector<int64_t>& kept, const char* option) {
  const std::vector<Block> blocks = repeated_blocks(model);
  if (blocks.empty()) usage_error("the model has no repeated blocks", option, "make the student with other tools");
  const auto count = static_cast<int64_t>(blocks.size());
  for (const int64_t k : kept)
    if (k >= count)
      usage_error(fmt::format("there is no block {}", k), option,
                  fmt::format("the model has {} repeated blocks, from 0 to {}", count, count - 1));
  std::vector<std::string> left_out;
  // From the last to the first, so that what a block reads is still there.
  for (int64_t k = count; k-- > 0;) {
    if (std::find(kept.begin(), kept.end(), k) != kept.end()) continue;
    const Block& block = blocks[static_cast<size_t>(k)];
    left_out.insert(left_out.begin(), block.label);
    model.graph->replace_uses(block.end, block.begin);
  }
  remove_dead(model);
  return left_out;
}

std::vector<int64_t> parse_layers(const std::string& text, const char* option) {
  const std::string key = "layers=";
  if (!text.starts_with(key))
    usage_error(fmt::format("'{}' is no student", text), option, "layers=0/2/4 or shrink:width=0.5");
  std::vector<int64_t> layers;
  for (const std::string& piece : split(text.substr(key.size()), '/')) {
    const auto number = parse_int(piece);
    if (!number || *number < 0) usage_error(fmt::format("'{}' is no number of a block", piece), option, "layers=0/2/4");
    layers.push_back(*number);
  }
  return layers;
}

}  // namespace mlopt::distill
