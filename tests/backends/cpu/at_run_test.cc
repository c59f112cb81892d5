#include "backends/cpu/at_run.h"

#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

/// What a step from at_run() does with an input of this type: `run` takes float32 alone.
int64_t made_from(DType type, std::function<Expected<Step>()> next) {
  Net net;
  net.output(net.op("NonZero", {net.input({3})}));
  const NodeView view(*net.graph().nodes().front(), 21);
  CompileContext context;
  context.next = std::move(next);
  const Expected<Step> step = cpu::at_run(view, context, [](Call& call) {
    if (call.in(0).dtype() != DType::kF32) return false;
    call.set(0, Tensor::ints({1}));
    return true;
  });
  const Datum in = tensor({1}, {5}, type);
  const Datum* const inputs[] = {&in};
  Datum outputs[1];
  const BodyRunner bodies;
  Call call(view, inputs, outputs, bodies, 0);
  (*step)(call);
  return outputs[0].tensor().data<int64_t>()[0];
}

Expected<Step> other() {
  return Step([](Call& call) { call.set(0, Tensor::ints({2})); });
}

}  // namespace

TEST_CASE("what a step is not made for goes to the kernels behind it") {
  CHECK(made_from(DType::kF32, other) == 1);
  CHECK(made_from(DType::kI32, other) == 2);
}

TEST_CASE("without kernels behind it that is an error") {
  CHECK(made_from(DType::kF32, nullptr) == 1);
  CHECK_THROWS_WITH(made_from(DType::kI32, nullptr), Catch::Contains("no kernel for these inputs"));
  CHECK_THROWS_WITH(made_from(DType::kI32, [] { return Decline{"none"}; }), Catch::Contains("no kernel"));
}

}  // namespace mlopt::test
