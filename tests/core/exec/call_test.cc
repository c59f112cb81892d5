#include "core/exec/kernel.h"
#include "tests/support/catch.h"
#include "tests/support/thrown.h"

using namespace mlopt;
using test::says;
using test::thrown_by;

namespace {

/// One call of a node with the attribute axes = [1] over the given inputs.
class Made {
 public:
  explicit Made(std::vector<const Datum*> inputs, size_t outputs = 1)
      : node_(*graph_.add_op("Op", {}, {{"axes", std::vector<int64_t>{1}, {}}})),
        view_(node_, 21),
        inputs_(std::move(inputs)),
        outputs(outputs),
        call(view_, inputs_, this->outputs, bodies_, 7) {}

 private:
  Graph graph_;
  Node& node_;
  NodeView view_;
  std::vector<const Datum*> inputs_;
  BodyRunner bodies_ = [](int body, std::span<const Datum> in) { return std::vector<Datum>(in.size() + body); };

 public:
  std::vector<Datum> outputs;
  Call call;
};

}  // namespace

TEST_CASE("inputs may be missing, empty or of another kind") {
  const Datum tensor = Tensor::ints({2, 3}), empty, list = Datum::sequence({});
  const Made made({&tensor, nullptr, &empty, &list});
  CHECK(made.call.has(0));
  CHECK_FALSE((made.call.has(1) || made.call.has(2) || made.call.has(4)));
  CHECK(made.call.in(0).size() == 2);
  CHECK(made.call.datum(3).items().empty());
  CHECK(says(thrown_by([&] { made.call.in(1); }), "input 1 is missing: Op giving 'Op'"));
  CHECK(says(thrown_by([&] { made.call.in(3); }), "input 3 is not a tensor"));
  CHECK(says(thrown_by([&] { made.call.datum(9); }), "input 9 is missing"));
}

TEST_CASE("outputs that nobody wants are let go") {
  Made made({}, 2);
  CHECK((made.call.wants(1) && !made.call.wants(2)));
  made.call.set(2, Tensor::scalar(1.0f));
  made.call.set(0, Tensor::scalar(2.0f));
  made.call.make(1, DType::kI64, {1}).mutable_data<int64_t>()[0] = 5;
  CHECK(made.outputs[0].tensor().span<float>()[0] == 2);
  CHECK(made.outputs[1].tensor().span<int64_t>()[0] == 5);
}

TEST_CASE("integers come from the input, else from the attribute") {
  const Datum axes = Tensor::of<int32_t>({2}, {4, 5});
  CHECK(Made({&axes}).call.ints("axes", 0) == std::vector<int64_t>{4, 5});
  CHECK(Made({}).call.ints("axes", 0) == std::vector<int64_t>{1});
  CHECK(Made({}).call.ints("other", 0, {9}) == std::vector<int64_t>{9});
}

TEST_CASE("bodies are run by the plan") { CHECK(Made({}).call.run_body(2, {}).size() == 2); }
