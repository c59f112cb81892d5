// Gather(W, ids) -> com.microsoft.GatherBlockQuantized(codes, ids, scales, zero points): tables that are looked up stay
// in codes in memory, and only the rows that are asked for become floats. Codes [entries][bytes], the first of a byte
// in its low bits; zero points of a row packed likewise.
#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "core/ir/view.h"
#include "quantize/emit/packed_rows.h"
#include "quantize/emit/weight_forms.h"
#include "quantize/emit/weight_writer.h"

namespace mlopt::quantize {
namespace {

constexpr const char* kMicrosoft = "com.microsoft";
constexpr int64_t kByte = 8;

bool only_looked_up(const Weight& weight) {
  const std::vector<Use>& uses = weight.value->uses;
  return !weight.value->is_output() && std::all_of(uses.begin(), uses.end(), [](const Use& use) {
    return use.node->is("Gather") && use.index == 0 && NodeView(*use.node, 0).get_int("axis", 0) == 0;
  });
}

std::string problem(const Weight& weight, const Spec& spec) {
  constexpr int64_t kLeastBlock = 16, kMostBlock = 256;
  const WeightFormat& format = spec.weights;
  if (weight.op != "Gather" || weight.value->constant->rank() != 2 || !only_looked_up(weight))
    return "GatherBlockQuantized is for tables of two axes that nothing but Gather reads";
  if (format.family != Family::kUniform || (format.bits != 4 && format.bits != 8) || spec.per_tensor)
    return "GatherBlockQuantized has uniform levels in 4 or 8 bits, a scale for each group";
  const int64_t block = block_of(format.group, weight.columns);
  if (block < kLeastBlock || block > kMostBlock || !std::has_single_bit(static_cast<uint64_t>(block)))
    return fmt::format("GatherBlockQuantized has groups of 16, 32, 64, 128 or 256, not {}",
                       format.group > 0 ? format.group : weight.columns);
  return weight.columns * format.bits % kByte == 0 ? "" : "a row of its codes is no whole number of bytes";
}

int64_t opset(const Weight&, const Spec&) { return 1; }

int64_t write(Model& model, const Weight& weight, const Coded& coded, const Spec& spec) {
  const int64_t entries = coded.rows, groups = coded.groups();
  const auto bytes_of = [&](int64_t codes) { return (codes * coded.bits + kByte - 1) / kByte; };
  WeightWriter out(weight);
  std::vector<Value*> stored = {
      out.constant("codes", packed_rows(coded.codes, coded.columns, coded.bits, {entries, bytes_of(coded.columns)})),
      out.constant("scale", Tensor::of<float>({entries, groups}, coded.scale))};
  if (!spec.scheme().symmetric)
    stored.push_back(
        out.constant("zero_point", packed_rows(coded.zero, groups, coded.bits, {entries, bytes_of(groups)})));
  if (model.opset(kMicrosoft) == 0) model.set_opset(kMicrosoft, 1);
  const std::vector<Use> uses = weight.value->uses;
  for (const Use& use : uses) {
    Node* node = use.node;
    Graph& graph = *node->graph();
    node->op = "GatherBlockQuantized";
    node->domain = kMicrosoft;
    node->attrs = {{"bits", static_cast<int64_t>(coded.bits), {}},
                   {"block_size", block_of(spec.weights.group, coded.columns), {}},
                   {"gather_axis", int64_t{0}, {}},
                   {"quantize_axis", int64_t{1}, {}}};
    graph.resize_inputs(node, static_cast<int>(stored.size()) + 1);
    graph.set_input(node, 0, stored[0]);
    for (size_t i = 1; i < stored.size(); ++i) graph.set_input(node, static_cast<int>(i) + 1, stored[i]);
  }
  return out.bytes();
}

}  // namespace

const WeightForm kGatherBlockForm = {Emit::kGatherBlock, problem, opset, write};

}  // namespace mlopt::quantize
