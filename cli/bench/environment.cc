#include "cli/environment.h"

#include <fmt/core.h>

#include "cli/bench/bench.h"
#include "core/base/text.h"
#include "core/measure/machine.h"

namespace mlopt::cli {
namespace {

constexpr double kNoisy = 0.1;

std::string spec_of(const BenchOptions& options, const Common& common) {
  std::string spec =
      fmt::format("data={};devices={};threads={};streams={};{};warmup={};precision={};seed={}", options.data.spec,
                  join(options.devices, ","), common.threads, options.streams,
                  options.runs ? fmt::format("runs={}", *options.runs) : fmt::format("duration={}", options.duration),
                  options.warmup, options.precision, common.seed);
  if (!options.data.shapes.empty()) spec += ";shape=" + join(options.data.shapes, ",");
  if (!options.data.ranges.empty()) spec += ";range=" + join(options.data.ranges, ",");
  return options.no_prepare ? spec + ";no-prepare" : spec;
}

}  // namespace

void report_environment(const BenchOptions& options, Session& session) {
  const double noise = measure_noise();
  Report& report = session.report;
  Json environment = environment_json(session.common.threads);
  environment["noise"] = noise;
  report.data["spec"] = spec_of(options, session.common);
  report.line(fmt::format("{}, {} of {} CPUs, {} threads; noise {:.0f} %", environment.find("cpu")->string(),
                          environment.find("usable_cpus")->integer(), environment.find("logical_cpus")->integer(),
                          session.common.threads, 100 * noise));
  report.data["environment"] = std::move(environment);
}

void warn_of_noise(const Session& session) {
  const Json* environment = session.report.data.find("environment");
  const double noise = environment->find("noise")->number();
  if (noise <= kNoisy) return;
  session.console.warn(fmt::format(
      "the machine is busy: the time of one loop varies by {:.0f} %; ratios are safer than latencies", 100 * noise));
}

}  // namespace mlopt::cli
