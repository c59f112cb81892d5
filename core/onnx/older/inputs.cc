#include <algorithm>

#include "core/onnx/older/rules.h"
#include "core/onnx/older/steps.h"

namespace mlopt::proto::older {
namespace {

/// The second input as an attribute. One that is left out means the same in both.
std::string as_attr(Node& node, std::string_view attr, const std::string& what) {
  if (!node.input(1)) return "";
  const auto given = numbers(node, 1);
  if (!given) return what + " are not constant";
  drop_input(node, 1);
  node.set_attr(attr, *given);
  return "";
}

}  // namespace

/// The axes as an attribute; none are all of them, or, where the node says so, stand for no reduction.
std::string reduce(Node& node) {
  const Value* input = node.input(1);
  const auto axes = input ? numbers(node, 1) : Ints{};
  if (!axes) return "its axes are not constant";
  const bool nothing = axes->empty() && number(node, "noop_with_empty_axes", 0) != 0;
  constexpr std::string_view kSameOfOne[] = {"ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"};
  if (nothing && std::find(std::begin(kSameOfOne), std::end(kSameOfOne), node.op) == std::end(kSameOfOne))
    return "without axes it reduces nothing";
  drop(node, "noop_with_empty_axes");
  drop_input(node, 1);
  if (nothing) {
    drop(node, "keepdims");
    node.op = "Identity";
  } else if (!axes->empty()) {
    node.set_attr("axes", *axes);
  }
  return "";
}

std::string squeeze(Node& node) { return as_attr(node, "axes", "its axes"); }

/// As many parts of one size, but for the last, which may be smaller.
std::string split(Node& node) {
  const auto count = static_cast<int64_t>(node.outputs().size());
  if (!node.attr("num_outputs")) return "";
  if (!node.input(1)) {
    const auto& dims = node.input(0)->type.dims;
    if (!dims) return "the rank of what it splits is not known";
    const auto axis = normalize_axis(number(node, "axis", 0), static_cast<int64_t>(dims->size()));
    const auto size = (*dims)[static_cast<size_t>(axis)].value();
    if (!size) return "the size of what it splits is not known";
    const int64_t part = (*size + count - 1) / count;
    Ints sizes(static_cast<size_t>(count), part);
    sizes.back() = *size - part * (count - 1);
    if (sizes.back() < 0) return "it has more parts than there is to split";
    if (sizes.back() != part) give_ints(node, 1, "sizes", sizes);
  }
  return drop(node, "num_outputs");
}

std::string split_sizes(Node& node) { return as_attr(node, "split", "the sizes of its parts"); }

/// The pads of all axes.
std::string pad(Node& node) {
  if (!node.input(3)) return "";
  const auto& dims = node.input(0)->type.dims;
  const auto axes = numbers(node, 3), some = numbers(node, 1);
  if (!dims || !axes || !some || some->size() != 2 * axes->size()) return "its axes or its pads are not constant";
  const size_t rank = dims->size();
  Ints all(2 * rank, 0);
  for (size_t i = 0; i < axes->size(); ++i) {
    const auto axis = static_cast<size_t>(normalize_axis((*axes)[i], static_cast<int64_t>(rank)));
    all[axis] = (*some)[i];
    all[rank + axis] = (*some)[axes->size() + i];
  }
  drop_input(node, 3);
  give_ints(node, 1, "pads", all);
  return "";
}

/// The axis as an attribute.
std::string dft(Node& node) {
  const auto axis = node.input(2) ? numbers(node, 2) : Ints{-2};
  if (!axis || axis->size() != 1) return "its axis is not constant";
  drop_input(node, 2);
  node.set_attr("axis", axis->front());
  return "";
}

/// What may be left out must be there, and empty.
std::string resize_inputs(Node& node) {
  Graph& graph = *node.graph();
  const auto fill = [&](int input, const std::string& what) {
    if (node.input(input)) return;
    const std::string name = node.first_output()->name + "_" + what;
    graph.set_input(&node, input, graph.add_constant(name, Tensor::of(Dims{0}, std::vector<float>{})));
  };
  fill(1, "roi");
  fill(2, "scales");
  return "";
}

/// Out of training, where it does nothing. What its mask is then was another matter.
std::string dropout(Node& node) {
  const Value* mask = node.output(1);
  if (mask && (!mask->uses.empty() || mask->is_output())) return "its mask is read";
  const auto training = node.input(2) ? numbers(node, 2) : Ints{0};
  if (!training || training->empty() || training->front() != 0) return "older opsets do not train";
  drop_input(node, 2);
  drop_input(node, 1);
  return drop(node, "seed");
}

}  // namespace mlopt::proto::older
