#pragma once
#include <omp.h>

#include <cstdint>
#include <exception>

namespace mlopt {

/// Calls fn(begin, end) on disjoint ranges that cover [0, n), on the threads of the plan that is running (OpenMP's
/// count for the calling thread). Below `grain` items one thread does it all. The first exception is rethrown.
template <class Fn>
void parallel_for(int64_t n, int64_t grain, const Fn& fn) {
  const int64_t most = grain > 0 ? (n + grain - 1) / grain : n;
  const int threads = static_cast<int>(most < omp_get_max_threads() ? most : omp_get_max_threads());
  if (threads <= 1 || omp_in_parallel()) {
    if (n > 0) fn(int64_t{0}, n);
    return;
  }
  std::exception_ptr failure;
#pragma omp parallel num_threads(threads)
  {
    const int64_t team = omp_get_num_threads(), self = omp_get_thread_num();
    const int64_t begin = n * self / team, end = n * (self + 1) / team;
    try {
      if (begin < end) fn(begin, end);
    } catch (...) {
#pragma omp critical(mlopt_parallel_for)
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

/// Sets the OpenMP thread count of the calling thread for its lifetime; count <= 0 leaves it as it is.
class ThreadScope {
 public:
  explicit ThreadScope(int count) : before_(omp_get_max_threads()) {
    if (count > 0) omp_set_num_threads(count);
  }
  ~ThreadScope() { omp_set_num_threads(before_); }
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

}  // namespace mlopt
