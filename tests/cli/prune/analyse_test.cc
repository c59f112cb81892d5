#include <filesystem>

#include "core/base/file.h"
#include "core/data/array_file.h"
#include "core/onnx/io.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/product_files.h"
#include "tests/support/program.h"
#include "tests/support/rewrite.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;
using test::run_mlopt;

TEST_CASE("--analyse says what each layer can spare, and writes no model") {
  const test::ProductFiles files;
  const std::string csv = files.folder / "a.csv", html = files.folder / "a.html";
  const auto analyse = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"prune", files.model, "--analyse", "--data", files.data, "--json", "-"});
    return run_mlopt(options);
  };
  const test::Outcome done = analyse({"--csv", csv, "--html", html});
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  CHECK(!std::filesystem::exists(files.out));
  const Json report = Json::parse(done.out);
  const auto& points = report.find("analysis")->items();
  REQUIRE(points.size() == 8);
  for (size_t i = 0; i < points.size(); ++i) {
    CHECK(points[i].find("layers")->items()[0].string() == (i < 4 ? "first" : "second"));
    // The more of a layer is gone, the further off are the outputs.
    if (i % 4 > 0) CHECK(points[i].find("sqnr_db")->number() < points[i - 1].find("sqnr_db")->number());
  }
  CHECK(read_file(csv).find("layer,25 %,50 %,75 %,90 %") != std::string::npos);
  CHECK(read_file(html).find("\"name\": \"second\"") != std::string::npos);

  const Json smaller = Json::parse(analyse({"--granularity", "channel", "--bench", "0.05"}).out);
  const auto& groups = smaller.find("analysis")->items();
  REQUIRE(groups.size() == 4);
  CHECK(groups[1].find("macs_saved")->integer() == 2048);  // half of both products of 32 by 64
  CHECK(groups[3].find("bytes_saved")->integer() > groups[0].find("bytes_saved")->integer());
  CHECK(analyse({"-o", files.out}).status == 2);
  CHECK(run_mlopt({"prune", files.model, "-o", files.out, "--sparsity", "0.5", "--csv", csv}).status == 2);
}

TEST_CASE("--allocation sensitivity measures what each layer can spare once, and keeps it in a file") {
  const test::ProductFiles files;
  const std::string curves = files.folder / "curves.json";
  const auto prune = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"prune", files.model, "-o", files.out, "--no-bench", "--data", files.data,
                                     "--allocation", "sensitivity", "--json", "-"});
    return run_mlopt(options);
  };
  const test::Outcome first = prune({"--sparsity", "0.5", "--curves", curves});
  INFO(first.err << first.out);
  REQUIRE(first.status == 0);
  const Json report = Json::parse(first.out), kept = Json::parse(read_file(curves));
  CHECK(report.find("spec")->string().find("shares=first=") != std::string::npos);
  CHECK(report.find("changes")->find("sparsity")->number() == Approx(0.5).margin(0.001));
  REQUIRE(kept.find("curves")->items().size() == 2);
  // What the file says counts: with nothing to lose in the first layer, all goes there.
  std::string edited = read_file(curves);
  const size_t second = edited.find("\"second\"");
  for (size_t at = edited.find("\"loss\": "); at < second; at = edited.find("\"loss\": ", at + 1))
    edited.replace(at + 8, edited.find_first_of(",\n", at) - at - 8, "0");
  AtomicFile file(curves);
  file.write(edited);
  file.commit();
  const test::Outcome again = prune({"--sparsity", "0.5", "--curves", curves});
  CHECK(Json::parse(again.out).find("spec")->string().find("shares=first=1|second=0") != std::string::npos);
  const test::Outcome other = prune({"--sparsity", "0.5", "--curves", curves, "--method", "random"});
  CHECK(other.status == 3);
  CHECK(other.err.find("measured for another spec") != std::string::npos);
  CHECK(prune({"--granularity", "2:4"}).status == 2);
  CHECK(first.err.find("random numbers") == std::string::npos);
  const test::Outcome blind = run_mlopt(
      {"prune", files.model, "-o", files.out, "--no-bench", "--sparsity", "0.5", "--allocation", "sensitivity"});
  CHECK(blind.status == 0);
  CHECK(blind.err.find("measured on random numbers") != std::string::npos);
  CHECK(run_mlopt({"prune", files.model, "-o", files.out, "--sparsity", "0.5", "--curves", curves}).status == 2);
}
