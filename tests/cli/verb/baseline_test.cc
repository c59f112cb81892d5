#include "cli/environment.h"
#include "cli/verb/verb.h"
#include "core/base/file.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;
using namespace mlopt::cli;

namespace {

Json report(int64_t bytes, double top1, double p50, int threads = 1) {
  const auto latency = [](double ms) { return Json::object({{"latency_ms", Json::object({{"p50", ms}})}}); };
  const Json score = Json::object({{"metric", "top1"}, {"value", top1}});
  return Json::object({{"result", Json::object({{"size_bytes", bytes}})},
                       {"score", Json::object({{"result", score}})},
                       {"latency", Json::object({{"models", std::vector<Json>{latency(9), latency(p50)}}})},
                       {"environment", environment_json(threads)}});
}

struct Judged {
  bool size, score, latency;
};

Judged judge(const Json& earlier, const Json& now, bool strict = false) {
  const test::TempDir folder;
  VerbOptions verb;
  verb.baseline = folder.write("earlier.json", earlier.dump());
  verb.strict = strict;
  const double p50 = now.find("latency")->find("models")->items()[1].find("latency_ms")->find("p50")->number();
  SideBySide latency;
  latency.result_p50 = {p50, 0.99 * p50, 1.01 * p50};
  const std::vector<Gate> gates = judge_regress(verb, latency, now);
  REQUIRE(gates.size() == 3);
  return {gates[0].holds, gates[1].holds, gates[2].holds};
}

}  // namespace

TEST_CASE("figures may be a little worse than an earlier report's, or better") {
  const Json earlier = report(1000, 0.8, 10);
  const Judged close = judge(earlier, report(1040, 0.77, 10.2));
  CHECK((close.size && close.score && close.latency));
  const Judged better = judge(earlier, report(500, 0.99, 2));
  CHECK((better.size && better.score && better.latency));
  const Judged worse = judge(earlier, report(1060, 0.75, 10.6));
  CHECK_FALSE((worse.size || worse.score || worse.latency));
}

TEST_CASE("latencies of another setting are not compared, which only --strict minds") {
  const Json earlier = report(1000, 0.8, 10), now = report(1000, 0.8, 100, 2);
  CHECK(judge(earlier, now).latency);
  CHECK_FALSE(judge(earlier, now, true).latency);
  CHECK(judge(earlier, now, true).size);
}

TEST_CASE("a latency that only the earlier report has is not compared, which --strict minds") {
  const test::TempDir folder;
  VerbOptions verb;
  verb.no_bench = true;
  Json now = report(1000, 0.8, 10);
  now["latency"] = Json::object({{"left_out", "--no-bench was given"}});
  verb.baseline = folder.write("unmeasured.json", now.dump());
  CHECK(judge_regress(verb, {}, now).size() == 2);
  verb.baseline = folder.write("measured.json", report(1000, 0.8, 10).dump());
  const Gate gate = judge_regress(verb, {}, now).back();
  CHECK(gate.words.find("p50 latency: not comparable") == 0);
  CHECK(gate.holds);
  verb.strict = true;
  CHECK_FALSE(judge_regress(verb, {}, now).back().holds);
}

TEST_CASE("scores on other data are not compared, which only --strict minds") {
  const auto on = [](const char* data, int64_t samples, const char* shape) {
    Json made = report(1000, 0.8, 10);
    made["verify"] = Json::object({{"data", data}});
    if (*shape) made["verify"]["shape"] = shape;
    made["score"]["result"]["samples"] = samples;
    return made;
  };
  const Json earlier = on("a.npz", 100, "");
  CHECK(judge(earlier, on("a.npz", 100, ""), true).score);
  for (const Json& now : {on("b.npz", 100, ""), on("a.npz", 50, ""), on("a.npz", 100, "x=2")}) {
    CHECK(judge(earlier, now).score);
    CHECK_FALSE(judge(earlier, now, true).score);
  }
  CHECK(judge(earlier, on("b.npz", 50, ""), true).latency);
  CHECK_FALSE(judge(earlier, on("a.npz", 100, "x=2"), true).latency);
}

TEST_CASE("without --baseline nothing is judged") { CHECK(judge_regress({}, {}, report(1, 1, 1)).empty()); }

TEST_CASE("an interval that holds the limit decides nothing, and fails") {
  const test::TempDir folder;
  VerbOptions verb;
  verb.baseline = folder.write("earlier.json", report(1000, 0.8, 10).dump());
  SideBySide latency;
  latency.result_p50 = {10.2, 9.8, 11};
  const Gate gate = judge_regress(verb, latency, report(1000, 0.8, 10.2)).back();
  CHECK_FALSE(gate.holds);
  CHECK(gate.words.find("inconclusive") != std::string::npos);
}

TEST_CASE("what is no report of a verb is refused before the work") {
  const test::TempDir folder;
  CHECK_THROWS_WITH(read_baseline(folder.write("r.json", "{\"models\": []}")), Catch::Contains("no report"));
  CHECK_THROWS(read_baseline(folder / "none.json"));
}
