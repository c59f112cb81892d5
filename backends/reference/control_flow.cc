#include <fmt/core.h>

#include "backends/reference/growth.h"
#include "backends/reference/kernels.h"
#include "backends/reference/slices.h"
#include "core/ir/constant.h"

namespace mlopt::reference {
namespace {

// Damaged counts and conditions would keep us for years.
constexpr int64_t kMostIterations = 1 << 20;
constexpr int64_t kMostItems = 1 << 27;  // of carried sequences, summed over the iterations: each may copy all of them

bool truth(const Call& call, const Tensor& condition) {
  if (condition.dtype() != DType::kBool || condition.size() != 1) fail(call, "the condition is not one bool");
  return *condition.data<bool>();
}

void if_else(Call& call) {
  const int body = body_index(call, truth(call, call.in(0)) ? "then_branch" : "else_branch");
  std::vector<Datum> outputs = call.run_body(body, {});
  if (static_cast<int>(outputs.size()) < call.output_count()) fail(call, "the branch has too few outputs");
  for (int i = 0; i < call.output_count(); ++i) call.set(i, std::move(outputs[static_cast<size_t>(i)]));
}

/// No limit is given and the body can never say stop.
bool is_endless(const Call& call, const Graph& body) {
  if (call.has(0)) return false;
  const Value* again = before_identities(body.outputs()[0]);
  if (const Tensor* constant = again->known_constant()) return truth(call, *constant);
  return again->is_input && again->graph == &body;
}

/// The state of a Loop between iterations.
struct LoopState {
  bool going = true;
  int64_t items = 0;  ///< of all sequences carried so far
  Growth growth;
  std::vector<Datum> carried;
  std::vector<std::vector<Tensor>> collected;  ///< of each scan output
};

void run_iteration(const Call& call, int body, int64_t i, LoopState& state) {
  const std::vector<Value*>& parameters = call.view.node().bodies()[static_cast<size_t>(body)]->inputs();
  std::vector<Datum> inputs{number_for(*parameters[0], Tensor::scalar(i)),
                            number_for(*parameters[1], Tensor::scalar(state.going))};
  inputs.insert(inputs.end(), state.carried.begin(), state.carried.end());
  std::vector<Datum> outputs = call.run_body(body, inputs);
  state.going = truth(call, outputs[0].tensor());
  for (size_t k = 0; k < state.carried.size(); ++k) {
    state.carried[k] = std::move(outputs[1 + k]);
    if (state.carried[k].kind() == Datum::Kind::kSequence)
      state.items += static_cast<int64_t>(state.carried[k].items().size());
  }
  state.growth.check(call, state.carried);
  for (size_t k = 0; k < state.collected.size(); ++k)
    state.collected[k].push_back(outputs[1 + state.carried.size() + k].tensor());
}

void loop(Call& call) {
  const int body_at = body_index(call, "body");
  const Graph& body = *call.view.node().bodies()[static_cast<size_t>(body_at)];
  LoopState state;
  for (int i = 2; i < call.input_count(); ++i) state.carried.push_back(call.has(i) ? call.datum(i) : Datum());
  const size_t fixed = 1 + state.carried.size();
  if (body.outputs().size() < fixed || body.inputs().size() != fixed + 1)
    fail(call, fmt::format("the body does not carry {} values", state.carried.size()));
  state.collected.resize(body.outputs().size() - fixed);
  const int64_t most = int_in(call, 0, INT64_MAX);
  if (call.has(1)) state.going = truth(call, call.in(1));
  require(call, !state.going || !is_endless(call, body), "the loop never ends");

  for (int64_t i = 0; i < most && state.going; ++i) {
    if (i == kMostIterations || state.items > kMostItems) {
      unsupported_error(fmt::format("a Loop of more than {} iterations is not run", i), call.view.node().label(),
                        "see whether the limit and the condition of the loop are right");
    }
    run_iteration(call, body_at, i, state);
  }

  for (size_t k = 0; k < state.carried.size(); ++k) call.set(static_cast<int>(k), std::move(state.carried[k]));
  for (size_t k = 0; k < state.collected.size(); ++k) {
    const std::vector<Tensor>& slices = state.collected[k];
    const auto at = static_cast<int>(state.carried.size() + k);
    call.set(at, slices.empty() ? stacked_nothing(call, *body.outputs()[fixed + k], 0, call.view.node().output(at))
                                : stacked(call, slices, 0));
  }
}

constexpr Kernel kKernels[] = {
    {"", "If", if_else},
    {"", "Loop", loop},
};

}  // namespace

std::span<const Kernel> control_flow_kernels() { return kKernels; }

}  // namespace mlopt::reference
