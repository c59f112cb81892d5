#include "quantize/rotation/rotate.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "core/tensor/cast.h"
#include "quantize/rotation/rotation.h"
#include "quantize/rotation/stream.h"

namespace mlopt::quantize {
namespace {

constexpr float kMostShift =
    1000;  // of a normalization's bias over its scale: more, and places behind the point get lost

std::vector<float> numbers_of(const Node& norm, int input) { return to_floats(*norm.input(input)->known_constant()); }

/// A normalization's bias over its scale: what it adds before its scale goes into the layers behind. Nothing where the
/// scale is next to nothing.
std::optional<std::vector<float>> shift_of(const Node& norm) {
  std::vector<float> shift = numbers_of(norm, 2);
  const std::vector<float> scale = numbers_of(norm, scale_input(norm));
  for (size_t i = 0; i < shift.size(); ++i) {
    if (shift[i] == 0) continue;
    shift[i] /= scale[i];
    if (!(std::fabs(shift[i]) <= kMostShift)) return std::nullopt;
  }
  return shift;
}

std::string problem_of(const Stream& stream) {
  if (!stream.problem.empty()) return stream.problem;
  for (const Node* norm : stream.norms)
    if (norm->input(2) && !shift_of(*norm)) return fmt::format("{} adds where it scales by nothing", norm->label());
  return {};
}

void rotate(Graph& graph, const Stream& stream, const Rotation& rotation) {
  for (const Turned& t : stream.constants) {
    const Value* old = t.node->input(t.input);
    const std::vector<float> scale = t.norm ? numbers_of(*t.norm, scale_input(*t.norm)) : std::vector<float>{};
    graph.set_input(t.node, t.input,
                    graph.add_constant(old->name + "_rotated", rotation.apply(*old->known_constant(), t.axis, scale)));
  }
  for (Node* norm : stream.norms) {
    if (norm->input(2)) {
      const Value* bias = norm->input(2);
      const Tensor shift = Tensor::of<float>({rotation.size()}, *shift_of(*norm));
      graph.set_input(norm, 2, graph.add_constant(bias->name + "_rotated", rotation.apply(shift, 0)));
    }
    const Tensor ones =
        Tensor::of<float>({rotation.size()}, std::vector<float>(static_cast<size_t>(rotation.size()), 1));
    const int scale = scale_input(*norm);
    graph.set_input(norm, scale, graph.add_constant(norm->input(scale)->name + "_ones", ones));
  }
}

}  // namespace

RotatedStreams rotate_streams(Model& model) {
  Graph& graph = *model.graph;
  RotatedStreams done;
  std::set<const Node*> seen;
  std::map<int64_t, Rotation> rotations;
  for (Node* node : graph.nodes()) {
    if (!normalizes_features(*node, model.opset()) || seen.contains(node)) continue;
    const Stream stream = trace_stream(node, model.opset());
    seen.insert(stream.norms.begin(), stream.norms.end());
    if (const std::string problem = problem_of(stream); !problem.empty()) {
      const std::string sentence = fmt::format("what {} reads is not rotated: {}", node->label(), problem);
      const auto tail = [&](const std::string& other) { return other.ends_with(problem); };
      if (std::none_of(done.problems.begin(), done.problems.end(), tail)) done.problems.push_back(sentence);
      continue;
    }
    const auto at = rotations.try_emplace(stream.features, stream.features, uint64_t{0}).first;
    rotate(graph, stream, at->second);
    ++done.streams;
  }
  if (done.streams == 0 && done.problems.empty())
    done.problems.emplace_back("no normalization with a constant scale reads a residual stream");
  return done;
}

}  // namespace mlopt::quantize
