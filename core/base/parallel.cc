#include "core/base/parallel.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <optional>
#include <utility>

namespace mlopt {
namespace {

/// Whether this thread is within a part, which others run beside.
thread_local bool is_part = false;

class Within {
 public:
  explicit Within(bool part) : before_(std::exchange(is_part, part)) {}
  ~Within() { is_part = before_; }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

 private:
  bool before_;
};

}  // namespace

int max_threads() { return is_part ? 1 : tbb::this_task_arena::max_concurrency(); }

void parallel_parts(int64_t parts, const std::function<void(int64_t)>& fn) {
  const auto run = [&](int64_t part) {
    const Within one(true);
    fn(part);
  };
  if (parts == 1) return run(0);
  // Static: the same part goes to the same thread again where it can, which has its data in the cache.
  tbb::parallel_for(int64_t{0}, parts, run, tbb::static_partitioner());
}

void with_threads(int count, const std::function<void()>& fn) {
  if (count <= 0 || count == max_threads()) return fn();
  std::optional<tbb::global_control> more;  // threads than there are processors, where somebody asks for them
  if (count > tbb::info::default_concurrency())
    more.emplace(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(count));
  tbb::task_arena(count).execute([&] {
    const Within all(false);
    fn();
  });
}

}  // namespace mlopt
