#include <fmt/core.h>

#include "cli/bench/bench.h"
#include "cli/version.h"
#include "core/base/text.h"
#include "core/measure/machine.h"

namespace mlopt::cli {
namespace {

constexpr double kNoisy = 0.1;

}  // namespace

void report_environment(const BenchOptions& options, Session& session) {
  const Machine machine = describe_machine();
  const double noise = measure_noise();
  Report& report = session.report;
  report.data["environment"] = Json::object({{"cpu", machine.cpu},
                                             {"features", machine.features},
                                             {"logical_cpus", machine.logical_cpus},
                                             {"usable_cpus", machine.usable_cpus},
                                             {"threads", session.common.threads},
                                             {"governor", machine.governor},
                                             {"turbo", machine.turbo},
                                             {"virtual_machine", machine.virtual_machine},
                                             {"memory_bytes", machine.memory_bytes},
                                             {"kernel", machine.kernel},
                                             {"libraries", Json::object({{"mlopt", version()}})},
                                             {"noise", noise}});
  report.data["spec"] = fmt::format(
      "data={};devices={};threads={};streams={};{};warmup={};precision=fp32;seed={}", options.data.spec,
      join(options.devices, ","), session.common.threads, options.streams,
      options.runs > 0 ? fmt::format("runs={}", options.runs) : fmt::format("duration={}", options.duration),
      options.warmup, session.common.seed);
  report.line(fmt::format("{}, {} of {} CPUs, {} threads; noise {:.0f} %", machine.cpu, machine.usable_cpus,
                          machine.logical_cpus, session.common.threads, 100 * noise));
}

void warn_of_noise(const Session& session) {
  const Json* environment = session.report.data.find("environment");
  const double noise = environment->find("noise")->number();
  if (noise <= kNoisy) return;
  session.console.warn(fmt::format(
      "the machine is busy: the time of one loop varies by {:.0f} %; ratios are safer than latencies", 100 * noise));
}

}  // namespace mlopt::cli
