#pragma once
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/exec/runner.h"

namespace mlopt {

/// What the batches of some data have become at a place in a model, from which runs go on.
struct Reached {
  std::vector<std::string> names;           ///< of values; empty: the front of the model
  std::vector<std::vector<Datum>> batches;  ///< of each batch, these values
};

/// Batches of data on their way through a model, all of them through a part, then through the next, so that no more
/// than a part's weights are in memory, and these once for all batches.
class Course {
 public:
  using Look = std::function<void(const std::string& name, const Datum& value)>;

  /// Through what the outputs and the watched values need, from `start` on, or from the front where what is there does
  /// not do.
  Course(const Model& model, std::span<const std::string> watched, const Runner& runner, const Reached& start);

  /// What is run, as a model of its own; places are numbers of its nodes.
  const Model& rest() const { return rest_; }
  /// The place of the node that makes the value; -1: none does.
  int64_t place_of(const std::string& value) const;
  /// The place behind which nothing is watched.
  int64_t end() const;
  /// Where parts end so that the constants of each take `bytes` at most, or are those of one node; the last is end().
  std::set<int64_t> ends_of_parts(int64_t bytes) const;

  /// The next part, from where all batches are to the node at `end`; where it goes on, what those behind need is kept.
  void begin_part(int64_t end, bool goes_on);
  /// Runs a batch, which is asked for only at the front, and shows what is watched, each value once.
  void run(size_t number, const std::function<Batch()>& batch, const Look& look);
  /// Nodes of the part that another backend's kernels run.
  const std::vector<std::string>& fallback_nodes() const;
  /// All batches have run.
  void end_part();

  /// Where all batches are.
  const Reached& reached() const { return reached_; }

 private:
  std::vector<Datum> given_to_part(size_t number, const std::function<Batch()>& batch, const Look& look) const;

  Runner runner_;
  std::vector<std::string> input_names_;  ///< of the whole model
  std::vector<std::string> watched_;
  Model rest_;
  Reached reached_, next_;
  int64_t begin_ = 0;
  bool first_ = true;
  std::unique_ptr<Executable> plan_;  ///< null: the part has nothing to do
};

}  // namespace mlopt
