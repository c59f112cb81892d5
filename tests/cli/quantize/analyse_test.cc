#include "cli/quantize/analyse.h"

#include <filesystem>

#include "core/base/file.h"
#include "core/data/array_file.h"
#include "core/onnx/io.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/op.h"
#include "tests/support/product_files.h"
#include "tests/support/program.h"
#include "tests/support/rewrite.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;
using test::run_mlopt;

namespace {

using Files = test::ProductFiles;

}  // namespace

TEST_CASE("an analysis tries formats side by side, says which are best, and writes no model") {
  const Files files;
  const std::string csv = files.folder / "t.csv", html = files.folder / "t.html";
  const auto analyse = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"quantize", files.model, "--analyse"});
    return run_mlopt(options);
  };
  const test::Outcome done = analyse({"--data", files.data, "--to", "w8a8,w4,w2,w8,fp16,w4:method=awq,qoperator",
                                      "--csv", csv, "--html", html, "--bench", "0.2", "--json", "-"});
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  const Json report = Json::parse(done.out);
  const auto& rows = report.find("analysis")->items();
  REQUIRE(rows.size() == 7);
  const auto number = [&](size_t row, const char* key) { return rows[row].find(key)->number(); };
  CHECK(rows[0].find("spec")->string() == "w8a8:calibration=minmax");
  CHECK(number(3, "sqnr_db") > number(1, "sqnr_db") + 15);  // 8 bits and 4
  CHECK(number(1, "sqnr_db") > number(2, "sqnr_db") + 5);   // 4 bits and 2
  CHECK(number(3, "size_bytes") > number(1, "size_bytes"));
  CHECK(number(0, "speedup") > 0);
  CHECK(rows[2].find("best_for_size")->boolean());  // the smallest
  CHECK(test::contains(rows[6].find("problem")->string(), "no format is called"));
  for (size_t a = 0; a < 6; ++a) {  // by definition
    bool beaten = false;
    for (size_t b = 0; b < 6; ++b)
      beaten |= number(b, "size_bytes") <= number(a, "size_bytes") && number(b, "sqnr_db") >= number(a, "sqnr_db") &&
                (number(b, "size_bytes") < number(a, "size_bytes") || number(b, "sqnr_db") > number(a, "sqnr_db"));
    CHECK(rows[a].find("best_for_size")->boolean() == !beaten);
  }
  CHECK(test::contains(read_file(csv), "best for"));
  CHECK(test::contains(read_file(html), "<canvas id=\"chart0\">"));
  CHECK(!test::contains(read_file(html), "http:"));
  CHECK(!std::filesystem::exists(files.out));
}

TEST_CASE("an option that is for some of the formats leaves the others in the analysis") {
  const Files files;
  for (const std::vector<std::string>& option : std::vector<std::vector<std::string>>{
           {"--calibration", "entropy"}, {"--symmetric"}, {"--per-tensor"}, {"--emit", "qdq"}}) {
    INFO(option[0]);
    std::vector<std::string> words = {"quantize",     files.model,  "--analyse", "--data", files.data, "--to",
                                      "w8a8,w4,fp16", "--no-bench", "--quiet",   "--json", "-"};
    words.insert(words.end(), option.begin(), option.end());
    const test::Outcome done = run_mlopt(words);
    REQUIRE(done.status == 0);
    const Json report = Json::parse(done.out);
    for (const Json& row : report.find("analysis")->items()) CHECK(row.find("problem") == nullptr);
  }
  const test::Outcome single = run_mlopt({"quantize", files.model, "--analyse", "--to", "fp16", "--per-tensor"});
  CHECK(single.status == 4);
  CHECK(test::contains(single.err, "has no scales"));
}

TEST_CASE("an analysis without data leaves formats out that need them, and is refused where it makes no sense") {
  const Files files;
  const test::Outcome done = run_mlopt({"quantize", files.model, "--analyse", "--no-bench", "--quiet", "--json", "-"});
  REQUIRE(done.status == 0);
  const Json report = Json::parse(done.out);
  for (const Json& row : report.find("analysis")->items()) {
    CHECK(row.find("format")->string() != "w8a8");
    CHECK(row.find("problem") == nullptr);
    CHECK(row.find("speedup") == nullptr);
  }
  CHECK(run_mlopt({"quantize", files.model, "--analyse", "-o", files.out}).status == 2);
  CHECK(run_mlopt({"quantize", "--analyse"}).status == 2);
  for (const std::vector<std::string>& gate :
       std::vector<std::vector<std::string>>{{"--max-size", "1"}, {"--min-sqnr", "90"}, {"--strict"}}) {
    std::vector<std::string> words = {"quantize", files.model, "--analyse"};
    words.insert(words.end(), gate.begin(), gate.end());
    const test::Outcome refused = run_mlopt(words);
    CHECK(refused.status == 2);
    CHECK(test::contains(refused.err, gate[0]));
  }
  CHECK(run_mlopt({"quantize", files.model, "--analyse", "--to", "w5000"}).status == 4);
  CHECK(run_mlopt({"quantize", files.model, "-o", files.out, "--to", "w8", "--html", files.out}).status == 2);
  CHECK(run_mlopt({"quantize", files.model, "-o", files.out}).status == 2);
}
