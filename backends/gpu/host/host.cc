// The kernels of devices, compiled for this processor: one GPU named "host" whose memory is ours. It proves what
// kernels compute, and how the backend plans and calls them, where there is no GPU.
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>

#include "backends/gpu/interface.h"

namespace mlopt::gpu {

struct Queue {
  std::chrono::steady_clock::time_point start = {};
  Fault fault = {};
  int64_t step = 1;
  Convolver* convolver = nullptr;
  SparseMultiplier* sparse = nullptr;
  bool tunes = false;
  std::map<std::array<int64_t, 14>, Choice> known = {}, timed = {};
};
struct Graph {};

Status use_device(int) { return nullptr; }
void* stream_handle(Queue&) { return nullptr; }

/// What stands for libraries in tests, where these have loaded it: real ones would look for a device.
const char* const kConvLibraries[] = {"libmlopt_fake_cudnn.so", nullptr};
Convolver*& convolver_of(Queue& queue) { return queue.convolver; }
const char* const kSparseLibrary = "libmlopt_fake_cusparselt.so";
SparseMultiplier*& sparse_multiplier_of(Queue& queue) { return queue.sparse; }
bool tunes_now(Queue& queue) { return queue.tunes; }

bool known_choice(Queue& queue, Choice& choice) {
  const auto known = queue.known.find(std::to_array(choice.product));
  if (known != queue.known.end()) choice = known->second;
  return known != queue.known.end();
}
void note_choice(Queue& queue, const Choice& choice) { queue.timed[std::to_array(choice.product)] = choice; }

Reporter reporter_of(Queue& queue) { return {&queue.fault, queue.step}; }

namespace {

Status count(int* devices) {
  *devices = 1;
  return nullptr;
}

Status describe(int, DeviceInfo* info) {
  *info = {"host", 9, 0, int64_t{1} << 40, int64_t{1} << 40, 1, 1000, 1000, 64, 13000, 13000, 130000};
  return nullptr;
}

Status open(int, Queue** queue) {
  *queue = new Queue;
  return nullptr;
}
void close(Queue* queue) {
  drop(queue->convolver);
  drop(queue->sparse);
  delete queue;
}

Status allocate(int, size_t bytes, void** where) {
  *where = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  return nullptr;
}
void release(int, void* where) { std::free(where); }

Status transfer(Queue*, void* to, const void* from, size_t bytes) {
  std::memcpy(to, from, bytes);
  return nullptr;
}
Status wait(Queue*) { return nullptr; }
Status follow(Queue*, Queue*) { return nullptr; }
Status allocate_host(int device, size_t bytes, void** where) { return allocate(device, bytes, where); }
void release_host(int device, void* where) { release(device, where); }

void begin_step(Queue* queue, int64_t step) { queue->step = step; }
Fault* fault(Queue* queue) { return &queue->fault; }

Status start_clock(Queue* queue) {
  queue->start = std::chrono::steady_clock::now();
  return nullptr;
}
Status stop_clock(Queue* queue, double* seconds) {
  *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - queue->start).count();
  return nullptr;
}

/// Nothing here can be kept for later.
Status begin_capture(Queue*) { return "the host captures nothing"; }
Status end_capture(Queue*, Graph**) { return "the host captures nothing"; }
Status launch(Queue*, Graph*) { return "the host captures nothing"; }
void drop(Graph*) {}

void tune(Queue* queue, const Choice* known, int64_t count) {
  queue->tunes = true;
  for (const Choice* choice = known; choice < known + count; ++choice)
    queue->known[std::to_array(choice->product)] = *choice;
}
int64_t chosen(Queue* queue, Choice* into) {
  for (const auto& [product, choice] : queue->timed)
    if (into) *into++ = choice;
  return static_cast<int64_t>(queue->timed.size());
}
void begin_range(const char*) {}
void end_range() {}
Status sense(int, Sensors*) { return "the host has no NVML"; }
Status energy(int, double*) { return "the host has no NVML"; }

constexpr GpuInterface kHost{count,        describe,       open,       close,         allocate,     release,
                             transfer,     wait,           follow,     allocate_host, release_host, begin_step,
                             fault,        start_clock,    stop_clock, begin_capture, end_capture,  launch,
                             drop,         tune,           chosen,     begin_range,   end_range,    sense,
                             energy,       ring_version,   new_ring,   join,          leave,        add_up,
                             conv_version, sparse_version, {}};

}  // namespace

const GpuInterface& gpu_interface() { return kHost; }

}  // namespace mlopt::gpu
