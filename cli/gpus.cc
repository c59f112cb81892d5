#include "cli/gpus.h"

#include <fmt/core.h>

#include <algorithm>

#include "backends/gpu/backend.h"
#include "backends/gpu/measure.h"
#include "cli/backends.h"
#include "cli/version.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exec/plugin.h"

namespace mlopt::cli {
namespace {

/// 13000 as "13.0".
std::string version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

Json to_json(const gpu::DeviceInfo& info, int index) {
  return Json::object({{"device", fmt::format("gpu:{}", index)},
                       {"name", info.name},
                       {"compute_capability", fmt::format("{}.{}", info.major, info.minor)},
                       {"memory_bytes", info.memory_bytes},
                       {"free_bytes", info.free_bytes},
                       {"multiprocessors", info.multiprocessors},
                       {"clock_mhz", info.clock_mhz},
                       {"memory_clock_mhz", info.memory_clock_mhz},
                       {"memory_bus_bits", info.bus_bits},
                       {"driver", version(info.driver)},
                       {"cuda", version(info.runtime)},
                       {"cublas", info.cublas}});
}

/// What NVML adds, where it is there.
void show_sensors(const GpuInterface& api, int index, Report& report, Json& entry) {
  gpu::Sensors now{};
  if (api.sense(index, &now)) return;
  std::vector<std::string> known;
  const auto add = [&](const char* key, const std::string& words, auto value) {
    known.push_back(words);
    entry[key] = value;
  };
  if (now.driver[0]) add("driver_version", fmt::format("driver {}", now.driver), std::string(now.driver));
  if (now.clock_mhz >= 0) add("clock_now_mhz", fmt::format("{} MHz", now.clock_mhz), now.clock_mhz);
  if (now.memory_clock_mhz >= 0)
    add("memory_clock_now_mhz", fmt::format("memory {} MHz", now.memory_clock_mhz), now.memory_clock_mhz);
  if (now.watts >= 0) add("power_w", fmt::format("{:.0f} W", now.watts), now.watts);
  if (now.celsius >= 0) add("temperature_c", fmt::format("{} degrees", now.celsius), now.celsius);
  if (!known.empty()) report.line(fmt::format("gpu:{} now: {}", index, join(known, ", ")));
}

void show_peaks(const gpu::Device& device, Report& report, Json& entry) {
  std::vector<gpu::Peak> peaks;
  try {
    peaks = gpu::measure_peaks(device);
  } catch (const Error& e) {  // too little memory is left on this one
    return report.line(fmt::format("gpu:{} was not measured: {}", device.index, e.message));
  }
  Table& table = report.table(fmt::format("peaks of gpu:{}, best and median: products of matrices, and bytes read and "
                                          "written",
                                          device.index),
                              {"", "best", "median", "unit"});
  Json& measured = entry["measured"] = Json::object({});
  for (const gpu::Peak& peak : peaks) {
    const bool copy = peak.what == "copy";
    const double unit = copy ? 1e9 : 1e12;
    table.rows.push_back({peak.what, fmt::format("{:.1f}", peak.best / unit), fmt::format("{:.1f}", peak.median / unit),
                          copy ? "GB/s" : "TFLOP/s"});
    measured[peak.what] = Json::object({{"best_per_s", peak.best}, {"median_per_s", peak.median}});
  }
}

}  // namespace

void show_gpus(bool measure, Report& report) {
  Json& list = report.data["gpus"] = Json::array();
  int devices = 0;
  const GpuInterface* api = nullptr;
  try {
    api = load_plugin("gpu", build_id()).gpu;
  } catch (const Error&) {  // the table of devices says it
    return;
  }
  if (!api || api->count(&devices)) return;
  for (int i = 0; i < devices; ++i) {
    gpu::DeviceInfo info{};
    gpu::check(api->describe(i, &info), fmt::format("gpu:{}", i));
    Json entry = to_json(info, i);
    report.line(
        fmt::format("gpu:{}: {}, compute capability {}.{}, {} of {} free, {} multiprocessors, driver {}, CUDA {}, "
                    "cuBLASLt {}",
                    i, info.name, info.major, info.minor, format_bytes(static_cast<double>(info.free_bytes)),
                    format_bytes(static_cast<double>(info.memory_bytes)), info.multiprocessors, version(info.driver),
                    version(info.runtime), info.cublas));
    if (const int cudnn = api->conv_version()) entry["cudnn"] = cudnn;
    if (const int cusparselt = api->sparse_version()) entry["cusparselt"] = cusparselt;
    if (const int nccl = api->ring_version()) entry["nccl"] = nccl;
    show_sensors(*api, i, report, entry);
    if (measure) show_peaks({api, i}, report, entry);
    list.push_back(std::move(entry));
  }
}

std::optional<Roofline> gpu_roofline(const std::string& device, const std::string& precision) {
  const std::optional<int> index = gpu_index(device);
  const GpuInterface* api = index ? load_plugin("gpu", build_id()).gpu : nullptr;
  if (!api) return std::nullopt;
  Roofline limits;
  limits.threads = 0;
  limits.copy_bytes = int64_t{1} << 28;
  std::vector<gpu::Peak> peaks;
  try {
    peaks = gpu::measure_peaks({api, *index}, 4096, limits.copy_bytes, 5);
  } catch (const Error&) {  // too little memory is left for it, which is no reason to tell nothing else
    return std::nullopt;
  }
  for (const gpu::Peak& peak : peaks) {
    if (peak.what == "copy") limits.copy = {1e-9 * peak.best, 1e-9 * peak.median, peak.runs};
    if (peak.what != precision) continue;
    limits.size = peak.size;
    limits.gflops = {1e-9 * peak.best, 1e-9 * peak.median, peak.runs};
  }
  return limits;
}

std::vector<NodeCopies> fallback_copies(const std::vector<StepProfile>& steps, int64_t runs) {
  std::vector<NodeCopies> copies;
  for (const StepProfile& step : steps)
    if (step.op == kHostCopies) copies.push_back({step.node, 1e3 * step.seconds / static_cast<double>(runs)});
  std::stable_sort(copies.begin(), copies.end(), [](const NodeCopies& a, const NodeCopies& b) { return a.ms > b.ms; });
  return copies;
}

void show_copies(const std::vector<NodeCopies>& copies, const std::string& of, bool all, Report& report) {
  constexpr size_t kShown = 12;
  if (copies.empty()) return;
  double sum = 0;
  for (const NodeCopies& c : copies) sum += c.ms;
  report.line(fmt::format("{}: copies for nodes on the processor take {:.4f} ms a run", of, sum));
  Table& table = report.table("copies for nodes on the processor: " + of, {"node", "ms"});
  for (const NodeCopies& c : std::span(copies).first(all ? copies.size() : std::min(copies.size(), kShown)))
    table.rows.push_back({c.node, fmt::format("{:.4f}", c.ms)});
}

Json to_json(const std::vector<NodeCopies>& copies) {
  Json list = Json::array();
  for (const NodeCopies& c : copies) list.push_back(Json::object({{"node", c.node}, {"ms", c.ms}}));
  return list;
}

std::optional<double> joules_per_run(const std::string& device, const std::function<void()>& run) {
  const std::optional<int> index = gpu_index(device);
  const GpuInterface* api = index ? load_plugin("gpu", build_id()).gpu : nullptr;
  return api ? gpu::joules_per_run({api, *index}, run) : std::nullopt;
}

}  // namespace mlopt::cli
