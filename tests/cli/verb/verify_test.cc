#include <fmt/core.h>

#include "cli/verb/verb.h"
#include "core/data/array_file.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/program.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::run_mlopt;

TEST_CASE("a model that runs on one sample only, whatever it declares, is verified on one at a time") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", R"(<ir_version: 10, opset_import: ["" : 21]>
    g (float[N,2] x) => (float[1,2] y) <int64[2] s = {1, 2}> { a = Reshape (x, s)  b = Identity (a)  y = Relu (b) })");
  const std::string data = folder / "d.npz";
  write_npz(data, {{"x", Tensor::of<float>({3, 2}, {1, -2, 3, -4, 5, -6})}});
  const auto result = run_mlopt({"fuse", model, "-o", folder / "out.onnx", "--data", data, "--no-bench", "--strict"});
  INFO(result.err);
  CHECK(result.status == 0);
}

TEST_CASE("a result that does not run where its source does is a bug, of which nothing is left") {
  cli::Session session{{}, Console(false, false), {}};
  session.common.threads = 1;
  session.common.device = "reference";
  const cli::VerbOptions verb;
  const auto reshaped = [](const char* shape) {
    return test::fixture(std::string("g (float[N,3] x) => (float[M] y) <int64[1] s = {") + shape +
                         "}> { y = Reshape (x, s) }");
  };
  const Model source = reshaped("-1"), result = reshaped("7");
  cli::Plans plans(source, result, session, true);
  try {
    cli::verify_result(verb, source, result, {}, plans, session);
    FAIL("it was verified");
  } catch (const Error& e) {
    CHECK(e.code == Code::kInternal);
    CHECK(e.message.find("the result does not run where the source does") == 0);
  }
  cli::Plans back(result, source, session, true);
  CHECK_FALSE(cli::verify_result(verb, result, source, {}, back, session).problem.empty());
}

TEST_CASE("data that do not fit the model at all are an error") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers), data = folder / "d.npz";
  write_npz(data, {{"nothing", Tensor::of<float>({1, 2}, {1, 2})}});
  const auto result = run_mlopt({"fuse", model, "-o", folder / "out.onnx", "--data", data, "--no-bench"});
  CHECK(result.status == 3);
  CHECK(result.err.find("nothing") != std::string::npos);
}

TEST_CASE("what needs more memory than there is, or never ends, is neither verified nor timed, and that is said") {
  const test::TempDir folder;
  std::string nodes = "v0 = Abs (x) ";
  for (int i = 0; i < 45; ++i) nodes += fmt::format("v{} = Concat <axis = 0> (v{}, v{}) ", i + 1, i, i);
  const std::string grows = write_text_model(
      folder, "grows.onnx",
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[2] x) => (float[N] y) {" + nodes + "y = Identity (v45) }");
  const auto result = run_mlopt({"convert", grows, "-o", folder / "out.onnx", "--json", "-"});
  INFO(result.err);
  REQUIRE(result.status == 0);
  const Json report = Json::parse(result.out);
  CHECK(report.find("not_verified")->items()[0].string().find("of memory are free") != std::string::npos);
  CHECK(report.find("latency")->find("left_out")->string().find("of memory are free") != std::string::npos);
  CHECK(report.find("seconds")->number() < 5);
  CHECK(run_mlopt({"convert", grows, "-o", folder / "out.onnx", "--strict", "-q"}).status == 1);

  const std::string loops = write_text_model(folder, "loops.onnx", R"(<ir_version: 10, opset_import: ["" : 21]>
    g (float x) => (float y) <int64 n = {1099511627776}, bool c = {1}> {
      y = Loop (n, c, x) <body = b (int64 i, bool ci, float a) => (bool co, float r)
        { co = Identity (ci)  r = Relu (a) }> })");
  const auto looped = run_mlopt({"convert", loops, "-o", folder / "out.onnx", "--json", "-"});
  REQUIRE(looped.status == 0);
  const Json said = Json::parse(looped.out);
  for (const Json& problem : {said.find("not_verified")->items()[0], *said.find("latency")->find("left_out")})
    CHECK(problem.string().find("a Loop of more than") != std::string::npos);
}

TEST_CASE("what makes very large values is run where that was asked for") {
  const test::TempDir folder;
  const auto verified = [&](const std::string& length, const std::string& data) {
    const std::string model =
        write_text_model(folder, "m.onnx",
                         R"(<ir_version: 10, opset_import: ["" : 21]> g (float[N,1] x) => (float[N] y)
      <int64[2] s = {1, )" + length +
                             R"(}, int64[1] last = {1}> {
        e = Expand (x, s)  r = Relu (e)  y = ReduceSum <keepdims = 0> (r, last) })");
    std::vector<std::string> args{"convert", model, "-o", folder / "out.onnx", "--no-bench", "--json", "-"};
    if (!data.empty()) args.insert(args.end(), {"--data", data});
    const auto result = run_mlopt(args);
    REQUIRE(result.status == 0);
    const Json report = Json::parse(result.out);
    const Json* said = report.find("not_verified");
    return said && !said->items().empty() ? said->items()[0].string() : std::string("verified");
  };
  CHECK(verified("1073741824", "").find("are much to make of generated data") != std::string::npos);
  CHECK(verified("1000", "") == "verified");
  CHECK(verified("1000", "random:1") == "verified");
}
