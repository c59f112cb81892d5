#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/calib/observe.h"
#include "core/ir/model.h"

namespace mlopt {

/// Runs a model over all samples a stretch of its schedule at a time, so that what is behind a value can be changed by
/// what was seen there, and yet each node runs once. What later nodes read is held for each batch.
class Stages {
 public:
  /// Holds what the model is given. `most_bytes`: of what is held; samples behind those that fit are left out. Throws
  /// Error{kBadInput} where there is no sample.
  Stages(const Model& model, const Looking& means, int64_t most_bytes = int64_t{1} << 30);

  /// Runs `model`, whose nodes up to where this stands are as they were, to the node that makes `last`: no earlier one
  /// than before.
  void advance(const Model& model, const std::string& last);
  bool holds(const std::string& value) const { return held_.contains(value); }
  /// Of a value that is held, one for each batch. May be changed.
  std::vector<Datum>& of(const std::string& value) { return held_.at(value); }
  /// The names of what is held.
  std::vector<std::string> values() const;
  /// Fewer after a stretch whose values do not fit.
  int64_t batches() const { return batches_; }
  void limit_batches(int64_t most);

  /// The part of `model` from what is held to `ends`; what is held and goes in is its inputs.
  Model part(const Model& model, const std::vector<std::string>& ends) const;
  /// Runs such a part on a batch; its outputs in its order.
  static std::vector<Datum> run(Executable& part, const std::map<std::string, std::vector<Datum>>& held, int64_t batch);
  const std::map<std::string, std::vector<Datum>>& held() const { return held_; }

 private:
  static std::set<std::string> frontier(const Model& model, const std::string& last);

  Looking means_;
  int64_t most_bytes_, batches_ = 0;
  std::map<std::string, std::vector<Datum>> held_;
};

}  // namespace mlopt
