// CUDA behind the functions of backends/gpu/interface.h.

#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "backends/gpu/cuda/queue.h"

// Header-only: it looks for a profiler that asks for it, and does nothing without one.
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define MLOPT_NVTX
#endif

namespace mlopt::gpu {

Status launched() { return in_words(cudaGetLastError()); }

cudaStream_t stream_of(Queue& queue) {
  cudaSetDevice(queue.device);  // of this thread
  return queue.stream;
}

Status use_device(int device) { return in_words(cudaSetDevice(device)); }
void* stream_handle(Queue& queue) { return stream_of(queue); }

const char* const kConvLibraries[] = {"libcudnn.so.9", "libcudnn.so.8"};
Convolver*& convolver_of(Queue& queue) { return queue.convolver; }
const char* const kSparseLibrary = "libcusparseLt.so.0";
SparseMultiplier*& sparse_multiplier_of(Queue& queue) { return queue.sparse; }

Reporter reporter_of(Queue& queue) { return {queue.fault, queue.step}; }

namespace {

Status count(int* devices) { return in_words(cudaGetDeviceCount(devices)); }

Status describe(int device, DeviceInfo* info) {
  cudaDeviceProp properties;
  if (const Status failed = in_words(cudaGetDeviceProperties(&properties, device))) return failed;
  *info = {};
  std::snprintf(info->name, sizeof info->name, "%s", properties.name);
  info->major = properties.major;
  info->minor = properties.minor;
  info->memory_bytes = static_cast<int64_t>(properties.totalGlobalMem);
  info->multiprocessors = properties.multiProcessorCount;
  info->bus_bits = properties.memoryBusWidth;
  int khz = 0;
  if (cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device) == cudaSuccess) info->clock_mhz = khz / 1000;
  if (cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, device) == cudaSuccess)
    info->memory_clock_mhz = khz / 1000;
  cudaGetLastError();  // what a driver does not say is no failure
  cudaDriverGetVersion(&info->driver);
  cudaRuntimeGetVersion(&info->runtime);
  info->cublas = static_cast<int>(cublasLtGetVersion());
  size_t free = 0, total = 0;
  if (const Status failed = in_words(cudaSetDevice(device))) return failed;
  if (const Status failed = in_words(cudaMemGetInfo(&free, &total))) return failed;
  info->free_bytes = static_cast<int64_t>(free);
  return nullptr;
}

void close(Queue* queue) {
  cudaSetDevice(queue->device);
  drop(queue->convolver);
  drop(queue->sparse);
  if (queue->blas) cublasLtDestroy(queue->blas);
  if (queue->working_memory) cudaFree(queue->working_memory);
  if (queue->fault) cudaFreeHost(queue->fault);
  for (cudaEvent_t event : {queue->start, queue->end, queue->passed})
    if (event) cudaEventDestroy(event);
  if (queue->stream) cudaStreamDestroy(queue->stream);
  delete queue;
}

/// Too little memory is no failure of the device, and leaves nothing behind.
Status allocated(cudaError_t error) {
  if (error != cudaErrorMemoryAllocation) return in_words(error);
  cudaGetLastError();
  return nullptr;
}

Status open(int device, Queue** made) {
  std::unique_ptr<Queue, void (*)(Queue*)> queue(new Queue{}, close);
  queue->device = device;
  if (const Status failed = in_words(cudaSetDevice(device))) return failed;
  if (const Status failed = in_words(cudaStreamCreateWithFlags(&queue->stream, cudaStreamNonBlocking))) return failed;
  if (const Status failed = in_words(cublasLtCreate(&queue->blas))) return failed;
  void* fault = nullptr;
  if (const Status failed = in_words(cudaHostAlloc(&fault, sizeof(Fault), cudaHostAllocMapped))) return failed;
  queue->fault = new (fault) Fault{};
  if (const Status failed = in_words(cudaEventCreateWithFlags(&queue->passed, cudaEventDisableTiming))) return failed;
  *made = queue.release();
  return nullptr;
}

Status allocate(int device, size_t bytes, void** where) {
  *where = nullptr;
  if (const Status failed = in_words(cudaSetDevice(device))) return failed;
  return allocated(cudaMalloc(where, bytes));
}

void release(int device, void* where) {
  cudaSetDevice(device);
  cudaFree(where);
}

Status transfer(Queue* queue, void* to, const void* from, size_t bytes) {
  return in_words(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(*queue)));
}

Status wait(Queue* queue) { return in_words(cudaStreamSynchronize(stream_of(*queue))); }

Status follow(Queue* queue, Queue* other) {
  if (const Status failed = in_words(cudaEventRecord(other->passed, stream_of(*other)))) return failed;
  return in_words(cudaStreamWaitEvent(stream_of(*queue), other->passed, 0));
}

Status allocate_host(int device, size_t bytes, void** where) {
  *where = nullptr;
  if (const Status failed = in_words(cudaSetDevice(device))) return failed;
  return allocated(cudaHostAlloc(where, bytes, cudaHostAllocDefault));
}

void release_host(int device, void* where) {
  cudaSetDevice(device);
  cudaFreeHost(where);
}

void begin_step(Queue* queue, int64_t step) { queue->step = step; }
Fault* fault(Queue* queue) { return queue->fault; }

Status start_clock(Queue* queue) {
  const cudaStream_t stream = stream_of(*queue);
  for (cudaEvent_t* event : {&queue->start, &queue->end}) {
    if (*event) continue;
    if (const Status failed = in_words(cudaEventCreate(event))) return failed;
  }
  return in_words(cudaEventRecord(queue->start, stream));
}

Status stop_clock(Queue* queue, double* seconds) {
  if (const Status failed = in_words(cudaEventRecord(queue->end, stream_of(*queue)))) return failed;
  if (const Status failed = in_words(cudaEventSynchronize(queue->end))) return failed;
  float milliseconds = 0;
  const Status failed = in_words(cudaEventElapsedTime(&milliseconds, queue->start, queue->end));
  *seconds = 1e-3 * static_cast<double>(milliseconds);
  return failed;
}

Status begin_capture(Queue* queue) {
  return in_words(cudaStreamBeginCapture(stream_of(*queue), cudaStreamCaptureModeThreadLocal));
}

Status end_capture(Queue* queue, Graph** made) {
  cudaGraph_t graph = nullptr;
  if (const Status failed = in_words(cudaStreamEndCapture(queue->stream, &graph))) return failed;
  cudaGraphExec_t ready = nullptr;
  const Status failed = in_words(cudaGraphInstantiate(&ready, graph, 0));
  cudaGraphDestroy(graph);
  if (!failed) *made = new Graph{ready};
  return failed;
}

Status launch(Queue* queue, Graph* graph) { return in_words(cudaGraphLaunch(graph->ready, stream_of(*queue))); }

void drop(Graph* graph) {
  cudaGraphExecDestroy(graph->ready);
  delete graph;
}

void begin_range(const char* name) {
#ifdef MLOPT_NVTX
  nvtxRangePushA(name);
#else
  static_cast<void>(name);
#endif
}
void end_range() {
#ifdef MLOPT_NVTX
  nvtxRangePop();
#endif
}

constexpr GpuInterface kCuda{count,        describe,       open,       close,         allocate,     release,
                             transfer,     wait,           follow,     allocate_host, release_host, begin_step,
                             fault,        start_clock,    stop_clock, begin_capture, end_capture,  launch,
                             drop,         tune,           chosen,     begin_range,   end_range,    sense,
                             energy,       ring_version,   new_ring,   join,          leave,        add_up,
                             conv_version, sparse_version, {}};

}  // namespace

const GpuInterface& gpu_interface() { return kCuda; }

}  // namespace mlopt::gpu
