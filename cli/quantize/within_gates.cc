#include "cli/quantize/within_gates.h"

#include <fmt/core.h>

#include <set>

#include "core/base/error.h"
#include "core/base/hash.h"

namespace mlopt::cli {
namespace {

bool chooses_widths(const quantize::Spec& spec) { return spec.budget && spec.format == quantize::Format::kWeights; }

}  // namespace

int64_t final_size(const VerbOptions& verb, const Model& source, const Model& made, const quantize::Spec& spec) {
  VerbResult result;
  result.spec = quantize::to_string(spec);
  result.source_hash = Hash().digest();  // as long as any
  Model model = clone(made);
  record_origin(source, result, model);
  WriteOptions options = write_options(verb);
  if (options.external == false) options.external.reset();  // what is too large for one file has a size all the same
  return written_size(model, verb.output.empty() || verb.output == "-" ? "model.onnx" : verb.output, options);
}

quantize::Quantized quantize_within(const VerbOptions& verb, const Model& source, const quantize::Means& means,
                                    quantize::Spec& spec) {
  quantize::Quantized made = quantize::quantize(source, spec, means);
  if (!chooses_widths(spec) || !verb.gates.max_size || made.layers == 0) return made;
  const int64_t allowed = verb.gates.max_size->bytes(source.file_bytes);
  if (final_size(verb, source, made.model, spec) <= allowed) return made;
  quantize::Spec narrower = spec;
  narrower.budget = {quantize::Budget::Kind::kBytes, static_cast<double>(allowed)};
  try {
    made = quantize::quantize(source, narrower, means);
    spec = narrower;
  } catch (const Error& e) {
    if (e.code != Code::kUsage) throw;  // the gate says by how much it does not hold
  }
  return made;
}

std::vector<std::string> gates_beyond(const quantize::Spec& spec, const std::vector<Gate>& gates) {
  static const std::set<std::string_view> kOfOutputs = {"tolerance", "min-sqnr", "min-agreement", "max-drop"};
  std::vector<std::string> sentences;
  if (!chooses_widths(spec)) return sentences;
  for (const Gate& gate : gates) {
    if (gate.holds) continue;
    if (gate.name == "max-size")
      sentences.emplace_back(
          "no choice of formats was found that holds --max-size: allow more, or prune the model first");
    else if (kOfOutputs.contains(gate.name))
      sentences.push_back(fmt::format("no choice of formats was found that holds --{} within {}: allow more of one",
                                      gate.name, quantize::to_string(*spec.budget)));
  }
  return sentences;
}

}  // namespace mlopt::cli
