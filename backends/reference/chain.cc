// mlopt.Chain, one operator after the other: see backends/cpu/prepare/chain.cc.
#include "backends/reference/compute.h"
#include "backends/reference/inner_call.h"
#include "backends/reference/kernels.h"

namespace mlopt::reference {
namespace {

Datum run_link(const Call& call, const Node& node, const std::vector<Datum>& inputs) {
  const PlainKernel kernel = find_kernel(node.domain, node.op);
  if (!kernel) fail(call, "no operator '" + node.op + "' in a chain");
  constexpr int64_t kOpset = 14;  // Clip's limits are inputs, HardSwish is there
  const BodyRunner no_bodies;
  return run_inner(Call(NodeView(node, kOpset), {}, {}, no_bodies, call.seed), kernel, inputs).front();
}

void chain(Call& call) {
  const std::vector<std::string> ops = call.view.get_strings("ops");
  const std::vector<float> params = call.view.get_floats("params");
  const std::vector<int64_t> operands = call.view.get_ints("operands");
  require(call, params.size() == 2 * ops.size() && operands.size() == ops.size(), "a chain's lists differ in length");
  Datum made = call.datum(0);
  for (size_t i = 0; i < ops.size(); ++i) {
    const float a = params[2 * i], b = params[2 * i + 1];
    Node node;
    node.op = ops[i];
    node.domain = ops[i] == "FastGelu" ? "com.microsoft" : "";
    std::vector<Datum> inputs{made};
    if (operands[i] != 0) {
      const Datum other = call.datum(static_cast<int>(std::abs(operands[i])));
      inputs.insert(operands[i] < 0 ? inputs.begin() : inputs.end(), other);
    } else if (ops[i] == "Clip") {
      for (const float limit : {a, b}) inputs.push_back(Tensor::scalar(limit));
    } else {
      node.attrs = {{"alpha", a, ""}, {ops[i] == "Selu" ? "gamma" : "beta", b, ""}};
    }
    made = run_link(call, node, inputs);
  }
  call.set(0, std::move(made));
}

constexpr Kernel kKernels[] = {{"mlopt", "Chain", chain}};

}  // namespace

std::span<const Kernel> chain_kernels() { return kKernels; }

}  // namespace mlopt::reference
