#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/program.h"

using namespace mlopt;
using test::run_mlopt;

namespace {

/// A depthwise convolution and its activation, a function in place, and a view, of 32 channels.
constexpr const char* kNet = R"(
<ir_version: 10, opset_import: ["" : 21], producer_name: "test">
net (float[N,32,12,12] x) => (float[N,4608] y)
<int64[2] shape = {0, -1}>
{
  w = ConstantOfShape <value = float[1] {0.25}> (size)
  size = Constant <value_ints = [32, 1, 3, 3]> ()
  [pool] p = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x)
  [conv] c = Conv <group = 32, pads = [1, 1, 1, 1]> (p, w)
  [relu] r = Relu (c)
  [exp] e = Exp (r)
  [flat] y = Reshape (e, shape)
})";

Json plan_of(const std::vector<std::string>& args) {
  std::vector<std::string> all{"bench", "--show-plan", "--json", "-"};
  all.insert(all.end(), args.begin(), args.end());
  const test::Outcome outcome = run_mlopt(all);
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  return *Json::parse(outcome.out).find("models")->items().at(0).find("plan");
}

const Json* step_of(const Json& plan, const std::string& label) {
  for (const Json& step : plan.find("steps")->items())
    for (const Json& node : step.find("nodes")->items())
      if (node.string() == label) return &step;
  return nullptr;
}

}  // namespace

TEST_CASE("bench shows a plan without running it") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", kNet);
  const Json plan = plan_of({model, "--batch", "3"});
  if (plan.is_null()) return test::skip("this build has no CPU backend");
  CHECK(plan.find("inputs")->items().at(0).find("shape")->dump() == Json(std::vector<int64_t>{3, 32, 12, 12}).dump());
  const Json* conv = step_of(plan, "Conv 'conv'");
  REQUIRE(conv);
  CHECK(conv == step_of(plan, "Relu 'relu'"));
  CHECK(conv->find("kernel")->string() == "depthwise");
  CHECK(conv->find("layout")->string() == "nhwc");
  CHECK(conv->find("macs")->integer() == 3 * 32 * 12 * 12 * 9);
  CHECK(conv->find("packed_bytes")->integer() >= 32 * 9 * 4);
  const Json& made = conv->find("outputs")->items().at(0);
  CHECK(made.find("bytes")->integer() == 3 * 32 * 12 * 12 * 4);
  CHECK(made.find("home")->string() == "arena");
  const Json* exp = step_of(plan, "Exp 'exp'");
  REQUIRE(exp);
  CHECK(exp->find("in_place")->boolean());
  CHECK(exp->find("outputs")->items().at(0).find("offset")->integer() == made.find("offset")->integer());
  const Json* flat = step_of(plan, "Reshape 'flat'");
  REQUIRE(flat);
  CHECK(flat->find("view")->boolean());
  CHECK_FALSE(flat->find("outputs")->items().at(0).find("in")->is_null());
  CHECK(plan.find("views")->integer() == 1);
  CHECK(plan.find("outside")->integer() == 0);
  CHECK(plan.find("arena_bytes")->integer() >= made.find("bytes")->integer());
  CHECK(plan.find("copies")->integer() >= 1);  // the input is not channels-last
  const test::Outcome text = run_mlopt({"bench", model, "--show-plan"});
  for (const char* words : {"depthwise", "Conv + Relu", "in place", "arena", "views"})
    CHECK(text.out.find(words) != std::string::npos);
}

TEST_CASE("the plan of a batch that does not fit into the cache is that of a piece") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", kNet);
  const Json plan = plan_of({model, "--batch", "4096", "--threads", "1"});
  if (plan.is_null()) return test::skip("this build has no CPU backend");
  const Json& first = plan.find("steps")->items().at(0);
  CHECK(first.find("op")->string() == "Batch");
  CHECK(first.find("kernel")->string().find("pieces") != std::string::npos);
  CHECK(step_of(plan, "Conv 'conv'")->find("macs")->integer() < int64_t{4096} * 32 * 12 * 12 * 9);
  CHECK(plan.find("views")->integer() == 1);
}

TEST_CASE("nodes whose shapes depend on the data are said to be outside of the plan") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", R"(
<ir_version: 10, opset_import: ["" : 21]>
net (float[4] x) => (int64[1,K] y) {
  [pos] p = Relu (x)
  [where] y = NonZero (p)
})");
  const Json plan = plan_of({model});
  if (plan.is_null()) return test::skip("this build has no CPU backend");
  CHECK(plan.find("outside")->integer() == 1);
  CHECK_FALSE(step_of(plan, "NonZero 'where'")->find("planned")->boolean());
  CHECK(step_of(plan, "NonZero 'where'")->find("kernel")->string() == "non zero");
  const test::Outcome text = run_mlopt({"bench", model, "--show-plan"});
  CHECK(text.out.find("outside of the plan, shapes or bodies being known only in the run: NonZero 'where'") !=
        std::string::npos);
}

TEST_CASE("what runs node by node has no plan") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  CHECK(plan_of({model, "--device", "reference"}).is_null());
}
