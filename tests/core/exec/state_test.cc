#include "core/exec/state.h"

#include "backends/reference/backend.h"
#include "core/exec/backend.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/gpu.h"
#include "tests/support/net.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

/// y = w + x, w' = w + x; total' = total + sum of the old w, read after w' is made; swapped' = x.
struct Accumulator {
  Net net;
  CompileOptions options;

  Accumulator() {
    Graph& graph = net.graph();
    const Type type = Type::tensor(DType::kF32, Dims{3});
    Value *x = graph.add_input("x", type), *w = graph.add_input("w", type), *total = graph.add_input("total", type);
    Value* next = net.op("Add", {w, x});
    Value* sum = net.op("Add", {total, net.op("Mul", {w, net.constant(tensor({}, {1}))})});
    graph.rename(next, "w.next");
    graph.rename(sum, "total.next");
    for (Value* out : {next, sum, net.op("Neg", {next})}) graph.add_output(out);
    options.state = std::make_shared<StateStore>();
    options.state->add("w", tensor({3}, {1, 2, 3}));
    options.state->add("total", tensor({3}, {0, 0, 0}));
    options.updates = {{"w", "w.next"}, {"total", "total.next"}};
  }
};

void check_accumulator(Backend& backend) {
  Accumulator a;
  const auto plan = backend.compile(a.net.model, a.options);
  REQUIRE(plan->input_names() == std::vector<std::string>{"x"});
  REQUIRE(plan->output_names().size() == 1);
  const std::vector<Datum> x{tensor({3}, {1, 1, 2})};
  require_close(plan->run(x)[0].tensor(), tensor({3}, {-2, -3, -5}));
  const Tensor snapshot = a.options.state->at("w");
  require_close(plan->run(x)[0].tensor(), tensor({3}, {-3, -4, -7}));
  require_close(snapshot, tensor({3}, {2, 3, 5}));
  require_close(a.options.state->at("w"), tensor({3}, {3, 4, 7}));
  require_close(a.options.state->at("total"), tensor({3}, {3, 5, 8}));
}

}  // namespace

TEST_CASE("a run updates the state") {
  check_accumulator(*reference_backend());
  check_accumulator(*cpu_with_fallback());
  check_accumulator(*gpu_on_host());
}

TEST_CASE("a state is updated with what has no known shape before the run") {
  for (const bool fast : {false, true}) {
    Net net;
    Graph& graph = net.graph();
    Value* x = graph.add_input("x", Type::tensor(DType::kF32, Dims{3}));
    Value* w = graph.add_input("w", Type::tensor(DType::kF32, Dims{2}));
    Value* chosen = net.op("Compress", {x, net.op("Greater", {x, net.constant(tensor({}, {0}))})});
    Value* next = net.op("Concat", {chosen, net.constant(tensor({1}, {7}))}, {{"axis", int64_t{0}, {}}});
    graph.rename(next, "w.next");
    for (Value* out : {next, net.op("Neg", {w})}) graph.add_output(out);
    CompileOptions options;
    options.state = std::make_shared<StateStore>();
    options.state->add("w", tensor({2}, {1, 2}));
    options.updates = {{"w", "w.next"}};
    const auto backend = fast ? cpu_with_fallback() : reference_backend();
    const auto plan = backend->compile(net.model, options);
    const std::vector<Datum> one{tensor({3}, {-1, 5, -2})}, two{tensor({3}, {1, 5, -2})};
    require_close(plan->run(one)[0].tensor(), tensor({2}, {-1, -2}));
    require_close(options.state->at("w"), tensor({2}, {5, 7}));
    CHECK(thrown_by([&] { plan->run(two); }).code == Code::kInternal);  // three numbers are no w
    require_close(options.state->at("w"), tensor({2}, {5, 7}));
  }
}

TEST_CASE("executables share a store") {
  Accumulator a;
  const auto first = reference_backend()->compile(a.net.model, a.options);
  const auto second = cpu_with_fallback()->compile(a.net.model, a.options);
  const std::vector<Datum> x{tensor({3}, {1, 1, 2})};
  first->run(x);
  second->run(x);
  first->run(x);
  require_close(a.options.state->at("w"), tensor({3}, {4, 5, 9}));
  require_close(a.options.state->at("total"), tensor({3}, {6, 9, 15}));
}

TEST_CASE("a state that lives on a GPU is what the host sees and writes, and goes there only when it was written") {
  Accumulator a;
  StateStore& store = *a.options.state;
  const auto backend = gpu_on_host();
  const auto first = backend->compile(a.net.model, a.options), second = backend->compile(a.net.model, a.options);
  const std::vector<Datum> x{tensor({3}, {1, 1, 2})};
  first->run(x);
  require_close(store.on_host("w"), tensor({3}, {1, 2, 3}));  // it stays there until somebody looks
  second->run(x);
  const StateStore other(store);
  require_close(other.at("w"), tensor({3}, {3, 4, 7}));
  require_close(store.at("total"), tensor({3}, {3, 5, 8}));
  store.set("w", tensor({3}, {10, 20, 30}));
  reinterpret_cast<float*>(store.bytes("total"))[1] = 100;
  require_close(first->run(x)[0].tensor(), tensor({3}, {-11, -21, -32}));
  require_close(store.at("w"), tensor({3}, {11, 21, 32}));
  require_close(store.at("total"), tensor({3}, {13, 120, 38}));
  require_close(other.at("w"), tensor({3}, {3, 4, 7}));
}

TEST_CASE("a state value keeps its name, type and shape") {
  StateStore store;
  store.add("w", tensor({2}, {1, 2}));
  CHECK(thrown_by([&] { store.add("w", tensor({2}, {1, 2})); }).code == Code::kInternal);
  CHECK(thrown_by([&] { store.set("w", tensor({3}, {1, 2, 3})); }).code == Code::kInternal);
  CHECK(thrown_by([&] { store.at("v"); }).code == Code::kInternal);
  store.set("w", tensor({2}, {5, 6}));
  require_close(store.at("w"), tensor({2}, {5, 6}));
}

}  // namespace mlopt::test
