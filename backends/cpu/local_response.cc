// LRN, over neighbouring channels (Krizhevsky et al., 2012): y = x (bias + alpha / size * the window's squares)^-beta.
#include <algorithm>

#include "backends/cpu/activation.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/planes.h"
#include "backends/cpu/rows.h"
#include "core/base/align.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kPiece = 2048;  // numbers that stay in the first cache with their squares

struct Response {
  int64_t before, after;  ///< channels of a window beside its own
  float alpha, beta, bias;

  int64_t taps() const { return before + 1 + after; }
};

/// Sums of squares become what the numbers are multiplied by.
void finish(const Response& r, float* sums, int64_t count) {
  affine(sums, sums, count, r.alpha / static_cast<float>(r.taps()), r.bias);
  apply_here({Fn::kLog}, sums, sums, count);
  affine(sums, sums, count, -r.beta, 0);
  apply_here({Fn::kExp}, sums, sums, count);
}

void multiply(const float* x, float* factors, float* out, int64_t count) {
  fold(Fold::kProduct, factors, x, count);
  std::copy_n(factors, count, out);
}

/// Some positions of all channels of an image, whose planes have p.size of them.
void respond_in_planes(const Response& r, const Planes& p, const float* x, int64_t count, float* out) {
  float sums[kPiece];
  for (int64_t c = 0; c < p.channels; ++c) {
    std::fill_n(sums, count, 0.0f);
    const int64_t first = std::max<int64_t>(0, c - r.before), last = std::min(p.channels - 1, c + r.after);
    for (int64_t k = first; k <= last; ++k) fold(Fold::kSumSquare, sums, x + k * p.size, count);
    finish(r, sums, count);
    multiply(x + c * p.size, sums, out + c * p.size, count);
  }
}

/// So many positions, each with its channels side by side. `squares` holds them with zeros around each position's, and
/// `sums` as many.
void respond_in_rows(const Response& r, int64_t channels, const float* x, int64_t positions, float* squares,
                     float* sums, float* out) {
  const int64_t pitch = channels + r.taps() - 1, count = positions * pitch - (r.taps() - 1);
  std::fill_n(squares, positions * pitch, 0.0f);
  for (int64_t i = 0; i < positions; ++i)
    fold(Fold::kSumSquare, squares + i * pitch + r.before, x + i * channels, channels);
  std::copy_n(squares, count, sums);
  for (int64_t k = 1; k < r.taps(); ++k) fold(Fold::kSum, sums, squares + k, count);
  finish(r, sums, count);
  for (int64_t i = 0; i < positions; ++i) multiply(x + i * channels, sums + i * pitch, out + i * channels, channels);
}

void run_planes(const Response& r, const Planes& p, const float* x, float* out) {
  const int64_t pieces = ceil_div(p.size, kPiece), length = ceil_div(p.size, pieces);
  parallel_for(p.images * pieces, std::max<int64_t>(1, kPiece / (length * p.channels)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t first = i % pieces * length, at = i / pieces * p.channels * p.size + first;
                   respond_in_planes(r, p, x + at, std::min(length, p.size - first), out + at);
                 }
               });
}

/// Positions that are handled together.
int64_t block_of(const Response& r, const Planes& p) {
  return std::max<int64_t>(1, kPiece / (p.channels + r.taps() - 1));
}

/// Elements of the squares, and of the sums, of one thread.
int64_t room_of(const Response& r, const Planes& p) {
  return round_up(block_of(r, p) * (p.channels + r.taps() - 1), int64_t{16});
}

void run_rows(const Response& r, const Planes& p, const float* x, float* out, int threads, float* scratch) {
  const int64_t block = block_of(r, p), room = room_of(r, p), blocks = ceil_div(p.images * p.size, block);
  take_turns(std::min<int64_t>(threads, blocks), blocks, [&](int64_t worker, int64_t i) {
    const int64_t first = i * block, positions = std::min(block, p.images * p.size - first), at = first * p.channels;
    float* squares = scratch + 2 * worker * room;
    respond_in_rows(r, p.channels, x + at, positions, squares, squares + room, out + at);
  });
}

Expected<PlannedStep> plan(const Site& site) {
  const NodeView& view = site.view;
  const auto planes = planes_of(site);
  if (!planes) return planes.error();
  const Planes p = planes->as_rows();
  const int64_t size = view.get_int("size", 0);
  const Response r{(size - 1) / 2, size / 2, view.get_float("alpha", 1e-4f), view.get_float("beta", 0.75f),
                   view.get_float("bias", 1)};
  constexpr int64_t kMostTaps = 1 << 16;
  if (size < 1 || size > kMostTaps || p.count() == 0) return Decline{"no window, or nothing in it"};
  if (!(r.beta > 0)) return Decline{"powers that are not negative"};
  PlannedStep step{.out = {site.desc(0)}};
  const int threads = site.context.threads;
  if (p.channels_last) step.scratch_bytes = static_cast<size_t>(2 * threads * room_of(r, p)) * sizeof(float);
  step.run = [r, p, threads](const Buffers& b) {
    if (p.channels_last)
      run_rows(r, p, b.in<float>(0), b.out<float>(0), threads, reinterpret_cast<float*>(b.scratch));
    else
      run_planes(r, p, b.in<float>(0), b.out<float>(0));
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "LRN", .plan = plan, .layout = LayoutRule::kFollows}};

}  // namespace

std::span<const Kernel> local_response_kernels() { return kKernels; }

}  // namespace mlopt::cpu
