#include "core/onnx/io.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/product_files.h"
#include "tests/support/program.h"

using namespace mlopt;
using test::run_mlopt;

TEST_CASE("a student with fewer channels is made of the model, and taught by it") {
  const test::ProductFiles files;
  const auto distill = [&](const std::string& student) {
    return run_mlopt({"distill", files.model, "--student", student, "-o", files.out, "--data", files.data, "--steps",
                      "60", "--batch-size", "10", "--no-bench", "--json", "-"});
  };
  const test::Outcome done = distill("shrink:width=0.25;round=none");
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  const Model student = read_model(files.out);
  CHECK(student.graph->find("V")->constant->dims() == Dims{32, 16});
  CHECK(student.graph->find("W")->constant->dims() == Dims{16, 32});
  const Json report = Json::parse(done.out);
  CHECK(report.find("student")->find("channels")->integer() == 64);
  CHECK(report.find("student")->find("kept")->integer() == 16);
  const auto& epochs = report.find("epochs")->items();
  CHECK(epochs.back().find("loss")->number() < 0.8 * epochs.front().find("loss")->number());

  REQUIRE(distill("shrink:flops=50%;only=first").status == 0);
  CHECK(read_model(files.out).graph->find("V")->constant->dims() == Dims{32, 32});
  for (const char* wrong :
       {"shrink:", "shrink:width=2", "shrink:width=0.5;flops=50%", "shrink:width=0.5;granularity=2:4",
        "shrink:width=0.5;allocation=sensitivity", "shrink:widht=0.5", "shrnk"}) {
    const test::Outcome refused = distill(wrong);
    INFO(wrong << ": " << refused.err);
    CHECK(refused.status == 2);
  }
}
