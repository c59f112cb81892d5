// The fastest of the algorithms that cuBLASLt proposes, by trial; its own order is a guess.
#include <algorithm>
#include <array>
#include <cstring>

#include "backends/gpu/cuda/lt.h"

namespace mlopt::gpu {
namespace {

constexpr int kTimes = 5;

static_assert(sizeof(cublasLtMatmulAlgo_t) == sizeof(Choice::algorithm));
static_assert(sizeof(ProductKey) == sizeof(Choice::product));

/// The median time of a run in milliseconds; below 0: it does not run.
float time_of(Queue& queue, const LtProduct& p, const cublasLtMatmulAlgo_t& algorithm, void* out, cudaEvent_t start,
              cudaEvent_t end) {
  std::array<float, kTimes> times{};
  if (multiply_by(queue, p, algorithm, out)) return -1;
  for (float& time : times) {
    cudaEventRecord(start, queue.stream);
    if (multiply_by(queue, p, algorithm, out)) return -1;
    cudaEventRecord(end, queue.stream);
    if (cudaEventSynchronize(end) != cudaSuccess || cudaEventElapsedTime(&time, start, end) != cudaSuccess) return -1;
  }
  std::sort(times.begin(), times.end());
  return times[kTimes / 2];
}

}  // namespace

std::optional<cublasLtMatmulAlgo_t> fastest(Queue& queue, const LtProduct& p,
                                            std::span<const cublasLtMatmulAlgo_t> algorithms) {
  // Not in place: what is there may be added to the product.
  void* out = nullptr;
  cudaEvent_t start = nullptr, end = nullptr;
  std::optional<cublasLtMatmulAlgo_t> best;
  if (cudaMalloc(&out, p.out_bytes) == cudaSuccess && cudaEventCreate(&start) == cudaSuccess &&
      cudaEventCreate(&end) == cudaSuccess) {
    float least = -1;
    for (const cublasLtMatmulAlgo_t& algorithm : algorithms) {
      const float time = time_of(queue, p, algorithm, out, start, end);
      if (time < 0 || (least >= 0 && time >= least)) continue;
      least = time;
      best = algorithm;
    }
  }
  for (cudaEvent_t event : {start, end})
    if (event) cudaEventDestroy(event);
  cudaFree(out);
  cudaGetLastError();  // too little memory to try is no failure
  return best;
}

std::optional<cublasLtMatmulAlgo_t> known_before(Queue& queue, const LtProduct& p, const ProductKey& key) {
  const auto known = queue.known.find(key);
  if (known == queue.known.end()) return std::nullopt;
  cublasLtMatmulHeuristicResult_t checked{};
  const cublasStatus_t status = cublasLtMatmulAlgoCheck(queue.blas, p.how.get(), p.x.get(), p.a.get(), p.out.get(),
                                                        p.out.get(), &known->second, &checked);
  const bool taken = status == CUBLAS_STATUS_SUCCESS && checked.state == CUBLAS_STATUS_SUCCESS &&
                     checked.workspaceSize <= queue.working_bytes();
  return taken ? std::optional(known->second) : std::nullopt;
}

bool tunes_now(Queue& queue) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(queue.stream, &capture);
  return queue.tunes && capture == cudaStreamCaptureStatusNone;
}

bool known_choice(Queue& queue, Choice& choice) {
  const auto known = queue.known.find(std::to_array(choice.product));
  if (known == queue.known.end()) return false;
  std::memcpy(choice.algorithm, &known->second, sizeof choice.algorithm);
  return true;
}

void note_choice(Queue& queue, const Choice& choice) {
  std::memcpy(&queue.timed[std::to_array(choice.product)], choice.algorithm, sizeof choice.algorithm);
}

void tune(Queue* queue, const Choice* known, int64_t count) {
  queue->tunes = true;
  for (int64_t i = 0; i < count; ++i) {
    ProductKey key;
    cublasLtMatmulAlgo_t algorithm;
    std::memcpy(&key, known[i].product, sizeof key);
    std::memcpy(&algorithm, known[i].algorithm, sizeof algorithm);
    queue->known.emplace(key, algorithm);
  }
}

int64_t chosen(Queue* queue, Choice* into) {
  if (into)
    for (const auto& [key, algorithm] : queue->timed) {
      std::memcpy(into->product, &key, sizeof key);
      std::memcpy(into->algorithm, &algorithm, sizeof algorithm);
      ++into;
    }
  return static_cast<int64_t>(queue->timed.size());
}

}  // namespace mlopt::gpu
