#include "cli/train/offload.h"

#include <fmt/core.h>

#include "cli/backends.h"
#include "core/base/error.h"

namespace mlopt::cli {
namespace {

double megabytes(int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

/// The output behind the model's, which updates no state.
std::string loss_of(const train::TrainingGraphs& graphs) {
  std::string name;
  for (const Value* v : graphs.gradients.graph->outputs())
    if (!find_update(graphs.gradient_updates, v->name)) name = v->name;
  return name;
}

}  // namespace

void check_offload(const TrainOptions& o, const std::string& device) {
  if (!o.offload.empty() && !gpu_index(device))
    usage_error(fmt::format("--offload is for a GPU, and {} computes in the host's memory as it is",
                            device.empty() ? default_device() : device),
                "--offload", "give --device gpu, or --recompute for less memory");
}

train::Offloaded begin_offload(const TrainOptions& o, train::TrainingGraphs& graphs, Report& report) {
  if (o.offload.empty()) return {};
  const train::Offloaded done = train::offload_activations(graphs.gradients, loss_of(graphs));
  if (done.values == 0)
    report.line(
        fmt::format("--offload moves nothing: no activation has {:.0f} MB or more and is not needed again at "
                    "once",
                    megabytes(train::kLeastOffload)));
  else
    report.line(
        fmt::format("{} values of {:.0f} MB go to the host's memory between the passes: the GPU's takes "
                    "{:.0f} MB of values at once, not {:.0f}",
                    done.values, megabytes(done.bytes), megabytes(done.bytes_after), megabytes(done.bytes_before)));
  return done;
}

void report_offload(const train::Offloaded& done, const HostTraffic& traffic, double seconds, Report& report) {
  if (done.values == 0) return;
  const double share = seconds > 0 ? traffic.seconds / seconds : 0;
  report.line(fmt::format("copies to the host and back: {:.0f} MB in {:.2f} ms a portion, {:.1f} % of its time",
                          megabytes(traffic.bytes), 1e3 * traffic.seconds, 100 * share));
  report.data["offload"] = Json::object({{"values", done.values},
                                         {"bytes", traffic.bytes},
                                         {"seconds", traffic.seconds},
                                         {"share", share},
                                         {"memory_bytes_before", done.bytes_before},
                                         {"memory_bytes_after", done.bytes_after}});
}

}  // namespace mlopt::cli
