#include "quantize/emit/qoperator.h"

#include <algorithm>

#include "core/rewrite/qdq/passes.h"

namespace mlopt::quantize {

namespace {

constexpr const char* kContributed = "com.microsoft";

bool uses_domain(const Model& model, std::string_view domain) {
  const std::vector<Node*> nodes = all_nodes(*model.graph);
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node* n) { return n->domain == domain; });
}

}  // namespace

void emit_qoperator(Model& model, const Spec& spec) {
  std::vector<const Pass*> passes = {&qdq::moves, &qdq::split, &qdq::conv, &qdq::matmul};
  const bool imported = model.opset(kContributed) != 0;
  if (spec.target.runtime != Runtime::kOnnx) {
    passes.insert(passes.end(), {&qdq::gemm, &qdq::pointwise, &qdq::average_pool, &qdq::concat, &qdq::gemm_float,
                                 &qdq::matmul_float});
    if (!imported) model.set_opset(kContributed, 1);
  }
  for (const Pass* pass : passes) run_pass(model, *pass, {});
  if (!imported && !uses_domain(model, kContributed))
    std::erase_if(model.opsets, [](const OpsetImport& import) { return import.domain == kContributed; });
}

}  // namespace mlopt::quantize
