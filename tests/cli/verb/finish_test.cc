#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "core/base/file.h"
#include "core/onnx/io.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/program.h"

using namespace mlopt;
using test::run_mlopt;

namespace {

const Json& at(const Json& json, const std::string& key) {
  const Json* member = json.find(key);
  INFO(key);
  REQUIRE(member);
  return *member;
}

/// Adds 40000 ones: 160 KB.
std::string large_model(const test::TempDir& folder) {
  std::string numbers = "0";
  for (int i = 1; i < 40000; ++i) numbers += ", 1";
  return write_text_model(
      folder, "large.onnx",
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[40000] x) => (float[40000] y) <float[40000] w = {" +
          numbers + "}> { y = Add (x, w) }");
}

size_t files_in(const test::TempDir& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

}  // namespace

TEST_CASE("the report of a verb says what its contract names") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers), out = folder / "out.onnx";
  const test::Outcome outcome = run_mlopt({"convert", model, "-o", out, "--bench", "0.1", "--json", "-"});
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  const Json report = Json::parse(outcome.out);
  for (const char* side : {"source", "result"}) {
    CHECK(at(at(report, side), "nodes").integer() == 3);
    CHECK(at(at(report, side), "parameters").integer() == 15);
  }
  CHECK(at(at(report, "result"), "size_bytes").integer() == static_cast<int64_t>(std::filesystem::file_size(out)));
  const Json& verify = at(report, "verify");
  CHECK(at(verify, "device").string() == "reference");
  CHECK(at(verify, "samples").integer() > 0);
  CHECK(at(verify, "outputs").items().at(0).find("cosine")->number() == Approx(1));
  const Json& latency = at(report, "latency");
  REQUIRE(at(latency, "models").items().size() == 2);
  for (const Json& timed : at(latency, "models").items()) CHECK(at(at(timed, "latency_ms"), "p50").number() > 0);
  const Json& ratio = at(latency, "ratios").items().at(0);
  CHECK(at(ratio, "low").number() <= at(ratio, "median").number());
  CHECK(at(ratio, "median").number() <= at(ratio, "high").number());
  CHECK(at(report, "not_verified").items().empty());
  CHECK(at(at(report, "environment"), "threads").integer() > 0);
  for (const char* key : {"spec", "changes", "declined", "gates", "seconds", "peak_memory_bytes"}) at(report, key);
}

TEST_CASE("an output that is far from the source's is a warning of the report too") {
  // In float32 x + 1e8 - 1e8 is a multiple of 8; the merged sum is x.
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", R"(<ir_version: 10, opset_import: ["" : 21]>
    g (float[N,4] x) => (float[N,4] y) <float[1] a = {1e8}, float[1] b = {-1e8}> { s = Add (x, a)  y = Add (s, b) })");
  const test::Outcome outcome = run_mlopt({"fuse", model, "-o", folder / "o.onnx", "--no-bench", "--json", "-"});
  REQUIRE(outcome.status == 0);
  CHECK(at(Json::parse(outcome.out), "warnings").items().at(0).string() ==
        "output 'y' of the result is far from the source's");
}

TEST_CASE("the size in the report is that of the files, external data included") {
  const test::TempDir folder;
  const std::string model = large_model(folder);
  const std::string out = folder / "out.onnx";
  const test::Outcome outcome =
      run_mlopt({"convert", model, "-o", out, "--external", "yes", "--no-bench", "--json", "-"});
  REQUIRE(outcome.status == 0);
  const auto size = std::filesystem::file_size(out) + std::filesystem::file_size(out + ".data");
  CHECK(Json::parse(outcome.out).find("result")->find("size_bytes")->integer() == static_cast<int64_t>(size));
}

TEST_CASE("the source keeps its data where a model that also uses them is replaced") {
  const test::TempDir folder;
  const std::string large = large_model(folder), out = folder / "out.onnx", source = folder / "source";
  REQUIRE(run_mlopt({"convert", large, "-o", out, "--external", "yes", "--no-bench", "-q"}).status == 0);
  std::filesystem::copy_file(out, source);
  REQUIRE(run_mlopt({"quantize", source, "-o", out, "--to", "fp16", "--no-bench", "-q"}).status == 0);
  CHECK(std::filesystem::exists(out + ".data"));
  CHECK(run_mlopt({"quantize", source, "-o", source, "--to", "fp16", "--no-bench", "-q"}).status == 0);
}

TEST_CASE("what has no place or nothing to compare with is refused at once, and a model not written is told of") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  for (const char* target : {"-", "/dev/null"}) {
    const test::Outcome refused = run_mlopt({"convert", model, "-o", target, "--external", "yes"});
    CHECK(refused.status == 2);
    CHECK(refused.err.find("external data cannot lie beside") != std::string::npos);
  }
  CHECK(run_mlopt({"convert", model, "-o", folder / "o.onnx", "--max-regress", "5%"}).status == 2);
  const test::Outcome failing =
      run_mlopt({"convert", model, "-o", "-", "--no-bench", "--max-size", "1", "--no-write-on-fail"});
  CHECK(failing.status == 1);
  CHECK(failing.err.find("the model was not written") != std::string::npos);
}

TEST_CASE("commands pipe: fuse into convert into quantize") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers), out = folder / "out.onnx";
  const test::Outcome fused = run_mlopt({"fuse", model, "-o", "-", "--no-bench"});
  REQUIRE(fused.status == 0);
  CHECK(fused.err.find("parameters") != std::string::npos);  // the report goes where it does not disturb
  const test::Outcome converted =
      run_mlopt({"convert", "-", "-o", "-", "--opset", "22", "--no-bench", "--strict", "-q"}, fused.out);
  INFO(converted.err);
  REQUIRE(converted.status == 0);
  CHECK(converted.err.empty());
  const test::Outcome quantized =
      run_mlopt({"quantize", "-", "-o", out, "--to", "w8a8", "--data", "random:4", "--no-bench", "--min-sqnr", "15"},
                converted.out);
  INFO(quantized.err);
  CHECK(quantized.status == 0);
  const Model result = read_model(out);
  CHECK(result.opset() == 22);
  for (const char* key : {"mlopt.spec", "mlopt.version", "mlopt.source_hash"}) {
    CHECK(std::count_if(result.metadata.begin(), result.metadata.end(),
                        [&](const auto& entry) { return entry.first == key; }) == 1);
  }
}

TEST_CASE("where the model cannot be written, the old one stays whole and nothing is left beside it") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  CHECK(run_mlopt({"convert", model, "-o", folder / "no/such/out.onnx", "--no-bench"}).status == 3);
  const test::Outcome full = run_mlopt({"convert", model, "-o", "/dev/full", "--no-bench"});
  CHECK(full.status == 3);
  CHECK(full.err.find("No space left") != std::string::npos);
  CHECK(files_in(folder) == 1);
  if (::geteuid() == 0) return;  // permissions do not bind root
  const std::string out = folder.write("closed/out.onnx", "old");
  ::chmod((folder / "closed").c_str(), 0500);
  CHECK(run_mlopt({"convert", model, "-o", out, "--no-bench"}).status == 3);
  ::chmod((folder / "closed").c_str(), 0700);
  CHECK(read_file(out) == "old");
}

TEST_CASE("a disk that fills up leaves the old pair of files whole") {
  const test::TempDir folder;
  const std::string model = large_model(folder), out = folder / "out.onnx";
  REQUIRE(run_mlopt({"convert", model, "-o", out, "--external", "yes", "--no-bench", "-q"}).status == 0);
  const std::string before = read_file(out), data = read_file(out + ".data");
  for (const char* external : {"yes", "no"}) {
    const test::Outcome full = test::run_mlopt_on_full_disk(
        {"convert", model, "-o", out, "--external", external, "--opset", "22", "--no-bench"}, 40000);
    INFO(full.err);
    CHECK(full.status == (external[0] == 'y' ? 0 : 3));  // the data are there already
    CHECK(files_in(folder) == 3);
  }
  const test::Outcome full = test::run_mlopt_on_full_disk(
      {"quantize", model, "-o", out, "--to", "fp16", "--external", "yes", "--no-bench"}, 40000);
  INFO(full.err);
  CHECK(full.status == 3);
  CHECK(full.err.find("free some space") != std::string::npos);
  CHECK(files_in(folder) == 3);
  CHECK(read_file(out + ".data") == data);
  CHECK(read_model(out).external_files.size() == 1);
}

TEST_CASE("an interrupted command leaves nothing behind, and the old model whole") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  const std::string out = folder.write("out.onnx", "old");
  CHECK(
      test::interrupt_mlopt({"convert", model, "-o", out, "--bench", "60", "--json", folder / "r.json"}, 0.5).status ==
      128 + SIGINT);
  CHECK(read_file(out) == "old");
  CHECK(files_in(folder) == 2);
}

TEST_CASE("the source may be overwritten with the result") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  REQUIRE(run_mlopt({"convert", model, "-o", model, "--opset", "22", "--no-bench", "-q"}).status == 0);
  CHECK(read_model(model).opset() == 22);
  CHECK(files_in(folder) == 1);
}

TEST_CASE("a limit on memory is judged by a run in a process of its own") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers), out = folder / "out.onnx";
  const auto status = [&](const char* limit) {
    return run_mlopt({"convert", model, "-o", out, "--no-bench", "-q", "--max-memory", limit}).status;
  };
  CHECK(status("4G") == 0);
  CHECK(status("1M") == 1);
  CHECK(status("300%") == 0);
  CHECK(files_in(folder) == 2);
  const test::Outcome near =
      run_mlopt({"convert", model, "-o", out, "--no-bench", "--max-memory", "100%", "--json", "-"});
  const Json judged = Json::parse(near.out);
  const Json& gate = judged.find("gates")->items().at(0);
  const double value = gate.find("value")->number(), limit = gate.find("limit")->number();
  CHECK(std::abs(value / limit - 1) < 0.2);
  const bool unclear = gate.find("words")->string().find("inconclusive") != std::string::npos;
  CHECK(gate.find("holds")->boolean() == (near.status == 0));
  CHECK((!unclear || near.status == 1));
  CHECK((unclear || near.status == (value <= limit ? 0 : 1)));
}

TEST_CASE("weights that stay outside, and are hardly read, count as little in the memory of a run") {
  const test::TempDir folder;
  const std::string out = folder / "out.onnx", small = write_text_model(folder, "small.onnx", test::kTwoLayers);
  const std::string large = write_text_model(folder, "large.onnx", R"(
<ir_version: 8, opset_import: ["": 17]>
g (int64[N] i) => (float[N, 1000] y) {
  shape = Constant <value = int64[2] {20000, 1000}> ()
  w = ConstantOfShape <value = float[1] {0.5}> (shape)
  y = Gather (w, i)
})");
  const auto peak = [&](const std::string& model) {
    const test::Outcome outcome = run_mlopt({"fuse", model, "-o", out, "--fold-limit", "100M", "--no-bench",
                                             "--external", "yes", "--max-memory", "4G", "--json", "-"});
    REQUIRE(outcome.status == 0);
    return Json::parse(outcome.out).find("gates")->items().at(0).find("value")->number();
  };
  const double least = peak(small);
  CHECK(peak(large) < least + 40e6);
  CHECK(files_in(folder) == 4);  // the sources, and the result with its weights
}
