#pragma once
#include <atomic>
#include <cstdint>
#include <functional>

namespace mlopt {

/// How many threads may share the work of the calling one: those of with_threads(), else one for each processor that
/// the process may use; 1 within a part of parallel work.
int max_threads();

/// Calls fn(part) for each part in [0, parts), each of them once, on threads that have nothing else to do; the caller
/// does what no other takes, so that a busy machine delays nobody longer than the caller alone would take. A part may
/// begin only when others have ended: none may wait for another. The first exception is rethrown; parts that had not
/// begun are then left out.
void parallel_parts(int64_t parts, const std::function<void(int64_t)>& fn);

/// Calls fn(begin, end) on disjoint ranges that cover [0, n), at most max_threads() of them. Below `grain` items one
/// thread does it all.
template <class Fn>
void parallel_for(int64_t n, int64_t grain, const Fn& fn) {
  const int64_t most = grain > 0 ? (n + grain - 1) / grain : n;
  const int64_t parts = most > 1 && most > max_threads() ? max_threads() : most;
  if (parts <= 1) {
    if (n > 0) fn(int64_t{0}, n);
    return;
  }
  const auto range = [&](int64_t part) { fn(n * part / parts, n * (part + 1) / parts); };
  parallel_parts(parts, std::cref(range));
}

/// Calls fn(worker, item) for each item in [0, items), each of them once: whichever of the `workers` is ready takes the
/// next one, for cores are not equally fast at all times. Calls with the same worker never overlap.
template <class Fn>
void take_turns(int64_t workers, int64_t items, const Fn& fn) {
  std::atomic<int64_t> next{0};
  const auto work = [&](int64_t worker) {
    for (int64_t item; (item = next.fetch_add(1, std::memory_order_relaxed)) < items;) fn(worker, item);
  };
  parallel_parts(workers, std::cref(work));
}

/// Calls fn where max_threads() is `count`; count <= 0 leaves it as it is.
void with_threads(int count, const std::function<void()>& fn);

}  // namespace mlopt
