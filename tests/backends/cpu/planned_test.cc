#include "backends/cpu/planned.h"

#include <atomic>

#include "core/exec/interpreter.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::cpu {
namespace {

std::atomic<int> plans;  // a kernel is a plain function: it counts here

/// Doubles float32 vectors of up to 9 elements.
Expected<Step> compile(const NodeView& view, const CompileContext& context) {
  if (const auto no = wrong_type(view, 0, {DType::kF32})) return *no;
  return planned(view, context, [](const Call& call) -> Expected<Step> {
    ++plans;
    if (call.in(0).size() > 9) return Decline{"more than 9 elements"};
    return Step([](Call& c) {
      const Tensor& x = c.in(0);
      Tensor& y = c.make(0, DType::kF32, x.dims());
      for (int64_t i = 0; i < x.size(); ++i) y.mutable_data<float>()[i] = 2 * x.data<float>()[i];
    });
  });
}

/// Gives its input.
void copy(Call& call) { call.set(0, call.datum(0)); }

constexpr Kernel kFast[] = {{.domain = "", .op = "Double", .compile = compile}};
constexpr Kernel kNext[] = {{.domain = "", .op = "Double", .run = copy}};

std::unique_ptr<Executable> compiled(bool with_next, int threads = 1) {
  test::Net net;
  Type type;
  type.kind = Type::Kind::kTensor;
  type.dtype = DType::kF32;
  type.dims = SymDims{Dim::symbol("N")};
  net.output(net.op("Double", {net.graph().add_input("x", type)}));
  std::vector<KernelList> lists{{"fast", kFast}};
  if (with_next) lists.push_back({"next", kNext});
  CompileOptions options;
  options.threads = threads;
  return compile_interpreter(net.model, options, lists);
}

float first(Executable& plan, int64_t size) {
  const Tensor x = test::tensor({size}, std::vector<double>(static_cast<size_t>(size), 1));
  const Tensor y = plan.run(std::vector<Datum>{x})[0].tensor();
  REQUIRE(y.dims() == x.dims());
  return size == 0 ? 0 : y.data<float>()[0];
}

}  // namespace

TEST_CASE("a step plans once for each signature") {
  const auto plan = compiled(true);
  plans = 0;
  for (int round = 0; round < 3; ++round)
    for (const int64_t size : {3, 4}) REQUIRE(first(*plan, size) == 2);
  REQUIRE(plans == 2);
}

TEST_CASE("many signatures are forgotten again, and still run") {
  const auto plan = compiled(true);
  plans = 0;
  for (int round = 0; round < 2; ++round)
    for (int64_t size = 10; size < 110; ++size) REQUIRE(first(*plan, size) == 1);
  REQUIRE(plans == 200);
}

TEST_CASE("what the planner declines, and nothing at all, are the next kernel's") {
  const auto plan = compiled(true);
  REQUIRE(first(*plan, 10) == 1);
  plans = 0;
  first(*plan, 0);
  REQUIRE(plans == 0);
}

TEST_CASE("without a next kernel the reason is said") {
  const auto plan = compiled(false);
  REQUIRE(first(*plan, 9) == 2);
  REQUIRE_THROWS_WITH(first(*plan, 10), Catch::Contains("more than 9 elements") && Catch::Contains("Double"));
}

}  // namespace mlopt::cpu
