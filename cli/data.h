#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/options.h"
#include "core/data/dataset.h"
#include "core/ir/model.h"

namespace mlopt::cli {

/// --data, --shape and --range.
struct DataFlags {
  std::string spec;
  std::vector<std::string> shapes, ranges;
};
/// Declares them; `fallback` is the spec that is used without --data ("" for none), and is shown in the help.
void declare_data(Options& options, DataFlags& flags, const std::string& fallback);

/// What --metric takes.
std::vector<std::string> metric_names();

/// What a command does with its data.
struct DataUse {
  uint64_t seed = 0;
  bool whole = false;     ///< arrays are whole inputs, else their first axis is the sample
  bool distinct = false;  ///< free dimensions of random inputs: distinct sizes above 1, else 1
  int64_t batch = 0;      ///< size of free first dimensions of random inputs; 0: as the others
};
/// Does `work`, which runs the model on the data. Where the model cannot be run on them, the error says what other data
/// to give.
void with_data_hint(const DataFlags& flags, const Model& model, const std::function<void()>& work);

/// Throws Error{kUsage} where --shape or --range stands beside data that are not generated. open_data() does so too,
/// but a verb opens its data when it has worked already.
void refuse_sizes_of_stored(const DataFlags& flags);

/// With --batch, the first dimension of some input must be free or that size: else throws Error{kBadInput}.
void check_batch(const Model& model, int64_t batch);
/// How many samples of the data are one input of a run; `batch` is that of --batch, 0 without. Throws Error{kBadInput}
/// when the data cannot give so many.
int64_t samples_at_once(const Dataset& data, int64_t batch);

/// The data for a model, which must outlive them. ONNX test data give every input of the model.
std::unique_ptr<Dataset> open_data(const DataFlags& flags, const Model& model, const DataUse& use);

}  // namespace mlopt::cli
