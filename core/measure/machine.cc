#include "core/measure/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <sstream>

#include "core/base/cpus.h"
#include "core/base/text.h"
#include "core/measure/stats.h"

namespace mlopt {
namespace {

constexpr std::array kFeatures = {"sse4_2",      "avx",         "avx2",     "fma",      "f16c",
                                  "avx_vnni",    "avx512f",     "avx512bw", "avx512vl", "avx512_vnni",
                                  "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16",
                                  "asimddp",     "i8mm",        "bf16",     "sve",      "sve2"};
constexpr int kNoiseLoops = 100;

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return std::string(trim(line));
}

/// The text after "key : " in /proc/cpuinfo, of the first processor.
std::string cpuinfo(std::string_view key) {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const size_t colon = line.find(':');
    if (colon != std::string::npos && trim(std::string_view(line).substr(0, colon)) == key) {
      return std::string(trim(std::string_view(line).substr(colon + 1)));
    }
  }
  return {};
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> all;
  for (std::string word; in >> word;) all.push_back(word);
  return all;
}

std::string turbo_state() {
  const std::string no_turbo = first_line("/sys/devices/system/cpu/intel_pstate/no_turbo");
  if (!no_turbo.empty()) return no_turbo == "0" ? "on" : "off";
  const std::string boost = first_line("/sys/devices/system/cpu/cpufreq/boost");
  if (!boost.empty()) return boost == "1" ? "on" : "off";
  return "unknown";
}

}  // namespace

Machine describe_machine() {
  Machine machine;
  machine.cpu = cpuinfo("model name");
  if (machine.cpu.empty()) machine.cpu = cpuinfo("CPU part").empty() ? "unknown" : "ARM part " + cpuinfo("CPU part");
  const std::vector<std::string> flags = words(cpuinfo("flags") + " " + cpuinfo("Features"));
  const auto has = [&](std::string_view flag) { return std::find(flags.begin(), flags.end(), flag) != flags.end(); };
  for (const char* feature : kFeatures) {
    if (has(feature)) machine.features.emplace_back(feature);
  }
  machine.virtual_machine = has("hypervisor");
  machine.logical_cpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  machine.usable_cpus = available_cpus();
  machine.governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (machine.governor.empty()) machine.governor = "unknown";
  machine.turbo = turbo_state();
  machine.memory_bytes = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  utsname system{};
  if (::uname(&system) == 0) {
    machine.kernel = std::string(system.sysname) + " " + system.release + " " + system.machine;
  }
  return machine;
}

double measure_noise() {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  uint64_t x = 1;
  for (int i = 0; i < kNoiseLoops; ++i) {
    const auto start = Clock::now();
    for (int k = 0; k < 300'000; ++k) {
      x ^= x << 13;  // xorshift64 (Marsaglia 2003): a chain that cannot be vectorized or skipped
      x ^= x >> 7;
      x ^= x << 17;
    }
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  volatile uint64_t sink = x;
  (void)sink;
  std::sort(seconds.begin(), seconds.end());
  const double middle = quantile(seconds, 0.5);
  return middle > 0 ? (quantile(seconds, 0.9) - middle) / middle : 0;
}

}  // namespace mlopt
