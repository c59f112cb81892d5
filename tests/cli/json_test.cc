#include "core/report/json.h"

#include <fmt/core.h>

#include <map>
#include <set>

#include "cli/commands.h"
#include "core/data/array_file.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/models.h"
#include "tests/support/program.h"

using namespace mlopt;

namespace {

std::string_view kind(const Json& json) {
  if (json.is_null()) return "null";
  if (json.is_bool()) return "boolean";
  if (json.is_number()) return "number";
  if (json.is_string()) return "string";
  return json.is_array() ? "array" : "object";
}

/// Every place in the report and what may stand there; the items of an array are one place.
void collect(const Json& json, const std::string& path, std::map<std::string, std::set<std::string_view>>& kinds) {
  if (!path.empty()) kinds[path].insert(kind(json));
  if (path == "environment") return;  // differs between machines and builds
  for (const auto& [key, value] : json.members()) collect(value, path.empty() ? key : path + "." + key, kinds);
  if (!json.is_array()) return;
  for (const Json& item : json.items()) collect(item, path + "[]", kinds);
}

std::string outline(const Json& json) {
  std::map<std::string, std::set<std::string_view>> kinds;
  collect(json, "", kinds);
  std::string text;
  for (const auto& [path, found] : kinds) {
    text += path + ":";
    for (const std::string_view one : found) text += fmt::format(" {}", one);
    text += "\n";
  }
  return text;
}

/// A model, labelled data and a folder to write to.
struct Fixture {
  test::TempDir folder;
  std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  std::string data = folder / "d.npz", out = folder / "out.onnx";

  Fixture() {
    const Tensor x = Tensor::of<float>({4, 4}, {0, 2, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0});
    write_npz(data, {{"x", x}, {"label", Tensor::ints({1, 2, 2, 0})}});
  }

  /// A line of arguments for each command that reports, which shows as much of its report as there is.
  std::map<std::string, std::vector<std::string>> lines() const {
    const std::vector<std::string> verb = {
        "-o",          out, "--data",     data,  "--metric",      "top1",  "--bench",      "0.05",
        "--tolerance", "1", "--max-drop", "100", "--min-speedup", "0.001", "--max-memory", "4G"};
    const auto with = [&](std::vector<std::string> args) {
      args.insert(args.end(), verb.begin(), verb.end());
      return args;
    };
    return {{"info", {model, "--weights"}},
            {"check", {model, "--target", "ort"}},
            {"run", {model, "--data", "random:1"}},
            {"eval", {model, "--data", data, "--metric", "top1"}},
            {"compare", {model, model, "--data", data, "--metric", "top1", "--tolerance", "0"}},
            {"bench", {model, model, "--runs", "5", "--profile", "--max-latency", "1000"}},
            {"fuse", with({model})},
            {"quantize", with({model, "--to", "w8a8"})},
            {"prune", with({model, "--sparsity", "0.5"})},
            {"train", with({model, "--val", data, "--batch-size", "2", "--tolerance", "10"})},
            {"distill", with({model, "--teacher", model, "--val", data, "--batch-size", "2", "--tolerance", "10"})},
            {"convert", with({model, "--to", "fp16"})},
            {"devices", {}}};
  }
};

}  // namespace

TEST_CASE("the JSON report of every command has the members that were accepted") {
  const Fixture fixture;
  const auto lines = fixture.lines();
  for (const cli::Command& command : cli::commands()) {
    const std::string name(command.name);
    if (name == "completion") continue;  // prints a script
    INFO(name);
    REQUIRE(lines.contains(name));
    std::vector<std::string> args = lines.at(name);
    args.insert(args.begin(), name);
    args.insert(args.end(), {"--json", "-", "--device", "reference", "--threads", "1"});
    const test::Outcome outcome = test::run_mlopt(args);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    test::check_golden("cli/json/" + name + ".txt", outline(Json::parse(outcome.out)));
  }
}

TEST_CASE("the verbs tell speed in the members that bench has") {
  const Fixture fixture;
  const auto members = [&](std::vector<std::string> args, std::initializer_list<const char*> path) {
    args.insert(args.end(), {"--json", "-", "--device", "reference", "--threads", "1"});
    const test::Outcome outcome = test::run_mlopt(args);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const Json report = Json::parse(outcome.out);
    const Json* at = &report;
    for (const char* key : path) at = at->find(key);
    std::vector<std::string> names;
    for (const auto& [key, value] : at->items().at(1).members()) names.push_back(key);
    return names;
  };
  const auto bench = members({"bench", fixture.model, fixture.model, "--runs", "5"}, {"models"});
  CHECK(members({"fuse", fixture.model, "-o", fixture.out, "--bench", "0.05"}, {"latency", "models"}) == bench);
}
