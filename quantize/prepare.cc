#include "quantize/prepare.h"

#include <fmt/core.h>

#include "core/onnx/tools.h"
#include "core/rewrite/split_attention.h"
#include "graphopt/pipelines.h"
#include "quantize/delay_transpose.h"
#include "quantize/emit/single.h"
#include "quantize/restore/restore.h"
#include "quantize/source.h"
#include "quantize/split_embeddings.h"
#include "quantize/wanted_opset.h"

namespace mlopt::quantize {

namespace {

/// Such formats leave tables as they are.
bool stores_activations(Format format) { return format == Format::kStatic || format == Format::kW8A8Dynamic; }

/// Of Swish ONNX Runtime runs that of opset 24 alone; its parts it joins by itself.
void fuse(Model& model, const Spec& spec, const PassContext& passes, std::vector<std::string> no_passes = {}) {
  if (spec.target.runtime == Runtime::kOrt) no_passes.emplace_back("fuse_swish");
  graphopt::prepare_to_quantize(model, passes, std::move(no_passes));
}

}  // namespace

void change_opset(Model& model, const Spec& spec, const PassContext& passes) {
  const int64_t opset = wanted_opset(model, spec);
  if (opset == model.opset()) return;
  model = convert_opset(model, opset);
  // What the conversion added; factors that methods moved into normalizations do not go on to the layers again.
  fuse(model, spec, passes, {"fold_affine_into_*"});
}

bool is_integer_format(Format format) {
  return format == Format::kStatic || format == Format::kW8A8Dynamic || format == Format::kWeights;
}

Prepared prepare(const Model& source, const Spec& spec, const Means& means) {
  if (is_integer_format(spec.format) && !spec.requantize) require_float(source);
  Prepared done;
  Model& model = done.model = clone(source);
  if (!model.functions.empty()) inline_functions(model);
  if (const int64_t made = make_defaults_constant(*model.graph))
    done.warnings.push_back(fmt::format("{} weights that were inputs with defaults are constants now", made));
  if (spec.requantize) {
    done.restored = restore_floats(model, means.passes);
    if (done.restored == 0) done.warnings.emplace_back("the model was not quantized before");
  }
  if (is_integer_format(spec.format) && holds_half(model)) {
    emit_single(model);
    done.warnings.emplace_back("the model computes in 16 bits: what does not become int8 is float32 now");
  }
  if (spec.correct_bias && !(means.data && !means.generated)) done.moments = moments_of(model);
  fuse(model, spec, means.passes);
  run_pass(model, split_attention_pass, means.passes);
  if (!stores_activations(spec.format)) run_pass(model, split_embeddings, means.passes);
  if (wanted_opset(model, spec) > model.opset() || !is_integer_format(spec.format))
    change_opset(model, spec, means.passes);
  if (spec.format == Format::kF16) run_pass(model, delay_transpose, means.passes);
  return done;
}

}  // namespace mlopt::quantize
