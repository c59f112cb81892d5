#include <fmt/core.h>

#include "cli/backends.h"
#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/environment.h"
#include "core/base/text.h"

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

void run(Session& session) {
  Report& report = session.report;
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
    list.push_back(Json::object({{"name", device.name},
                                 {"ready", device.ready},
                                 {"default", is_default},
                                 {"missing", device.missing},
                                 {"fix", device.fix}}));
  }
}

}  // namespace

Command devices_command() {
  return {
      .name = "devices",
      .arguments = "",
      .summary = "what this machine can run, what is missing, and how to get it",
      .examples = {{{"devices", "processor, libraries and devices"}, {"devices --json -", "the same for a script"}}},
      .setup = [](Options&) -> Action { return run; }};
}

}  // namespace mlopt::cli
