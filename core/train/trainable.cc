#include "core/train/trainable.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/tensor/cast.h"
#include "core/train/angles.h"
#include "core/train/constants.h"

namespace mlopt::train {
namespace {

bool is_mask(const Tensor& tensor) {
  constexpr double kNone = -1e4;
  const std::vector<double> values = to_doubles(tensor);
  return std::any_of(values.begin(), values.end(), [](double x) { return !std::isfinite(x) || x <= kNone; });
}

/// All that reads it works on an input of the graph, element by element.
bool normalizes_inputs(const Value& value) {
  return std::all_of(value.uses.begin(), value.uses.end(), [](const Use& use) {
    const Node& node = *use.node;
    if (node.op != "Sub" && node.op != "Add" && node.op != "Mul" && node.op != "Div") return false;
    const Value* other = node.input(1 - use.index);
    return other && other->is_input && !other->constant;
  });
}

/// Exporters name parameters as the module does, and what they make up by themselves in ways of their own: PyTorch's
/// "/norm/Constant_1_output_0", "onnx::Mul_24", "val_8" and "45", TensorFlow's "norm/Const_1:0".
bool is_named_by_exporter(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('/') + 1);
  return last.starts_with("onnx::") || last.starts_with("Const") || last.starts_with("val_") ||
         last.find_first_not_of("0123456789_") == std::string_view::npos;
}

/// Ones and zeros that a normalization without weights has because the operator wants some. Numbers alone do not tell
/// them from weights that were never trained, which are trained, so the name decides.
bool is_placeholder(const Value& value) {
  const auto is_all = [&](double number) {
    return std::ranges::all_of(to_doubles(*value.constant), [&](double x) { return x == number; });
  };
  return is_named_by_exporter(value.name) && std::ranges::all_of(value.uses, [&](const Use& use) {
           return use.node->op.ends_with("Normalization") &&
                  ((use.index == 1 && is_all(1)) || (use.index == 2 && is_all(0)));
         });
}

/// Only where the product has one channel: what all channels share is a number, as the 3 of a HardSwish.
bool adds_to_channel(const Node& add, int index) {
  const Value* product = add.input(1 - index);
  const auto& dims = product->type.dims;
  const bool convolves = product->producer->op.starts_with("Conv");
  if (!dims || dims->size() < (convolves ? 2 : 1)) return false;
  return (convolves ? dims->at(1) : dims->back()).value() == 1;
}

/// Most single numbers are settings (an epsilon, the 0.5 of a GELU): only layers have some that are weights, which
/// exporters may give axes first.
bool is_single_weight(const Value& value) {
  constexpr std::string_view kSteps[] = {"Identity", "Cast", "Unsqueeze", "Reshape", "Squeeze"};
  return std::ranges::any_of(value.uses, [&](const Use& use) {
    if (use.index == 0 && std::ranges::count(kSteps, use.node->op) > 0) return is_single_weight(*use.node->output(0));
    return is_of_layer(use) && (use.node->op != "Add" || adds_to_channel(*use.node, use.index));
  });
}

bool looks_like_weights(const Value& value) {
  const int64_t size = value.constant->size();
  return (size > 1 || (size == 1 && is_single_weight(value))) && !normalizes_inputs(value) &&
         !is_mask(*value.constant) && !is_placeholder(value);
}

/// By its name, or by that of the weight that it is a copy of.
bool listed(const std::vector<std::string>& globs, const Value& value, const TrainableChoice& choice) {
  const auto copy = choice.copies.find(value.name);
  return glob_any(globs, value.name) || (copy != choice.copies.end() && glob_any(globs, copy->second));
}

void check_globs(const std::vector<std::string>& globs, const std::vector<Value*>& values, const char* option) {
  for (const std::string& glob : globs)
    if (std::none_of(values.begin(), values.end(), [&](const Value* v) { return glob_match(glob, v->name); })) {
      std::vector<std::string> names;
      for (const Value* v : values) names.push_back(v->name);
      usage_error(fmt::format("no weight is called '{}'", glob), option, suggestion(glob, names));
    }
}

}  // namespace

std::vector<Value*> trainable(const Model& model, const TrainableChoice& choice) {
  std::vector<Value*> floats, chosen;
  for (Value* v : model.graph->initializers())
    if (!v->opaque && is_float(v->constant->dtype()) && !v->uses.empty()) floats.push_back(v);
  check_globs(choice.only, floats, "--trainable");
  check_globs(choice.freeze, floats, "--freeze");
  const std::vector<const Value*> turning = choice.only.empty() ? angles(floats) : std::vector<const Value*>();
  for (Value* v : floats) {
    const bool named = std::find(choice.also.begin(), choice.also.end(), v->name) != choice.also.end();
    const bool wanted = named || (choice.only.empty() ? looks_like_weights(*v) && std::ranges::count(turning, v) == 0
                                                      : listed(choice.only, *v, choice));
    if (wanted && !listed(choice.freeze, *v, choice)) chosen.push_back(v);
  }
  if (chosen.empty())
    input_error("nothing is left to train", model.path, "freeze less, or name what to train with --trainable GLOB");
  return chosen;
}

}  // namespace mlopt::train
