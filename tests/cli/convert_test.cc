#include "core/base/file.h"
#include "core/onnx/io.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/program.h"

using namespace mlopt;
using test::run_mlopt;

TEST_CASE("convert raises the opset, verifies the outputs and records where the model came from") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers), out = folder / "out.onnx";
  const test::Outcome outcome = run_mlopt({"convert", model, "-o", out, "--opset", "22", "--no-bench", "--json", "-"});
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  const Json report = Json::parse(outcome.out);
  CHECK(report.find("source")->find("opset")->number() == 21);
  CHECK(report.find("result")->find("opset")->number() == 22);
  CHECK(report.find("result")->find("size_bytes")->number() == std::filesystem::file_size(out));
  CHECK(report.find("verify")->find("outputs")->items().at(0).find("max_abs")->number() == 0);
  CHECK(report.find("latency")->find("left_out"));
  CHECK(report.find("not_verified")->items().empty());
  for (const char* key : {"spec", "changes", "declined", "gates", "seconds", "peak_memory_bytes"})
    CHECK(report.find(key));

  const Model written = read_model(out);
  CHECK(written.opset() == 22);
  std::string spec, hash;
  for (const auto& [key, value] : written.metadata) {
    if (key == "mlopt.spec") spec = value;
    if (key == "mlopt.source_hash") hash = value;
  }
  CHECK(spec == "convert:opset=22");
  CHECK(hash.size() == 5 + 32);
}

namespace {

/// The report of a conversion that must succeed without anything left unverified.
Json converted(const std::string& model, const std::string& out, std::vector<std::string> options) {
  options.insert(options.begin(), {"convert", model, "-o", out, "--no-bench", "--strict", "--json", "-"});
  const test::Outcome outcome = run_mlopt(options);
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.out);
}

int64_t bytes_of(const std::string& path, DType type) {
  int64_t bytes = 0;
  const Model model = read_model(path);
  for (const Value* value : model.graph->initializers()) {
    if (value->constant->dtype() == type) bytes += static_cast<int64_t>(value->constant->bytes());
  }
  return bytes;
}

/// A weight of 8x32 that float16 holds exactly.
std::string wide_layer(const test::TempDir& folder, int opset = 21) {
  std::string numbers = "0.5";
  for (int i = 1; i < 256; ++i) numbers += ", " + std::to_string(i % 7 - 3);
  return write_text_model(folder, "wide.onnx",
                          "<ir_version: 7, opset_import: [\"\" : " + std::to_string(opset) +
                              "]> g (float[N,8] x) => (float[N,32] y) <float[8,32] w = {" + numbers +
                              "}> { m = MatMul (x, w) y = Relu (m) }");
}

}  // namespace

TEST_CASE("convert lowers the opset") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers), out = folder / "out.onnx";
  const Json report = converted(model, out, {"--opset", "17", "--tolerance", "0"});
  CHECK(report.find("changes")->find("opset")->find("from")->integer() == 21);
  CHECK(read_model(out).opset() == 17);
  CHECK(run_mlopt({"convert", model, "-o", out, "--opset", "999", "--no-bench"}).status != 0);
  CHECK(run_mlopt({"convert", model, "-o", out, "--opset", "0"}).err.find("there is no opset 0") != std::string::npos);
}

TEST_CASE("convert inlines functions") {
  const test::TempDir folder;
  const std::string model =
      write_text_model(folder, "m.onnx",
                       "<ir_version: 10, opset_import: [\"\" : 21, \"local\" : 1]> g (float[N,4] x) "
                       "=> (float[N,4] y) { y = local.twice (x) } "
                       "<opset_import: [\"\" : 21], domain: \"local\"> twice (a) => (b) "
                       "{ b = Add (a, a) }");
  const std::string out = folder / "out.onnx";
  CHECK(converted(model, out, {"--inline", "--tolerance", "0"}).find("changes")->find("functions_inlined")->integer() ==
        1);
  const Model written = read_model(out);
  CHECK(written.functions.empty());
  REQUIRE(written.graph->node_count() == 1);
  CHECK(written.graph->nodes()[0]->is("Add"));
}

TEST_CASE("float16 and back: inputs and outputs keep their types, weights change theirs") {
  const test::TempDir folder;
  const std::string model = wide_layer(folder), half = folder / "half.onnx", single = folder / "single.onnx";
  const Json report = converted(model, half, {"--to", "fp16", "--tolerance", "5e-3"});
  CHECK(report.find("changes")->find("layers")->integer() == 1);
  CHECK(bytes_of(half, DType::kF16) == 512);
  CHECK(bytes_of(half, DType::kF32) == 0);
  CHECK(read_model(half).graph->inputs()[0]->type.dtype == DType::kF32);

  converted(half, single, {"--to", "fp32", "--tolerance", "5e-3"});
  CHECK(bytes_of(single, DType::kF16) == 0);
  CHECK(bytes_of(single, DType::kF32) == 1024);
  CHECK(read_model(single).graph->node_count() == 2);  // the Casts are gone
  CHECK(run_mlopt({"compare", model, single, "--tolerance", "0", "-q"}).status == 0);
}

TEST_CASE("bfloat16 weights raise the opset that cannot cast them") {
  const test::TempDir folder;
  const std::string old = wide_layer(folder, 11), out = folder / "out.onnx";
  const Json report = converted(old, out, {"--to", "bf16", "--tolerance", "0"});
  CHECK(read_model(out).opset() == 13);
  CHECK(bytes_of(out, DType::kBF16) == 512);
  CHECK(report.find("spec")->string() == "convert:to=bf16");
  CHECK(run_mlopt({"convert", old, "-o", out, "--to", "bf16", "--opset", "12"}).status == 2);
  const test::Outcome typo = run_mlopt({"convert", old, "-o", out, "--to", "fp61"});
  CHECK(typo.status == 2);
  CHECK(typo.err.find("fp16") != std::string::npos);
}

TEST_CASE("float16 raises the opset whose Cast names types by strings") {
  const test::TempDir folder;
  const std::string old = wide_layer(folder, 5), out = folder / "out.onnx";
  converted(old, out, {"--to", "fp16", "--tolerance", "0.1"});
  CHECK(read_model(out).opset() == 6);
  CHECK(run_mlopt({"convert", old, "-o", out, "--to", "fp16", "--opset", "5"}).status == 2);
}

TEST_CASE("commands pipe models") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  const test::Outcome first = run_mlopt({"convert", model, "-o", "-", "--no-bench"});
  REQUIRE(first.status == 0);
  CHECK(first.err.find("parameters") != std::string::npos);
  const test::Outcome second = run_mlopt({"info", "-", "--json", "-"}, first.out);
  REQUIRE(second.status == 0);
  CHECK(Json::parse(second.out).find("parameters")->number() == 15);
  CHECK(run_mlopt({"convert", model, "-o", "-", "--json", "-"}).status == 2);
}

TEST_CASE("gates decide the status, and whether the model is written") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers), out = folder / "out.onnx";
  const auto convert = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"convert", model, "-o", out, "--no-bench", "--quiet"});
    return run_mlopt(more).status;
  };
  CHECK(convert({"--tolerance", "0", "--min-sqnr", "60", "--min-agreement", "100%"}) == 0);
  std::filesystem::remove(out);
  CHECK(convert({"--max-size", "10%", "--no-write-on-fail"}) == 1);
  CHECK_FALSE(std::filesystem::exists(out));
  CHECK(convert({"--max-size", "10%"}) == 1);
  CHECK(std::filesystem::exists(out));
  CHECK(convert({"--max-drop", "0.5"}) == 2);
  CHECK(convert({"--min-speedup", "1"}) == 2);
  CHECK(convert({"--max-size", "many"}) == 2);
}

TEST_CASE("weights go where they are asked to") {
  const test::TempDir folder;
  std::string numbers = "0";
  for (int i = 1; i < 400; ++i) numbers += ", " + std::to_string(i);
  const std::string model =
      write_text_model(folder, "m.onnx",
                       "<ir_version: 10, opset_import: [\"\" : 21]> g (float[400] x) => (float[400] y) "
                       "<float[400] w = {" +
                           numbers + "}> { y = Add (x, w) }");
  const std::string out = folder / "out.onnx";
  REQUIRE(run_mlopt({"convert", model, "-o", out, "--external", "yes", "--no-bench", "-q"}).status == 0);
  const Model outside = read_model(out);
  REQUIRE(outside.external_files.size() == 1);
  CHECK(std::filesystem::file_size(folder / outside.external_files[0]) >= 1600);
  REQUIRE(run_mlopt({"convert", out, "-o", folder / "in.onnx", "--external", "no", "--no-bench", "-q"}).status == 0);
  CHECK(read_model(folder / "in.onnx").external_files.empty());
}

TEST_CASE("what cannot be verified is said, and fails when asked to be strict") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx",
                                             "<ir_version: 10, opset_import: [\"\" : 21, \"nowhere\" : 1]> g (float[4] "
                                             "x) => (float[4] y) { y = nowhere.Thing (x) }");
  const std::string out = folder / "out.onnx";
  const test::Outcome lenient = run_mlopt({"convert", model, "-o", out, "--json", "-"});
  INFO(lenient.err);
  CHECK(lenient.status == 0);
  CHECK(Json::parse(lenient.out).find("not_verified")->items().size() == 1);
  CHECK(run_mlopt({"convert", model, "-o", out, "--strict", "-q"}).status == 1);
}

TEST_CASE("the text form is written and says the model") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  const test::Outcome outcome = run_mlopt({"convert", model, "-o", "-", "--text"});
  REQUIRE(outcome.status == 0);
  CHECK(parse_text(outcome.out).graph->node_count() == 3);
  CHECK(run_mlopt({"convert", model, "-o", "-", "--text", "--tolerance", "0"}).status == 2);  // nothing would judge it
  CHECK(run_mlopt({"convert", model, "-o", "-", "--text", "--external", "yes"}).status == 2);
  CHECK(run_mlopt({"convert", model, "-o", folder / "n.onnx", "--no-bench", "--bench", "3"}).status == 2);
}

TEST_CASE("a result with infinities where the source has numbers is a failure, and is not written if that is wished") {
  const test::TempDir folder;
  const std::string out = folder / "out.onnx",
                    model = write_text_model(folder, "m.onnx", R"(<ir_version: 10, opset_import: ["" : 21]>
    g (float[2] x) => (float[2] y) <float k = {60000}, float s = {0.0001}>
    { e = Abs (x)  a = Sum (e, k)  b = Sum (a, k)  y = Mul (b, s) })");
  const std::vector<std::string> line = {"convert", model, "-o", out, "--to", "fp16", "--no-bench"};
  const test::Outcome written = run_mlopt(line);
  CHECK(written.status == 1);
  CHECK(written.out.find("has NaN or infinity where the source has a number") != std::string::npos);
  CHECK(std::filesystem::remove(out));
  std::vector<std::string> strict = line;
  strict.emplace_back("--no-write-on-fail");
  CHECK(run_mlopt(strict).status == 1);
  CHECK_FALSE(std::filesystem::exists(out));
}
