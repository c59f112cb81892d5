#include <filesystem>

#include "core/base/file.h"
#include "core/data/array_file.h"
#include "core/onnx/io.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/program.h"
#include "tests/support/rewrite.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;
using test::run_mlopt;

TEST_CASE("--analyse says what each layer can spare, and writes no model") {
  const test::TempDir folder;
  const std::string model = folder / "m.onnx", data = folder / "d.npz", out = folder / "p.onnx";
  write_model(test::fixture(R"(g (float[N,32] x, float[32,64] V, float[64,32] W) => (float[N,32] y) {
      [first] a = MatMul (x, V)
      r = Relu (a)
      [second] y = MatMul (r, W)
    })"),
              model);
  write_npz(data, {{"x", test::uniform({40, 32}, -1, 1)}});
  const std::string csv = folder / "a.csv", html = folder / "a.html";
  const auto analyse = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"prune", model, "--analyse", "--data", data, "--json", "-"});
    return run_mlopt(options);
  };
  const test::Outcome done = analyse({"--csv", csv, "--html", html});
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  CHECK(!std::filesystem::exists(out));
  const Json report = Json::parse(done.out);
  const auto& points = report.find("analysis")->items();
  REQUIRE(points.size() == 8);
  for (size_t i = 0; i < points.size(); ++i) {
    CHECK(points[i].find("layers")->items()[0].string() == (i < 4 ? "first" : "second"));
    // The more of a layer is gone, the further off are the outputs.
    if (i % 4 > 0) CHECK(points[i].find("sqnr_db")->number() < points[i - 1].find("sqnr_db")->number());
  }
  CHECK(read_file(csv).find("layer,25 %,50 %,75 %,90 %") != std::string::npos);
  CHECK(read_file(html).find("SQNR in dB of second") != std::string::npos);

  const Json smaller = Json::parse(analyse({"--granularity", "channel", "--bench", "0.05"}).out);
  const auto& groups = smaller.find("analysis")->items();
  REQUIRE(groups.size() == 4);
  CHECK(groups[1].find("macs_saved")->integer() == 2048);  // half of both products of 32 by 64
  CHECK(groups[3].find("bytes_saved")->integer() > groups[0].find("bytes_saved")->integer());
  CHECK(analyse({"-o", out}).status == 2);
  CHECK(run_mlopt({"prune", model, "-o", out, "--sparsity", "0.5", "--csv", csv}).status == 2);
}
