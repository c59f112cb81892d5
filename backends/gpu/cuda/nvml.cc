// What NVML, the driver's library for watching GPUs, knows; without it nothing is known. It comes with the driver, its
// header with no toolkit that has no driver: what is needed of its interface, which is fixed, is declared here.
#include <cstdio>

#include "backends/gpu/cuda/opened.h"
#include "backends/gpu/cuda/queue.h"

namespace mlopt::gpu {
namespace {

using Handle = void*;
using Code = int;  // nvmlReturn_t; 0: success
constexpr int kGraphicsClock = 0, kMemoryClock = 2, kGpuTemperature = 0;
constexpr Status kMissing = "NVML (libnvidia-ml.so.1) is missing or does not know this";

struct Nvml {
  Code (*init)() = nullptr;
  Code (*by_bus)(const char*, Handle*) = nullptr;
  Code (*driver)(char*, unsigned) = nullptr;
  Code (*clock)(Handle, int, unsigned*) = nullptr;
  Code (*power)(Handle, unsigned*) = nullptr;
  Code (*temperature)(Handle, int, unsigned*) = nullptr;
  Code (*energy)(Handle, unsigned long long*) = nullptr;
  bool ready = false;

  Nvml() {
    const Opened library("libnvidia-ml.so.1");
    if (!library) return;
    library.find("nvmlInit_v2", init);
    library.find("nvmlDeviceGetHandleByPciBusId_v2", by_bus);
    library.find("nvmlSystemGetDriverVersion", driver);
    library.find("nvmlDeviceGetClockInfo", clock);
    library.find("nvmlDeviceGetPowerUsage", power);
    library.find("nvmlDeviceGetTemperature", temperature);
    library.find("nvmlDeviceGetTotalEnergyConsumption", energy);
    ready = init && by_bus && init() == 0;
  }
};

/// Loaded when first asked for, and kept: it may not be loaded again and again.
const Nvml& nvml() {
  static const Nvml loaded;
  return loaded;
}

Handle handle_of(int device) {
  char bus[64] = {};
  Handle handle = nullptr;
  if (!nvml().ready || cudaDeviceGetPCIBusId(bus, sizeof bus, device) != cudaSuccess) return nullptr;
  return nvml().by_bus(bus, &handle) == 0 ? handle : nullptr;
}

}  // namespace

Status sense(int device, Sensors* sensors) {
  *sensors = {{}, -1, -1, -1, -1};
  const Nvml& n = nvml();
  const Handle handle = handle_of(device);
  if (!handle) return kMissing;
  unsigned value = 0;
  if (n.driver && n.driver(sensors->driver, sizeof sensors->driver) != 0) sensors->driver[0] = 0;
  if (n.clock && n.clock(handle, kGraphicsClock, &value) == 0) sensors->clock_mhz = static_cast<int>(value);
  if (n.clock && n.clock(handle, kMemoryClock, &value) == 0) sensors->memory_clock_mhz = static_cast<int>(value);
  if (n.power && n.power(handle, &value) == 0) sensors->watts = 1e-3 * value;
  if (n.temperature && n.temperature(handle, kGpuTemperature, &value) == 0) sensors->celsius = static_cast<int>(value);
  return nullptr;
}

Status energy(int device, double* joules) {
  const Handle handle = handle_of(device);
  unsigned long long millijoules = 0;
  if (!handle || !nvml().energy || nvml().energy(handle, &millijoules) != 0) return kMissing;
  *joules = 1e-3 * static_cast<double>(millijoules);
  return nullptr;
}

}  // namespace mlopt::gpu
