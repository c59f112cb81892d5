#include "cli/quantize/calibration.h"

#include <fmt/core.h>

#include "cli/quantize/share_calibration.h"
#include "core/base/error.h"
#include "core/train/agreement.h"

namespace mlopt::cli {

quantize::CalibrationMeans calibration_means(const std::string& cache, const quantize::Spec& spec, Session& session) {
  const bool calibrates = spec.format == quantize::Format::kStatic;
  if (!cache.empty() && !calibrates)
    usage_error(fmt::format("{} calibrates nothing", quantize::name(spec)), "--calibration-cache", "leave it out");
  train::Communicator& ranks = *session.ranks;
  quantize::CalibrationMeans means;
  means.cache = cache;
  if (ranks.size() == 1) return means;
  if (!calibrates)
    usage_error(fmt::format("{} is made by one process, and {} were started", quantize::name(spec), ranks.size()),
                "--to", "start it without mpirun or srun; w8a8 and the like share the samples that calibrate");
  means.part = ranks.rank();
  means.parts = ranks.size();
  means.combine = [&session, &ranks](const Calibration& mine, const std::string& key) {
    train::require_agreement(ranks, key, "model or data are not the same on all ranks", "give all the same files");
    Calibration all = share_calibration(ranks, mine);
    ranks.close();
    if (!session.writes()) throw LeftToRank0{};
    return all;
  };
  return means;
}

}  // namespace mlopt::cli
