#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/prune_files.h"

using namespace mlopt;

namespace {

std::vector<bool> held(const test::Outcome& outcome, size_t gates) {
  INFO(outcome.err << outcome.out);
  REQUIRE(outcome.status == 0);
  std::vector<bool> all;
  const Json report = Json::parse(outcome.out);
  for (const Json& one : report.find("search")->items()) {
    CHECK(one.find("gates")->items().size() == gates);
    all.push_back(one.find("holds")->boolean());
  }
  return all;
}

}  // namespace

TEST_CASE("a search for the sparsity looks at every gate on outputs and score") {
  const test::PruneFiles files;
  std::vector<std::string> options = {"--sparsity", "auto", "--data", files.labelled(), "--json", "-"};
  const auto search = [&](const std::vector<std::string>& gates, size_t count) {
    std::vector<std::string> all = options;
    all.insert(all.end(), gates.begin(), gates.end());
    return held(files.prune(all), count);
  };
  const std::vector<bool> by_score = search({"--max-drop", "100", "--metric", "top1"}, 1);
  CHECK(by_score == std::vector<bool>(7, true));
  const std::vector<bool> by_both = search({"--max-drop", "100", "--metric", "top1", "--min-sqnr", "12"}, 2);
  CHECK(by_both != by_score);
  CHECK(search({"--min-sqnr", "12"}, 1) == by_both);
}
