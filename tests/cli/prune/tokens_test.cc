#include <filesystem>

#include "core/onnx/io.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/program.h"
#include "tests/support/rewrite.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;

namespace {

/// Two attentions of 8 tokens, whose mean is the result.
struct Files {
  test::TempDir folder;
  std::string model = folder / "m.onnx", out = folder / "o.onnx";

  Files() {
    write_model(test::fixture(R"(g (float[1,8,4] x, float[4,4] A, float[4,4] B, float[4,3] C) => (float[1,3] y) {
        t = Transpose <perm = [0, 2, 1]> (x)
        s = MatMul (x, t)
        p = Softmax <axis = -1> (s)
        v = MatMul (p, x)
        r = Add (x, v)
        a = MatMul (r, A)
        tt = Transpose <perm = [0, 2, 1]> (a)
        ss = MatMul (a, tt)
        pp = Softmax <axis = -1> (ss)
        vv = MatMul (pp, a)
        rr = Add (a, vv)
        b = MatMul (rr, B)
        m = ReduceMean <axes = [1], keepdims = 0> (b)
        y = MatMul (m, C)
      })",
                              17),
                model);
  }
  test::Outcome prune(std::vector<std::string> options) const {
    options.insert(options.begin(), {"prune", model, "-o", out, "--no-bench", "--granularity", "token"});
    return test::run_mlopt(options);
  }
};

}  // namespace

TEST_CASE("tokens go at the places that are asked for, as many as are") {
  const Files files;
  const test::Outcome done =
      files.prune({"--method", "dynamic", "--sparsity", "0.75", "--tokens-at", "10%,90%", "--json", "-"});
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  const Json report = Json::parse(done.out);
  const Json& changes = *report.find("changes");
  const auto& places = changes.find("places")->items();
  REQUIRE(places.size() == 2);
  CHECK(places[0].find("after")->integer() == 4);  // half, and half of that
  CHECK(places[1].find("before")->integer() == 4);
  CHECK(places[1].find("after")->integer() == 2);
  // 8x4x8 and 8x8x4; 4x4x4, 4x4x4, 4x4x4; 2x4x4; 4x3.
  CHECK(changes.find("macs_average")->integer() == 2 * 256 + 3 * 64 + 32 + 12);
  CHECK(changes.find("macs_before")->integer() == 4 * 256 + 2 * 128 + 12);
  const Model written = read_model(files.out);
  CHECK(test::operators(*written.graph).find("TopK Gather") != std::string::npos);
}

TEST_CASE("a share of FLOPs is met by the fewest tokens that have to go") {
  const Files files;
  const test::Outcome done =
      files.prune({"--method", "dynamic", "--flops", "70%", "--tokens-at", "10%", "--json", "-"});
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  const Json report = Json::parse(done.out);
  // 8 tokens: 1292; 5 behind the first attention: 2 * 256 + 5 * 16 + 2 * 100 + 5 * 16 + 12 = 884, and 6 are too many.
  CHECK(report.find("changes")->find("macs_average")->integer() == 884);
  const test::Outcome least = files.prune({"--method", "dynamic", "--flops", "10%"});
  CHECK(least.status == 3);
  CHECK(least.err.find("% of the multiply-accumulates stay") != std::string::npos);
}

TEST_CASE("what is no choice of tokens is refused") {
  const Files files;
  CHECK(files.prune({"--sparsity", "0.5"}).err.find("add --method dynamic") != std::string::npos);
  CHECK(files.prune({"--method", "dynamic"}).err.find("how many tokens go is not said") != std::string::npos);
  CHECK(files.prune({"--method", "dynamic", "--sparsity", "0.5", "--recover", "bn"}).status == 2);
  CHECK(files.prune({"--method", "dynamic", "--sparsity", "1.5"}).status == 2);
  CHECK(files.prune({"--method", "dynamic", "--sparsity", "auto"}).err.find("--max-drop") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(files.out));
}
