#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/backends.h"
#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/environment.h"
#include "cli/gpus.h"
#include "cli/version.h"
#include "core/base/text.h"
#include "core/measure/roofline.h"
#include "core/train/measure_ranks.h"

namespace mlopt::cli {
namespace {

struct Device {
  std::string name;
  bool ready = false;
  std::string missing, fix;
};

Device probe(const std::string& name) {
  try {
    open_backend(name);
    return {name, true, "", ""};
  } catch (const Error& e) {
    return {name, false, in_words(e), e.fix};
  }
}

std::vector<Device> probe_all() {
  std::vector<std::string> names = {"cpu", "reference"};
  for (std::string& name : plugin_device_names()) names.push_back(std::move(name));
  std::vector<Device> devices;
  for (const std::string& name : names) devices.push_back(probe(name));
  return devices;
}

void show_machine(const Json& environment, Report& report) {
  const auto number = [&](const char* key) { return environment.find(key)->integer(); };
  report.line(fmt::format("{}, {} of {} CPUs usable, {}", environment.find("cpu")->string(), number("usable_cpus"),
                          number("logical_cpus"), format_bytes(environment.find("memory_bytes")->number())));
  std::string features;
  for (const Json& feature : environment.find("features")->items()) features += " " + feature.string();
  report.line("instruction sets:" + features);
  std::string libraries;
  for (const auto& [name, version] : environment.find("libraries")->members()) {
    libraries += fmt::format("{}{} {}", libraries.empty() ? "" : ", ", name, version.string());
  }
  report.line("libraries: " + libraries);
}

Json roofline_json(const Roofline& r) {
  Json json = Json::object({{"threads", r.threads},
                            {"matrix", r.size},
                            {"gflops", r.gflops.best},
                            {"gflops_median", r.gflops.median},
                            {"copy_bytes", r.copy_bytes},
                            {"copy_gb_per_s", r.copy.best},
                            {"copy_gb_per_s_median", r.copy.median},
                            {"runs", std::min(r.gflops.runs, r.copy.runs)}});
  json["int8_gops"] = r.int8 ? Json(r.int8->best) : Json();
  json["int8_gops_median"] = r.int8 ? Json(r.int8->median) : Json();
  return json;
}

/// What the processor can do at most, on one thread and on those of the session.
struct Peaks {
  Roofline one, all;
};

Peaks measure_peaks(const Session& session) {
  const std::unique_ptr<Backend> backend = open_backend("cpu");
  std::vector<int> threads{1};
  if (session.common.threads > 1) threads.push_back(session.common.threads);
  const std::vector<Roofline> found = measure_rooflines(*backend, threads, {});
  return {found.front(), found.back()};
}

Json to_json(const Peaks& peaks) {
  Json json = roofline_json(peaks.all);
  json["one_thread"] = roofline_json(peaks.one);
  return json;
}

void add_row(const Roofline& r, Table& table) {
  std::vector<std::string>& row = table.rows.emplace_back(std::vector{std::to_string(r.threads)});
  for (const Rate& rate : {r.gflops, r.int8.value_or(Rate{}), r.copy})
    for (const double value : {rate.best, rate.median}) row.push_back(value > 0 ? fmt::format("{:.1f}", value) : "");
}

void show(const Peaks& peaks, Report& report) {
  report.line(fmt::format(
      "peaks of the cpu, best and median: products of {0} x {0} matrices of float32 and of 8-bit integers; bytes read "
      "and written by a copy of {1:.0f} MB{2}",
      peaks.all.size, 1e-6 * static_cast<double>(peaks.all.copy_bytes),
      peaks.all.copy_bytes < RooflineOptions{}.copy_bytes ? ", as memory is short" : ""));
  Table& table = report.table("", {"threads", "GFLOP/s", "median", "int8 Gop/s", "median", "copy GB/s", "median"});
  add_row(peaks.one, table);
  if (peaks.all.threads > 1) add_row(peaks.all, table);
}

/// Whether processes that mpirun starts can share the work.
void show_mpi(Report& report) {
  Json& json = report.data["mpi"] = Json::object({{"ready", true}, {"missing", ""}, {"fix", ""}});
  try {
    train::require_mpi(build_id());
    report.line("runs of many processes: ready, by mpirun");
  } catch (const Error& e) {
    json = Json::object({{"ready", false}, {"missing", in_words(e)}, {"fix", e.fix}});
    report.line(fmt::format("runs of many processes: {}; {}", in_words(e), e.fix));
  }
}

/// How fast the ranks of a parallel run add up numbers; then only rank 0 has more to do.
void show_ranks(bool measure, Session& session) {
  train::Communicator& ranks = *session.ranks;
  Report& report = session.report;
  const auto speeds = measure ? train::measure_all_reduce(ranks) : std::vector<train::ReduceSpeed>();
  report.line(fmt::format("{} ranks by {}", ranks.size(), ranks.name()));
  report.data["ranks"] = ranks.size();
  if (measure) {
    Table& table = report.table("sums over all ranks", {"float32", "ms", "sent by each, GB/s"});
    Json& list = report.data["all_reduce"] = Json::array();
    for (const train::ReduceSpeed& s : speeds) {
      table.rows.push_back({format_bytes(static_cast<double>(s.bytes)), fmt::format("{:.3f}", 1e3 * s.seconds),
                            fmt::format("{:.2f}", 1e-9 * s.sent_per_s)});
      list.push_back(Json::object(
          {{"bytes", s.bytes}, {"seconds", s.seconds}, {"rounds", s.rounds}, {"sent_bytes_per_s", s.sent_per_s}}));
    }
  }
  ranks.close();
}

void run(bool measure, Session& session) {
  Report& report = session.report;
  if (session.ranks->size() > 1) show_ranks(measure, session);
  if (!session.writes()) return;
  const bool has_cpu = default_device() == "cpu";
  const std::optional<Peaks> peaks = measure && has_cpu ? std::optional(measure_peaks(session)) : std::nullopt;
  Json environment = environment_json(session.common.threads);
  show_machine(environment, report);
  report.data["environment"] = std::move(environment);
  Table& table = report.table("", {"device", "state", "what is missing", "fix"});
  table.left = 4;
  Json& list = report.data["devices"] = Json::array();
  for (const Device& device : probe_all()) {
    const bool is_default = device.name == default_device();
    table.rows.push_back({device.name,
                          !device.ready ? "missing"
                          : is_default  ? "ready, default"
                                        : "ready",
                          device.missing, device.fix});
    Json entry = Json::object({{"name", device.name},
                               {"ready", device.ready},
                               {"default", is_default},
                               {"missing", device.missing},
                               {"fix", device.fix}});
    if (measure) entry["measured"] = peaks && device.name == "cpu" ? to_json(*peaks) : Json();
    list.push_back(std::move(entry));
  }
  show_gpus(measure, report);
  show_mpi(report);
  if (peaks) show(*peaks, report);
}

Action setup(Options& options) {
  const auto measure = std::make_shared<bool>(false);
  options.add("--measure", *measure,
              "how fast it multiplies matrices and copies memory at most, and under mpirun how fast ranks add up "
              "numbers: takes "
              "a few seconds");
  return [measure](Session& session) { run(*measure, session); };
}

}  // namespace

Command devices_command() {
  return {.name = "devices",
          .arguments = "",
          .summary = "what this machine can run, what is missing, and how to get it",
          .examples = {{{"devices", "processor, libraries and devices"},
                        {"devices --measure --threads 4 --json -",
                         "also the peaks of one and of 4 threads, for a script"}}},
          .setup = setup,
          .parallel = true};
}

}  // namespace mlopt::cli
