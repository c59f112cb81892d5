#include <algorithm>
#include <cmath>

#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/program.h"

using namespace mlopt;
using test::run_mlopt;

namespace {

constexpr const char* kProduct = R"(
<ir_version: 10, opset_import: ["" : 21]>
net (float[N,64] x) => (float[N,64] y)
{
  size = Constant <value_ints = [64, 64]> ()
  w = ConstantOfShape <value = float[1] {0.25}> (size)
  [product] p = MatMul (x, w)
  [relu] r = Relu (p)
  [shape] s = Shape (r)
  [again] a = Reshape (r, s)
  [soft] y = Softmax (a)
})";

Json model_of(const std::vector<std::string>& args) {
  std::vector<std::string> all{"bench", "--runs", "3", "--warmup", "0", "--json", "-"};
  all.insert(all.end(), args.begin(), args.end());
  const test::Outcome outcome = run_mlopt(all);
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.out).find("models")->items().at(0);
}

double number(const Json& json, const char* key) { return json.find(key)->number(); }

bool close(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

}  // namespace

TEST_CASE("a profile says how fast each step is, against what the machine can do") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", kProduct);
  const Json entry = model_of({model, "--batch", "32", "--profile"});
  if (entry.find("device")->string() != "cpu") return test::skip("this build has no CPU backend");
  const Json& profile = *entry.find("profile");
  const Json& peak = *profile.find("peak");
  CHECK(number(peak, "gflops") > 0);
  CHECK(number(peak, "copy_gb_per_s") > 0);
  double ms = 0, share = 0;
  const Json* product = nullptr;
  for (const Json& step : profile.find("nodes")->items()) {
    ms += number(step, "ms");
    share += number(step, "share");
    if (number(step, "macs") > 0) product = &step;
    const double bytes = number(step, "bytes"), gb = number(step, "gb_per_s"), one = number(step, "ms");
    CHECK(close(gb, 1e-6 * bytes / one));
    CHECK(number(step, "roofline") > 0);
  }
  CHECK(close(ms, number(profile, "total_ms")));
  CHECK(close(share, 1));
  REQUIRE(product);
  CHECK(product->find("nodes")->dump() == Json(std::vector<std::string>{"MatMul 'product'", "Relu 'relu'"}).dump());
  CHECK_FALSE(product->find("kernel")->string().empty());
  CHECK(product->find("layout")->string() == "row-major");
  const double flops = 2.0 * 32 * 64 * 64, bytes = number(*product, "bytes");
  CHECK(number(*product, "macs") == flops / 2);
  CHECK(bytes == 4.0 * (32 * 64 + 64 * 64 + 32 * 64));
  CHECK(close(number(*product, "gflops"), 1e-6 * flops / number(*product, "ms")));
  const double limit = std::min(number(peak, "gflops"), number(peak, "copy_gb_per_s") * flops / bytes);
  CHECK(close(number(*product, "roofline"), number(*product, "gflops") / limit));
}

TEST_CASE("shape arithmetic that the first run folds is no fallback") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", kProduct);
  const Json entry = model_of({model, "--no-prepare"});
  if (entry.find("device")->string() != "cpu") return test::skip("this build has no CPU backend");
  CHECK(entry.find("fallback_nodes")->items().empty());
}

TEST_CASE("a profile on a GPU has its peaks, and what the copies for nodes on the processor cost") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", R"(
<ir_version: 10, opset_import: ["" : 21]>
net (float[64,64] x) => (float[64] y, float[64,64] z)
{
  [product] z = MatMul (x, x)
  [diagonal] y = Einsum <equation = "ii->i"> (z)
})");
  const std::vector<std::string> args{model, "--device", "gpu", "--fallback", "cpu"};
  if (run_mlopt({"run", model, "--device", "gpu", "--fallback", "cpu"}).status == 4)
    return test::skip("this machine has no GPU");
  const Json plain = model_of(args);
  CHECK_FALSE(plain.find("profile"));
  std::vector<std::string> profiled = args;
  profiled.emplace_back("--profile");
  const Json entry = model_of(profiled);
  for (const Json* of : {&plain, &entry}) {
    const Json* copies = of->find("fallback_copies");
    REQUIRE(copies);
    REQUIRE(copies->items().size() == 1);
    CHECK(copies->items()[0].find("node")->string() == "diagonal");
    CHECK(number(copies->items()[0], "ms") > 0);
  }
  const Json& profile = *entry.find("profile");
  CHECK(number(*profile.find("peak"), "gflops") > 0);
  CHECK(number(*profile.find("peak"), "copy_gb_per_s") > 0);
  for (const Json& step : profile.find("nodes")->items())
    CHECK(step.find("roofline")->is_null() == (step.find("op")->string() != "MatMul"));
}
