#include "cli/ranks.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/train/share_tally.h"

namespace mlopt::cli {

void share_scoring(train::Communicator& ranks, ScoreOptions& options) {
  options.part = ranks.rank();
  options.parts = ranks.size();
  options.combine = [&ranks](const Tally& mine) { return train::share_tally(ranks, mine); };
}

void report_ranks(const train::Communicator& ranks, int64_t steps, double seconds, double waiting, Report& report) {
  report.data["ranks"] = ranks.size();
  if (ranks.size() == 1) return;
  const train::Traffic traffic = ranks.traffic();
  const auto per_step = static_cast<double>(std::max<int64_t>(steps, 1));
  const double share = seconds > 0 ? waiting / seconds : 0;
  report.data["communication"] = Json::object({{"library", ranks.name()},
                                               {"payload_bytes", traffic.payload},
                                               {"sent_bytes", traffic.wire},
                                               {"sent_bytes_per_update", static_cast<double>(traffic.wire) / per_step},
                                               {"seconds", waiting},
                                               {"share", share}});
  report.line(fmt::format("{} ranks ({}): {} sent by each for an update, {:.0f} % of the time waiting for each other",
                          ranks.size(), ranks.name(), format_bytes(static_cast<double>(traffic.wire) / per_step),
                          100 * share));
}

}  // namespace mlopt::cli
