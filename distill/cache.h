#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/data/dataset.h"
#include "core/exec/backend.h"
#include "distill/wiring.h"

namespace mlopt::distill {

struct CacheSettings {
  std::string folder;               ///< made where it is missing
  std::vector<std::string> models;  ///< what tells each teacher from others, such as a digest of its file
  std::string data;                 ///< the same of the data: their spec
  CompileOptions options = {};      ///< of the teachers' plans
  std::function<void(int64_t done)> progress = {};  ///< samples that went through a teacher
};

/// The data, whose batches have behind their inputs what the tapped teachers of the wiring give for these samples, in
/// the order of teachers and taps. It lies in FOLDER/DIGEST.npy, a row for each sample; what is missing there is
/// computed first, on `backend`, and written atomically. The digest is of teacher, tap, data and the samples
/// themselves. Throws Error{kBadInput} where a tap has no row for each sample, or the folder cannot be written.
std::unique_ptr<Dataset> with_cached_teachers(std::unique_ptr<Dataset> data, const Wiring& wiring, Backend& backend,
                                              const CacheSettings& settings);

}  // namespace mlopt::distill
