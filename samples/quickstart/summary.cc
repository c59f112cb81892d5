#include "samples/quickstart/summary.h"

#include <fmt/core.h>

#include <array>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/report/report.h"

namespace mlopt::quickstart {
namespace {

constexpr std::array kModels = {"fp32", "fused", "int8"};
constexpr double kLeastScore = 0.97, kLargestDrop = 0.005;

nlohmann::json read_report(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name + ".json";
  const nlohmann::json report = nlohmann::json::parse(read_file(path), nullptr, false);
  if (report.is_discarded()) input_error("not a report", path, "run samples/quickstart/run.sh again");
  return report;
}

/// "1.43x (1.38 to 1.49)" from the ratio of `path` to the first model.
std::string speed_in_words(const nlohmann::json& bench, const std::string& path) {
  for (const nlohmann::json& ratio : bench.at("ratios")) {
    if (ratio.at("model") == path) {
      return fmt::format("{:.2f}x ({:.2f} to {:.2f})", ratio.at("median").get<double>(), ratio.at("low").get<double>(),
                         ratio.at("high").get<double>());
    }
  }
  return "1";
}

double score_of(const std::string& folder, const std::string& model) {
  return read_report(folder, "eval-" + model).at("score").at("value").get<double>();
}

void require(bool holds, const std::string& what, const std::string& where) {
  if (!holds) input_error(what, where, "this is a fault of mlopt: please report it with the table above");
}

}  // namespace

void print_summary(const std::string& folder) {
  const nlohmann::json bench = read_report(folder, "bench");
  Report report;
  Table& table = report.table("", {"model", "size", "correct", "p50", "speed (95 % interval)"});
  for (size_t i = 0; i < kModels.size(); ++i) {
    const nlohmann::json& model = bench.at("models").at(i);
    const auto path = model.at("path").get<std::string>();
    table.rows.push_back({path, fmt::format("{:.1f} kB", model.at("size_bytes").get<double>() / 1e3),
                          fmt::format("{:.2f} %", 100 * score_of(folder, kModels.at(i))),
                          fmt::format("{:.3f} ms", model.at("latency_ms").at("p50").get<double>()),
                          speed_in_words(bench, path)});
  }
  fmt::print("{}", to_text(report));
  const double before = score_of(folder, "fp32"), after = score_of(folder, "int8");
  require(before >= kLeastScore, fmt::format("only {:.2f} % of the pictures are told right", 100 * before),
          "fp32.onnx");
  require(before - after <= kLargestDrop, fmt::format("{:.2f} points are lost", 100 * (before - after)), "int8.onnx");
}

}  // namespace mlopt::quickstart
