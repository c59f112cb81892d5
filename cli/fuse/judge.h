#pragma once
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/verb/verb.h"
#include "core/data/dataset.h"
#include "core/exec/backend.h"
#include "core/rewrite/pass.h"

namespace mlopt::cli {

/// Compares what passes make of a model with the source, on the reference backend: on the user's data or on seeded
/// ones, free dimensions at two sizes each.
class PassJudge {
 public:
  /// `source` must outlive it.
  PassJudge(const DataFlags& flags, const Model& source, Backend& judge, const Session& session);

  /// How the outputs of the result differ from the source's: beyond 1e-4 of the largest number and 1e-5, or, in a model
  /// that rounds to integers, by more than -40 dB. Empty where they do not, and where the source cannot be run.
  std::string objection(const Model& result);
  /// A graphopt::Guard that notes what broke, and at which node.
  bool holds(const Pass& pass, const Model& before, const Model* after, const PassContext& context);
  /// Says which passes were undone; that nothing could be compared is not verified.
  void report_on(Report& report, VerbResult& result) const;

 private:
  struct Broken {
    std::string pass, node, why;
  };
  bool breaks(const Pass& pass, const Model& before, const PassContext& context, const std::set<std::string>& nodes);
  std::string node_of(const Pass& pass, const Model& before, const PassContext& context);

  const Session& session_;
  Backend& judge_;
  bool rounds_ = false;  ///< to integers
  std::unique_ptr<Executable> source_;
  std::vector<std::unique_ptr<Dataset>> data_;  ///< that the source runs on
  std::string problem_;                         ///< why there are none
  int64_t compared_ = 0;
  std::vector<Broken> broken_;
};

}  // namespace mlopt::cli
