#include <algorithm>
#include <numeric>

#include "core/autodiff/rules.h"
#include "core/ir/slice_span.h"

namespace mlopt::autodiff {
namespace {

std::vector<Value*> reshape(GradArgs& a) { return {a.reshaped(a.grad(), a.dims(a.in(0)))}; }

/// The engine sums what was expanded.
std::vector<Value*> expand(GradArgs& a) { return {a.grad()}; }

std::vector<Value*> transpose(GradArgs& a) {
  const size_t rank = a.dims(a.in(0)).size();
  std::vector<int64_t> order = a.view.get_ints("perm"), back(rank);
  if (order.empty())
    for (size_t i = rank; i-- > 0;) order.push_back(static_cast<int64_t>(i));
  for (size_t i = 0; i < rank; ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return {a.transposed(a.grad(), back)};
}

std::vector<Value*> concat(GradArgs& a) {
  const int64_t axis = a.axis(a.view.get_int("axis", 1));
  std::vector<Value*> grads;
  int64_t begin = 0;
  for (int i = 0; i < a.inputs(); ++i) {
    const int64_t end = begin + a.dims(a.in(i))[static_cast<size_t>(axis)];
    grads.push_back(a.needs(i) ? a.sliced(a.grad(), axis, begin, end) : nullptr);
    begin = end;
  }
  return grads;
}

std::vector<Value*> split(GradArgs& a) {
  std::vector<Value*> parts;
  for (size_t i = 0; i < a.view.node().outputs().size(); ++i) {
    const int k = static_cast<int>(i);
    parts.push_back(a.grad(k) ? a.grad(k) : a.zeros(a.out(k)));
  }
  return {parts.size() == 1 ? parts[0] : a.op("Concat", parts, {{"axis", a.axis(a.view.get_int("axis", 0)), {}}})};
}

/// For operators whose output is made of elements of input 0: these, given the places of the elements in place of the
/// elements, say where each came from. `fill`: the value of an output that came from nowhere goes to this input.
std::vector<Value*> moved(GradArgs& a, int fill) {
  const Dims dims = a.dims(a.in(0));
  const int64_t count = element_count(dims);
  std::vector<int64_t> places(static_cast<size_t>(count));
  std::iota(places.begin(), places.end(), 0);
  std::vector<Value*> inputs = a.view.node().inputs();
  inputs[0] = a.reshaped(a.indices(places), dims);
  if (fill > 0) {
    inputs.resize(std::max(inputs.size(), static_cast<size_t>(fill) + 1));
    inputs[static_cast<size_t>(fill)] = a.reshaped(a.indices({count}), {});
  }
  Value* from = a.op(a.view.node().op, inputs, a.view.node().attrs);
  const Type flat = Type::tensor(a.in(0)->type.dtype, Dims{count});
  return {a.reshaped(a.own("GatherGrad", {a.flat(from), a.flat(a.grad())},
                           {{"axis", int64_t{0}, {}}, {"shape", Dims{count}, {}}}, {flat})[0],
                     dims)};
}

std::vector<Value*> move(GradArgs& a) { return moved(a, 0); }

/// Back to its place between zeros.
std::vector<Value*> slice(GradArgs& a) {
  const std::vector<int64_t> starts = a.ints("starts", 1), ends = a.ints("ends", 2);
  const std::vector<int64_t> steps = a.ints("steps", 4, std::vector<int64_t>(starts.size(), 1));
  if (std::any_of(steps.begin(), steps.end(), [](int64_t step) { return step != 1; })) return move(a);
  std::vector<int64_t> axes = a.ints("axes", 3);
  if (axes.empty())
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  const Dims dims = a.dims(a.in(0));
  std::vector<int64_t> pads(2 * dims.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(a.axis(axes[i]));
    const SliceSpan span = slice_span(dims[axis], starts[i], ends[i], 1);
    pads[axis] = span.first;
    pads[dims.size() + axis] = dims[axis] - span.first - span.count;
  }
  return {a.padded(a.grad(), pads)};
}

std::vector<Value*> pad(GradArgs& a) {
  const bool constant = a.view.get_string("mode", "constant") == "constant";
  std::vector<int64_t> pads = a.ints("pads", 1), axes = a.ints("axes", 3);
  const Dims dims = a.dims(a.in(0));
  if (!constant || std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p < 0; }))
    return moved(a, constant ? 2 : 0);
  if (axes.empty())
    for (size_t i = 0; i < dims.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  Value* grad = a.grad();
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = a.axis(axes[i]), length = dims[static_cast<size_t>(axis)];
    if (pads[i] != 0 || pads[axes.size() + i] != 0) grad = a.sliced(grad, axis, pads[i], pads[i] + length);
  }
  return {grad};
}

std::vector<Value*> trilu(GradArgs& a) {
  return {a.op("Trilu", {a.grad(), a.in(1)}, {{"upper", a.view.get_int("upper", 1), {}}})};
}

constexpr GradRule kRules[] = {
    {"Concat", concat},        {"DepthToSpace", move}, {"Expand", expand},
    {"Flatten", reshape},      {"Pad", pad},           {"Reshape", reshape},
    {"ReverseSequence", move}, {"Slice", slice},       {"SpaceToDepth", move},
    {"Split", split},          {"Squeeze", reshape},   {"Tile", move},
    {"Transpose", transpose},  {"Trilu", trilu},       {"Unsqueeze", reshape},
};

}  // namespace

std::span<const GradRule> layout_rules() { return kRules; }

}  // namespace mlopt::autodiff
