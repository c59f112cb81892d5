#include "cli/quantize/calibration.h"

#include "core/base/file.h"
#include "core/data/array_file.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/models.h"
#include "tests/support/mpirun.h"
#include "tests/support/op.h"

using namespace mlopt;

namespace {

const std::string kSpec = "w8a8:calibration=percentile=99;require_integer";

/// A model of two layers and 96 samples.
struct Setup {
  test::TempDir folder;
  std::string model = test::write_text_model(folder, "m.onnx", test::kTwoLayers);
  std::string data = folder / "d.npz";

  Setup() { write_npz(data, {{"x", test::uniform({96, 4}, -1, 1)}}); }

  std::vector<std::string> options(const std::string& name, const std::string& format,
                                   const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {"quantize", model,  "-o",        folder / (name + ".onnx"), "--data", data,
                                    "--to",     format, "--no-bench"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

}  // namespace

TEST_CASE("ranks share the samples that calibrate, and the result is that of one process to the byte") {
  if (const std::string reason = test::no_mpirun(); !reason.empty()) return test::skip(reason);
  const Setup s;
  const test::Outcome shared = test::run_ranks(3, "mlopt", s.options("shared", kSpec));
  INFO(shared.out << shared.err);
  REQUIRE(shared.status == 0);
  const size_t said = shared.out.find("calibrated on 96 samples");
  REQUIRE(said != std::string::npos);
  CHECK(shared.out.find("calibrated on", said + 1) == std::string::npos);  // rank 0 alone speaks
  REQUIRE(test::run_mlopt(s.options("alone", kSpec)).status == 0);
  CHECK(read_file(s.folder / "shared.onnx") == read_file(s.folder / "alone.onnx"));
  const test::Outcome refused = test::run_ranks(2, "mlopt", s.options("x", "w4"));
  CHECK(refused.status != 0);
  CHECK(test::contains(refused.err, "w4 is made by one process"));
}

TEST_CASE("a calibration that is kept gives the same model again") {
  const Setup s;
  const std::vector<std::string> more = {"--calibration-cache", s.folder / "kept"};
  const test::Outcome first = test::run_mlopt(s.options("first", kSpec, more));
  INFO(first.err);
  REQUIRE(first.status == 0);
  CHECK_FALSE(test::contains(first.out, "kept by an earlier run"));
  const test::Outcome second = test::run_mlopt(s.options("second", kSpec, more));
  CHECK(test::contains(second.out, "calibrated on 96 samples (kept by an earlier run)"));
  CHECK(read_file(s.folder / "first.onnx") == read_file(s.folder / "second.onnx"));
  const test::Outcome refused = test::run_mlopt(s.options("x", "w4", more));
  CHECK(refused.status == 2);
  CHECK(test::contains(refused.err, "w4 calibrates nothing"));
}
