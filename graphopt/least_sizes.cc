#include "graphopt/least_sizes.h"

#include <algorithm>

#include "core/ir/bind.h"
#include "graphopt/implied_sizes.h"

namespace mlopt::graphopt {
namespace {

constexpr int64_t kMost = 1 << 16;  // four seconds of sound

enum class Fit { kNot, kEmpty, kWell };  // kEmpty: some value has no elements

std::vector<std::string> growing(const std::vector<InputSpec>& inputs) {
  std::vector<std::string> names;
  for (const InputSpec& input : inputs)
    for (size_t axis = input.dims.size() > 1 ? 1 : 0; axis < input.dims.size(); ++axis)
      if (const auto name = input.dims[axis].symbol_name()) names.push_back(*name);
  return names;
}

/// Has it windows that do not fit into what it is given? Then a size of its result is not known.
bool reaches_beyond(const Node& node) {
  const bool windows = node.op.ends_with("Conv") || node.op.ends_with("Pool");
  const Value *x = node.input(0), *y = node.output(0);
  if (!windows || !x || !y || !x->type.static_dims() || !y->type.dims) return false;
  return std::any_of(y->type.dims->begin(), y->type.dims->end(), [](const Dim& d) { return !d.known(); });
}

Fit fit_of(const Model& model) {
  Fit fit = Fit::kWell;
  for (const Node* node : met_nodes(*model.graph)) {
    if (reaches_beyond(*node)) return Fit::kNot;
    for (const Value* v : node->outputs()) {
      if (!v || !v->type.dims) continue;
      for (const Dim& d : *v->type.dims) {
        const int64_t size = d.value().value_or(1);
        if (size < 0) return Fit::kNot;
        if (size == 0) fit = Fit::kEmpty;
      }
    }
  }
  return fit;
}

/// With the shapes that generated inputs would have.
Fit fit_at(const Model& read, const std::vector<InputSpec>& inputs, const RandomOptions& options, TypeRule standard) {
  Model model = clone(read);
  bind_input_shapes(model, concrete_shapes(inputs, options), standard);
  return fit_of(model);
}

}  // namespace

std::map<std::string, int64_t> least_sizes(const Model& read, const std::vector<InputSpec>& inputs,
                                           const RandomOptions& options, TypeRule standard) {
  std::map<std::string, int64_t> none, least_with_empty;
  const std::vector<std::string> names = growing(inputs);
  for (int64_t size = 1; size <= kMost && !names.empty(); size *= 2) {
    RandomOptions larger = options;
    for (const std::string& name : names) larger.least[name] = size;
    const Fit fit = fit_at(read, inputs, larger, standard);
    if (fit == Fit::kWell) return size == 1 ? none : larger.least;
    if (fit == Fit::kEmpty && least_with_empty.empty()) least_with_empty = larger.least;
  }
  return least_with_empty;
}

}  // namespace mlopt::graphopt
