#include "cli/prune/amc.h"

#include <cmath>
#include <filesystem>

#include "core/base/file.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/prune_files.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

TEST_CASE("--allocation amc searches shares, says what it tried, and goes on where it was cut off") {
  const test::PruneFiles files;
  const std::string kept = files.folder / "search.json";
  const auto prune = [&](std::vector<std::string> options) {
    for (const char* more :
         {"--granularity", "channel", "--round", "none", "--data", files.data.c_str(), "--json", "-"})
      options.emplace_back(more);
    return files.prune(options);
  };
  const std::vector<std::string> how = {"--allocation", "amc", "--episodes", "8", "--flops", "50%", "--search", kept};
  const test::Outcome first = prune(how);
  INFO(first.err << first.out);
  REQUIRE(first.status == 0);
  const Json report = Json::parse(first.out);
  const auto& episodes = report.find("amc")->find("episodes")->items();
  REQUIRE(episodes.size() == 8);
  for (const Json& e : episodes) CHECK(e.find("left")->number() <= 0.5);
  CHECK(report.find("changes")->find("macs_after")->integer() * 2 <=
        report.find("changes")->find("macs_before")->integer());
  CHECK(report.find("spec")->string().find("shares=first=") != std::string::npos);
  CHECK(report.find("spec")->string().find("amc") == std::string::npos);

  // Cut off behind the third: what the file says counts, and nothing of it is tried again.
  std::string text = read_file(kept);
  Json cut = Json::parse(text);
  Json some = Json::array();
  for (size_t e = 0; e < 3; ++e) some.push_back(cut.find("episodes")->items()[e]);
  cut["episodes"] = some;
  AtomicFile file(kept);
  file.write(cut.dump());
  file.commit();
  REQUIRE(prune(how).status == 0);
  CHECK(read_file(kept) == text);

  const test::Outcome other = prune({"--allocation", "amc", "--episodes", "9", "--flops", "50%", "--search", kept});
  CHECK(other.status == 3);
  CHECK(other.err.find("for another spec") != std::string::npos);
  CHECK(prune({"--flops", "50%", "--search", kept}).status == 2);
  CHECK(prune({"--flops", "50%", "--episodes", "5"}).status == 2);
  CHECK(prune({"--sparsity", "auto", "--allocation", "amc", "--max-drop", "1", "--metric", "top1"}).status == 2);
}

TEST_CASE("results of NaN and infinities are worth the least, but a number") {
  cli::Session session{{}, Console(false, false), {}};
  session.common.threads = 1;
  session.common.device = "reference";
  cli::VerbOptions verb;
  const auto made = [](const char* factor) {
    return test::fixture(std::string("g (float[N,3] x) => (float[N,3] y) <float f = {") + factor +
                         "}> { a = Mul (x, f)  y = Exp (a) }");
  };
  const Model source = made("1.0");
  const cli::AmcSearch search("", verb, prune::Spec(), source, session);
  CHECK(search.means()->reward(made("1e30")) == -1);

  cli::Trial trial;
  trial.difference = Difference();
  trial.difference->same_nonfinite = false;
  trial.difference->sqnr_db = NAN;
  trial.score = Score();
  CHECK(cli::loss_of(trial, Score(), "top1") <= 1);
}
