#include "prune/structure/tidy.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/calib/model_inputs.h"
#include "core/ir/macs.h"
#include "graphopt/pipelines.h"

namespace mlopt::prune {
namespace {

/// What makes shapes constant and finds recurrent layers, and hides nothing: layers stay as they can be trained on.
const std::vector<std::string> kTidy = {"inline_functions",
                                        "constant_to_initializer",
                                        "eliminate_identity",
                                        "loop_invariants",
                                        "loop_counters",
                                        "fold_shapes",
                                        "fold_constants",
                                        "eliminate_nop_cast",
                                        "eliminate_nop_expand",
                                        "materialize_reshape_shape",
                                        "eliminate_nop_reshape",
                                        "push_shapes",
                                        "sizes_from_inputs",
                                        "fuse_gru",
                                        "fuse_lstm",
                                        "fuse_rnn",
                                        "stack_of_pieces_to_transpose",
                                        "eliminate_zero_state",
                                        "eliminate_dead_code"};

/// Old exporters list every weight as an input with a default, which is then no constant. Gives how many there were;
/// scalars, which may be settings, stay.
int64_t make_defaults_constant(Graph& graph) {
  int64_t made = 0;
  for (size_t i = graph.inputs().size(); i-- > 0;) {
    const Value* v = graph.inputs()[i];
    if (!v->is_initializer() || v->constant->rank() == 0) continue;
    graph.remove_input(static_cast<int>(i));
    ++made;
  }
  return made;
}

/// Gives each of these operators a vector of its own: optimizers keep equal ones, such as biases of zeros, once, and
/// the channels of all layers that read one would have to go together.
void separate_vectors(Graph& graph) {
  constexpr std::string_view kReaders[] = {"Conv", "ConvTranspose", "Gemm", "BatchNormalization", "Add", "Mul"};
  for (Value* vector : graph.initializers()) {
    if (vector->is_input || !is_float(vector->constant->dtype()) || vector->constant->rank() != 1) continue;
    const std::vector<Use> uses = vector->uses;
    for (size_t i = 1; i < uses.size(); ++i) {
      const Use& use = uses[i];
      const bool reads = use.node && use.node->graph() == &graph && use.node->domain.empty() &&
                         std::find(std::begin(kReaders), std::end(kReaders), use.node->op) != std::end(kReaders);
      if (reads) graph.set_input(use.node, use.index, graph.add_constant(vector->name, *vector->constant));
    }
  }
}

}  // namespace

Model tidied(const Model& source, const PassContext& passes, std::vector<std::string>& warnings) {
  Model model = clone(source);
  if (const int64_t made = make_defaults_constant(*model.graph))
    warnings.push_back(fmt::format("{} weights that were inputs with defaults are constants now", made));
  graphopt::fuse(model, passes, {kTidy, {}});
  separate_vectors(*model.graph);
  part_axes(model, passes.standard_types);
  return model;
}

void part_axes(Model& model, TypeRule standard) {
  PassContext passes;
  passes.standard_types = standard;
  graphopt::fuse(model, passes, {{"fold_shapes", "materialize_reshape_shape", "merge_layouts"}, {}});
  infer(model, standard);
}

int64_t macs_of(const Model& model, TypeRule standard) {
  try {
    return total_macs(with_smallest_inputs(model, standard)).macs;
  } catch (const Error&) {
    return total_macs(model).macs;  // of the nodes whose shapes are known
  }
}

void require_data(const Spec& spec, bool data) {
  if ((spec.fit || spec.statistics) && !data)
    usage_error(fmt::format("{} needs data: it looks at what layers are given", spec.fit ? "lstsq" : "bn"), "--data",
                "give --data with inputs of the kind that the model will see");
}

bool left_out(const Spec& spec, const std::vector<std::string>& names) {
  const auto hit = [&](const std::vector<std::string>& globs) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& n) { return glob_any(globs, n); });
  };
  return (!spec.only.empty() && !hit(spec.only)) || hit(spec.skip);
}

void check_globs(const Spec& spec, const std::vector<std::string>& names, std::string_view part) {
  const auto check = [&](const std::string& glob, const char* option) {
    if (std::none_of(names.begin(), names.end(), [&](const std::string& n) { return glob_match(glob, n); }))
      usage_error(fmt::format("'{}' matches no layer and no weight that can lose {}", glob, part), option,
                  suggestion(glob, names));
  };
  for (const std::string& glob : spec.only) check(glob, "--only");
  for (const std::string& glob : spec.skip) check(glob, "--skip");
}

}  // namespace mlopt::prune
