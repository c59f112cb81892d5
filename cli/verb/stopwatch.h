#pragma once
#include <memory>
#include <vector>

#include "cli/verb/verb.h"

namespace mlopt::cli {

/// Times models beside their source on the device of the session, fused as any runtime has them, on one item of --data
/// or on generated inputs.
class Stopwatch {
 public:
  Stopwatch(const VerbOptions& verb, const Model& source, const Session& session)
      : verb_(verb), source_(source), session_(session) {}

  /// The time of a run, relative to one of the source: the median over pairs of neighbouring blocks, at least five,
  /// which take longer than --bench where a run is long.
  double share(const Model& model);

 private:
  const VerbOptions& verb_;
  const Model& source_;
  const Session& session_;
  std::unique_ptr<Backend> backend_;    // opened, and
  std::unique_ptr<Executable> before_;  // compiled, at the first use
  std::vector<Datum> inputs_;
};

}  // namespace mlopt::cli
