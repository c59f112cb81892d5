#include "core/calib/in_parts.h"

#include <map>

#include "backends/reference/backend.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

const char* const kChain =
    R"(g (float[N,4] x, float[4,4] U, float[4,4] V, float[4,4] W) => (float[N,4] y, float[N,4] b) {
  a = MatMul (x, U)
  b = Relu (a)
  m = MatMul (b, V)
  s = Add (m, x)
  n = MatMul (s, W)
  y = Add (n, a)
})";

/// The reference backend, and how many bytes of constants it was given at most.
class Counting : public Backend {
 public:
  explicit Counting(int64_t& most) : backend_(reference_backend()), most_(most) {}
  std::string_view name() const override { return "counting"; }
  std::unique_ptr<Executable> compile(const Model& model, const CompileOptions& options) override {
    int64_t bytes = 0;
    for (const Value* v : model.graph->initializers()) bytes += static_cast<int64_t>(v->constant->bytes());
    most_ = std::max(most_, bytes);
    return backend_->compile(model, options);
  }

 private:
  std::unique_ptr<Backend> backend_;
  int64_t& most_;
};

struct Ran {
  std::vector<Datum> outputs;
  std::map<std::string, std::pair<int, Tensor>> seen;  ///< how often, and what
};

Ran ran(Backend& backend, std::vector<std::string> taps) {
  const Model model = test::fixture(kChain);
  Ran result;
  RunHooks hooks;
  hooks.on_tap = [&](std::string_view name, const Datum& value) {
    auto& [times, tensor] = result.seen[std::string(name)];
    ++times, tensor = value.tensor();
  };
  CompileOptions options;
  options.taps = std::move(taps);
  const auto plan = backend.compile(model, options);
  CHECK(plan->output_names() == std::vector<std::string>{"y", "b"});
  result.outputs = plan->run(std::vector<Datum>{test::uniform({3, 4}, -1, 1)}, hooks);
  return result;
}

}  // namespace

TEST_CASE("a model that is run in parts gives what it gives as a whole, and no part has more than its share") {
  constexpr int64_t kOne = 4 * 4 * sizeof(float);
  for (const int64_t limit : {int64_t{1}, kOne, 2 * kOne, 3 * kOne}) {
    int64_t most = 0;
    const auto backend = in_parts(std::make_unique<Counting>(most), limit), whole = reference_backend();
    const std::vector<std::string> taps = {"x", "a", "m", "s"};
    const Ran expected = ran(*whole, taps), found = ran(*backend, taps);
    CHECK(most == std::max(limit, kOne));
    for (size_t i = 0; i < 2; ++i) test::require_close(found.outputs[i].tensor(), expected.outputs[i].tensor(), 0);
    REQUIRE(found.seen.size() == taps.size());
    for (const auto& [name, seen] : expected.seen) {
      CHECK(found.seen.at(name).first == 1);
      test::require_close(found.seen.at(name).second, seen.second, 0);
    }
  }
}

TEST_CASE("what is not watched is not shown") {
  int64_t most = 0;
  const auto backend = in_parts(std::make_unique<Counting>(most), 1);
  CHECK(ran(*backend, {}).seen.empty());
  CHECK(backend->name() == "counting");
}
