#include <fmt/core.h>

#include "cli/bench/bench.h"
#include "core/base/error.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thrown.h"

using namespace mlopt;

namespace {

/// A model of 1000 bytes whose blocks of runs take these milliseconds.
cli::Entry measured(const std::vector<double>& blocks) {
  cli::Entry entry;
  entry.path = "m.onnx";
  entry.device = "cpu";
  entry.size_bytes = 1000;
  std::vector<double> all;
  for (const double ms : blocks) {
    entry.blocks.push_back({.seconds = {ms / 1e3, ms / 1e3}, .elapsed = ms / 5e2});
    all.insert(all.end(), 2, ms / 1e3);
  }
  entry.latency = summarize(all);
  return entry;
}

std::vector<Gate> judged(const cli::Entry& entry, const cli::BenchOptions& options) {
  Report report;
  report.data["environment"] = Json::object({{"cpu", "c"}, {"features", "f"}, {"threads", 1}});
  check_gates({entry}, {}, options, 1, report);
  return report.gates;
}

bool says(const Gate& gate, const char* words) { return gate.words.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("a latency that is too noisy to decide is inconclusive and fails") {
  const cli::Entry steady = measured({9, 9.1, 9, 9.2, 9, 9}), noisy = measured({5, 20, 6, 19, 7, 21, 5});
  cli::BenchOptions options;
  options.models = {"m.onnx"};
  options.max_latency_ms = 10;
  CHECK(judged(steady, options).at(0).holds);
  const Gate unclear = judged(noisy, options).at(0);
  CHECK_FALSE(unclear.holds);
  CHECK(says(unclear, "inconclusive"));
  options.max_latency_ms = 4;
  const Gate slow = judged(noisy, options).at(0);
  CHECK_FALSE(slow.holds);
  CHECK_FALSE(says(slow, "inconclusive"));
  options.max_latency_ms = 7;
  CHECK_FALSE(judged(measured({7, 20}), options).at(0).holds);  // two blocks: their runs decide
  options.max_latency_ms = 14;
  CHECK(says(judged(measured({7, 20}), options).at(0), "inconclusive"));
  options.max_latency_ms = 21;
  CHECK(judged(measured({7, 20}), options).at(0).holds);
}

TEST_CASE("an earlier report's size and p50 are compared, the latter on the same machine only") {
  const cli::Entry now = measured({9, 9, 9, 9, 9});
  cli::BenchOptions options;
  options.models = {"m.onnx"};
  options.baseline_file = "base.json";
  const auto earlier = [&](const char* cpu, int size, double p50) {
    options.baseline = Json::parse(fmt::format(
        R"({{"environment": {{"cpu": "{}", "features": "f", "threads": 1}}, "models": [
             {{"path": "m.onnx", "device": "cpu", "threads": 1, "size_bytes": {}, "latency_ms": {{"p50": {}}}}}]}})",
        cpu, size, p50));
    return judged(now, options);
  };
  std::vector<Gate> gates = earlier("c", 1000, 9);
  REQUIRE(gates.size() == 2);
  CHECK((gates[0].holds && gates[1].holds));
  gates = earlier("c", 900, 8);  // 11 % larger, 12.5 % slower
  CHECK(gates.at(0).value.number() == Approx(100.0 / 9));
  CHECK(gates.at(1).value.number() == Approx(12.5));
  CHECK_FALSE((gates[0].holds || gates[1].holds));
  options.max_regress = cli::Percent{13};
  gates = earlier("c", 900, 8);
  CHECK((gates.at(0).holds && gates.at(1).holds));
  CHECK(says(earlier("another", 1000, 1).at(1), "not comparable"));
  options.strict = true;
  CHECK_FALSE(earlier("another", 1000, 1).at(1).holds);
}

TEST_CASE("a p50 is compared with one of the same setting, however long each was measured") {
  cli::BenchOptions options;
  options.models = {"m.onnx"};
  options.baseline_file = "base.json";
  options.strict = true;
  const auto report = [](const std::string& spec) {
    Json data = Json::parse(R"({"environment": {"cpu": "c", "features": "f", "threads": 1}, "models": [
        {"path": "m.onnx", "device": "cpu", "threads": 1, "size_bytes": 1000, "latency_ms": {"p50": 9}}]})");
    data["spec"] = spec;
    return data;
  };
  const auto compared = [&](const std::string& earlier, const std::string& now) {
    options.baseline = report(earlier);
    Report judged;
    judged.data = report(now);
    check_gates({measured({9, 9, 9, 9, 9})}, {}, options, 1, judged);
    CHECK(judged.gates.at(0).holds);  // the size
    CHECK(says(judged.gates.at(1), "not comparable") != judged.gates.at(1).holds);
    return judged.gates.at(1).holds;
  };
  CHECK(compared("data=random;streams=1;runs=5;warmup=1", "data=random;streams=1;duration=2;warmup=0"));
  CHECK_FALSE(compared("data=random;streams=2;runs=5", "data=random;streams=1;runs=5"));
  CHECK_FALSE(compared("data=random;precision=bf16", "data=random;precision="));
  CHECK_FALSE(compared("data=random;shape=N=512", "data=random"));
}

TEST_CASE("a baseline that is no report of bench is an error") {
  const test::TempDir folder;
  for (const char* text : {"{}", "[1, 2]", "7", R"({"models": 3})", R"({"models": []})", R"({"models": {"path": "m"}})",
                           R"({"models": [{"path": 3}]})", R"({"models": [{"path": "m"}, "n"]})"}) {
    INFO(text);
    const std::string path = folder.write("base.json", text);
    const Error error = test::thrown_by([&] { cli::read_bench_report(path); });
    CHECK(error.code == Code::kBadInput);
    CHECK(error.where == path);
  }
  CHECK(cli::read_bench_report(folder.write("base.json", R"({"models": [{"path": "m"}]})")).find("models"));
}
