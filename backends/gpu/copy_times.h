#pragma once
#include <algorithm>
#include <chrono>

#include "backends/gpu/backend.h"
#include "core/exec/node_step.h"

namespace mlopt::gpu {

/// How long a step that runs on the host waits for its copies: a row of its own in the profile, where one is kept.
class CopyTimes {
 public:
  CopyTimes(const Node& node, const RunContext& context) : node_(node), context_(context) {}
  CopyTimes(const CopyTimes&) = delete;
  CopyTimes& operator=(const CopyTimes&) = delete;
  ~CopyTimes() {
    if (!context_.profile) return;
    const std::lock_guard lock(*context_.profile_mutex);
    StepProfile& row = row_of_node();
    row.seconds += seconds_;
    row.bytes = bytes_;
    ++row.calls;
  }

  template <class Copy>
  auto measure(size_t bytes, const Copy& copy) {
    struct Timer {
      double& seconds;
      std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
      ~Timer() { seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }
    };
    bytes_ += static_cast<int64_t>(bytes);
    const Timer timer{seconds_};
    return copy();
  }

 private:
  StepProfile& row_of_node() const {
    std::vector<StepProfile>& rows = *context_.profile;
    const std::string name = node_.name.empty() ? node_.label() : node_.name;
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const StepProfile& r) { return r.op == kHostCopies && r.node == name; });
    if (row != rows.end()) return *row;
    StepInfo info{name, std::string(kHostCopies), "between host and device"};
    info.nodes = node_.origins.empty() ? std::vector{node_.label()} : node_.origins;
    rows.push_back({std::move(info), 0, 0});
    return rows.back();
  }

  const Node& node_;
  const RunContext& context_;
  double seconds_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace mlopt::gpu
