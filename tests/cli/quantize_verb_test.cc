#include <filesystem>

#include "core/base/file.h"
#include "core/data/array_file.h"
#include "core/onnx/io.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/models.h"
#include "tests/support/op.h"
#include "tests/support/product_files.h"
#include "tests/support/program.h"
#include "tests/support/rewrite.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;
using test::run_mlopt;

namespace {

/// Two layers worth quantizing, and data for them.
struct Files : test::ProductFiles {
  test::Outcome quantize(std::vector<std::string> options) const {
    options.insert(options.begin(), {"quantize", model, "-o", out, "--no-bench"});
    return run_mlopt(options);
  }
};

std::string metadata(const Model& model, const std::string& key) {
  for (const auto& [k, v] : model.metadata)
    if (k == key) return v;
  return {};
}

}  // namespace

TEST_CASE("quantize writes a model that is near its source, and reports each layer") {
  const Files files;
  const test::Outcome done = files.quantize({"--to", "w8a8", "--data", files.data, "--calibration", "percentile=99.99",
                                             "--calibration-samples", "39", "--min-sqnr", "25", "--json", "-"});
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  const Json report = Json::parse(done.out);
  CHECK(report.find("spec")->string() == "w8a8:calibration=percentile=99.99");
  CHECK(report.find("changes")->find("layers")->integer() == 2);
  CHECK(report.find("changes")->find("calibration_samples")->integer() == 39);
  const auto& layers = report.find("layers")->items();
  REQUIRE(layers.size() == 2);
  CHECK(layers[0].find("sqnr_db")->number() <= layers[1].find("sqnr_db")->number());
  CHECK(report.find("verify")->find("outputs")->items().at(0).find("max_abs")->number() > 0);
  const Model written = read_model(files.out);
  CHECK(metadata(written, "mlopt.spec") == report.find("spec")->string());
  CHECK(written.graph->outputs()[0]->name == "y");
}

TEST_CASE("quantize takes the spec that it reports") {
  const Files files;
  REQUIRE(files.quantize({"--to", "w8a8", "--data", files.data, "--skip", "first", "--symmetric"}).status == 0);
  const std::string spec = metadata(read_model(files.out), "mlopt.spec");
  CHECK(spec == "w8a8:calibration=minmax;symmetric;skip=first");
  const test::Outcome again = files.quantize({"--to", spec, "--data", files.data, "--json", "-"});
  REQUIRE(again.status == 0);
  const Json report = Json::parse(again.out);
  CHECK(report.find("spec")->string() == spec);
  CHECK(report.find("declined")->items().at(0).find("reason")->string() == "excluded by --only or --skip");
}

TEST_CASE("what ONNX Runtime rounds again is not verified") {
  const Files files;
  for (const std::string to : {"w8a16", "w16a16"}) {
    const test::Outcome done = files.quantize({"--to", to, "--data", files.data, "--json", "-"});
    REQUIRE(done.status == 0);
    const Json report = Json::parse(done.out);
    for (const char* key : {"warnings", "not_verified"})
      CHECK((report.find(key)->dump().find("matmulnbits") != std::string::npos) == (to == "w8a16"));
  }
}

TEST_CASE("what a format needs is said before anything is written") {
  const Files files;
  struct Case {
    std::vector<std::string> options;
    const char* said;
  };
  for (const Case& c :
       {Case{{"--to", "w8a8"}, "w8a8 needs data"}, Case{{"--to", "w8e8"}, "did you mean"},
        Case{{"--to", "w8", "--calibration", "median"}, "no calibration is called 'median'"},
        Case{{"--to", "w8a8", "--data", files.data, "--calibration-samples", "0"}, "at least one"}, Case{{}, "--to"}}) {
    const test::Outcome refused = files.quantize(c.options);
    CHECK(refused.status == 2);
    CHECK(refused.err.find(c.said) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(files.out));
  }
}

TEST_CASE("random calibration, and results that gain nothing, are called so") {
  const Files files;
  const test::Outcome random = files.quantize({"--to", "w8a8", "--data", "random:2"});
  CHECK(random.status == 0);
  CHECK(random.err.find("calibrated on random numbers") != std::string::npos);
  const test::Outcome nothing = files.quantize({"--to", "w8", "--only", "no_such_*"});
  CHECK(nothing.status == 0);
  CHECK(nothing.err.find("no layer gains from the format") != std::string::npos);
  CHECK(test::operators(*read_model(files.out).graph) == "MatMul Relu MatMul");
}

TEST_CASE("formats that a budget chooses hold --max-size too, and a gate that none holds within it is named") {
  const test::TempDir folder;
  const std::string model = folder / "m.onnx", data = folder / "d.npz", out = folder / "o.onnx";
  write_model(test::fixture("g (float[N,128] x, float[128,128] W) => (float[N,128] y) { y = MatMul (x, W) }"), model);
  write_npz(data, {{"x", test::uniform({40, 128}, -1, 1)}});
  const auto quantize = [&](const std::string& to, const char* gate, const char* limit) {
    const test::Outcome done =
        run_mlopt({"quantize", model, "-o", out, "--no-bench", "--to", to, "--data", data, gate, limit, "--json", "-"});
    INFO(done.err);
    return std::pair(done.status, Json::parse(done.out));
  };
  const auto held = quantize("mixed:bits=9", "--max-size", "20%");
  CHECK(held.first == 0);
  CHECK(held.second.find("spec")->string().starts_with("mixed:size="));
  CHECK(held.second.find("weights")->items().at(0).find("format")->string() == "w4g32");
  CHECK(quantize("mixed:bits=9", "--max-size", "90%").second.find("spec")->string() == "mixed:bits=9");
  for (const auto& [gate, limit] : {std::pair("--max-size", "1%"), std::pair("--min-sqnr", "90")}) {
    const auto failed = quantize("mixed:bits=6", gate, limit);
    CHECK(failed.first == 1);
    const Json& warnings = *failed.second.find("warnings");
    REQUIRE_FALSE(warnings.items().empty());
    CHECK(test::contains(warnings.items().back().string(), std::string("was found that holds ") + gate));
  }
}

TEST_CASE("what a source that stays as it was would have had done to it is not counted") {
  const test::TempDir folder;
  const std::string model = folder / "m.onnx", codes = folder / "c.onnx", out = folder / "o.onnx";
  write_model(test::fixture("g (float[N,64] x, float[64,64] W) => (float[N,64] y) { y = MatMul (x, W) }"), model);
  REQUIRE(run_mlopt({"quantize", model, "-o", codes, "--no-bench", "--to", "w4g32"}).status == 0);
  const test::Outcome done = run_mlopt(
      {"quantize", codes, "-o", out, "--no-bench", "--to", "w8", "--requantize", "--skip", "*", "--json", "-"});
  INFO(done.err);
  REQUIRE(done.status == 0);
  const Json report = Json::parse(done.out);
  CHECK(report.find("changes")->find("layers")->integer() == 0);
  CHECK(report.find("changes")->find("restored_nodes")->integer() == 0);
}

TEST_CASE("sizes that were assumed and do not fit are asked for") {
  const test::TempDir folder;
  const std::string model = folder / "m.onnx";
  write_model(test::fixture("g (float[1,64,L] x, float[64,64,1] W) => (float[1,64,1] y) <int64[1] at = {300}> "
                            "{ p = Gather <axis = 2> (x, at)  y = Conv (p, W) }"),
              model);
  const std::vector<std::string> quantize = {"quantize", model,    "-o",       folder / "q.onnx", "--to",
                                             "w8a8",     "--data", "random:2", "--no-bench"};
  const test::Outcome refused = run_mlopt(quantize);
  CHECK(refused.status == 3);
  CHECK(refused.err.find("--shape x=DIMS") != std::string::npos);
  std::vector<std::string> sized = quantize;
  sized.insert(sized.end(), {"--shape", "x=1x64x400"});
  const test::Outcome done = run_mlopt(sized);
  INFO(done.err);
  CHECK(done.status == 0);
}

TEST_CASE("names of nodes that are none are refused with the nearest, patterns that match none are warned of") {
  const Files files;
  const test::Outcome slip = files.quantize({"--to", "w8", "--skip", "secnd"});
  CHECK(slip.status == 2);
  CHECK(slip.err == "error: the model has no node 'secnd': --skip\n  fix: did you mean 'second'?\n");
  CHECK(run_mlopt({"fuse", files.model, "-o", files.out, "--no-bench", "--only", "first,r,thrid"}).status == 2);
  const test::Outcome pattern = files.quantize({"--to", "w8", "--skip", "head/*"});
  CHECK(pattern.status == 0);
  CHECK(pattern.err.find("--skip head/*: no node of the model matches") != std::string::npos);
}

TEST_CASE("weights alone are stored without data, and the report says how each is") {
  const Files files;
  const test::Outcome done = files.quantize({"--to", "w4g16", "--json", "-"});
  REQUIRE(done.status == 0);
  const Json report = Json::parse(done.out);
  const Json& weights = *report.find("weights");
  REQUIRE(weights.items().size() == 2);
  int64_t coded = 0;
  for (const Json& w : weights.items()) {
    CHECK(w.find("form")->string() == "matmulnbits");
    CHECK(w.find("elements")->integer() == 2048);
    CHECK(w.find("bytes")->integer() == 2048 / 2 + 2048 / 16 * 4 + 2048 / 16 / 2);  // codes, scales, zero points
    CHECK(w.find("sqnr_db")->number() > 18);
    CHECK(w.find("sqnr_db")->number() < 35);
    coded += w.find("entropy_coded_bytes")->integer() - w.find("bytes")->integer();
  }
  CHECK(coded < 0);  // levels at the ends are rare
  CHECK(report.find("entropy_coded_bytes")->integer() == report.find("result")->find("size_bytes")->integer() + coded);
  const test::Outcome info = run_mlopt({"info", files.out});
  CHECK(info.out.find("4-bit weights in blocks of 16 (MatMulNBits)") != std::string::npos);
  const test::Outcome again = run_mlopt({"quantize", files.out, "-o", files.folder / "r.onnx", "--to", "w3"});
  CHECK(again.status == 3);
  CHECK(again.err.find("quantized already") != std::string::npos);
}

TEST_CASE("a layer that cannot have the form that was asked for gets another, and where none can it is refused") {
  const test::TempDir folder;
  const std::string model = folder / "m.onnx", out = folder / "q.onnx";
  write_model(test::fixture(R"(g (float[1,64,4] x, float[64,64,1] V, float[4,512] W) => (float[1,64,512] y) {
      [conv] a = Conv (x, V)
      [product] y = MatMul (a, W)
    })"),
              model);
  const std::vector<std::string> quantize = {"quantize", model, "-o", out, "--no-bench", "--to", "w4g16", "--emit"};
  const auto with = [&](const char* form, const char* more) {
    std::vector<std::string> options = quantize;
    options.insert(options.end(), {form, "--json", "-", "--only", more});
    return run_mlopt(options);
  };
  const test::Outcome both = with("matmulnbits", "*");
  REQUIRE(both.status == 0);
  std::string forms;
  const Json report = Json::parse(both.out);
  for (const Json& w : report.find("weights")->items()) forms += w.find("form")->string() + " ";
  CHECK(forms == "gather matmulnbits ");
  const test::Outcome none = with("matmulnbits", "conv");
  CHECK(none.status == 4);
  CHECK(none.err.find("Conv is no MatMul or Gemm") != std::string::npos);
}

TEST_CASE("a model that is quantized already is read back on request, and refused otherwise") {
  const Files files;
  REQUIRE(files.quantize({"--to", "w8a8", "--data", files.data}).status == 0);
  const std::string twice = files.out + ".twice.onnx";
  const std::vector<std::string> again = {"quantize", files.out, "-o", twice, "--to", "w4g32", "--no-bench"};
  const test::Outcome refused = run_mlopt(again);
  CHECK(refused.status == 3);
  CHECK(refused.err.find("--requantize") != std::string::npos);
  std::vector<std::string> asked = again;
  asked.insert(asked.end(), {"--requantize", "--json", "-"});
  const test::Outcome done = run_mlopt(asked);
  INFO(done.err);
  REQUIRE(done.status == 0);
  const Json report = Json::parse(done.out);
  CHECK(report.find("spec")->string() == "w4g32:requantize");
  CHECK(report.find("changes")->find("restored_nodes")->integer() > 3);
  CHECK(test::operators(*read_model(twice).graph).find("QuantizeLinear") == std::string::npos);
}

TEST_CASE("a plan of layers is counted, kept in the spec, and made again by it") {
  const Files files;
  const test::Outcome done =
      files.quantize({"--to", "w8", "--layer-plan", R"({"second": "w4"})", "--json", files.folder / "r.json"});
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  CHECK(done.out.find("2 layers in w4 (1), w8 (1)") != std::string::npos);
  const std::string spec = metadata(read_model(files.out), "mlopt.spec"), bytes = read_file(files.out);
  CHECK(spec == "w8:layers=w4=second");
  CHECK(Json::parse(read_file(files.folder / "r.json")).find("spec")->string() == spec);
  REQUIRE(files.quantize({"--to", spec}).status == 0);
  CHECK(read_file(files.out) == bytes);
  const test::Outcome unknown = files.quantize({"--to", "w8", "--layer-plan", R"({"secnd": "w4"})"});
  CHECK(unknown.status == 2);
  CHECK(unknown.err.find("the model has no layer 'secnd'") != std::string::npos);
  CHECK(unknown.err.find("did you mean 'second'?") != std::string::npos);
}

TEST_CASE("what a named target cannot run is warned of, and not verified") {
  const test::TempDir folder;
  std::string numbers = "0.1", ones = "1";
  for (int i = 1; i < 32; ++i) ones += ", 1";
  for (int i = 1; i < 1024; ++i) numbers += ", " + std::to_string((i * 37 % 101) / 100.0);
  const std::string model =
      test::write_text_model(folder, "m.onnx",
                             "<ir_version: 10, opset_import: [\"\" : 21, \"com.microsoft\" : 1]> g (float[N,32] x) => "
                             "(float[N,32] y, float[N,1] u) "
                             "<float[32] g = {" +
                                 ones + "}, float[32,32] w = {" + numbers +
                                 "}> { m = MatMul (x, w) y, u = com.microsoft.SkipLayerNormalization (m, x, g) }");
  const auto quantize = [&](std::vector<std::string> options) {
    options.insert(options.begin(),
                   {"quantize", model, "-o", folder / "o.onnx", "--to", "w8", "--no-bench", "--json", "-"});
    const test::Outcome done = run_mlopt(options);
    REQUIRE(done.status == 0);
    const Json report = Json::parse(done.out);
    return report.find("not_verified")->dump() + report.find("warnings")->dump();
  };
  CHECK(quantize({}).find("cannot run") == std::string::npos);
  const std::string told = quantize({"--target", "tensorrt"});
  const size_t first = told.find("tensorrt cannot run com.microsoft.SkipLayerNormalization");
  REQUIRE(first != std::string::npos);
  CHECK(told.find("tensorrt cannot run com.microsoft.SkipLayerNormalization", first + 1) != std::string::npos);
}
