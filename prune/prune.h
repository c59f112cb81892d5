#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/calib/observe.h"
#include "core/data/dataset.h"
#include "core/exec/runner.h"
#include "core/ir/model.h"
#include "core/rewrite/pass.h"
#include "core/tensor/compare.h"
#include "prune/amc/search.h"
#include "prune/curves.h"
#include "prune/spec.h"

namespace mlopt::train {
struct LossDef;
}

namespace mlopt::prune {

/// What the allocation "amc" is handed from above.
struct AmcMeans {
  std::function<double(const Model&)> reward;  ///< what a result is worth; more is better
  std::vector<Episode> known = {};             ///< the rest as in SearchSettings
  std::string known_from = {};
  std::function<void(const std::vector<Episode>&)> keep = {};
};

/// What pruning is handed from above: what runs and prepares models, and the data.
struct Means {
  const Runner* runner = nullptr;     ///< for criteria that look at what layers are given
  PassContext passes = {};            ///< for what is folded before channels are looked for
  const Dataset* data = nullptr;      ///< inputs of the source model; null: none
  const Model* before = nullptr;      ///< whose zeros the source's are compared with; null: its own
  int64_t calibration_samples = 128;  ///< at most, evenly spaced over the data
  std::string spill = {};             ///< folder for weights that were changed until they are written; empty: memory
  std::function<void(std::string_view what, int64_t done, int64_t total)> progress = {};

  /// The time of a run of a model made from the source, measured, relative to the source's; empty: nothing is timed.
  std::function<double(const Model&)> time = {};
  const std::vector<Curve>* curves = nullptr;  ///< for the allocation "sensitivity"
  const AmcMeans* amc = nullptr;               ///< for the allocation "amc"
  bool prove = true;  ///< compare a smaller model with the source whose removed channels are zero
  /// Of channels: shapes get smaller; else they stay, with zeros in all weights of what goes, as a schedule wants it.
  bool cut = true;

  /// How far a training moved each weight, by its name, in its shape, float32; for the method "movement".
  const std::map<std::string, Tensor>* movements = nullptr;

  // For criteria that look at gradients.
  const train::LossDef* loss = nullptr;
  std::string loss_output = {};             ///< whose loss it is; "": the first
  std::function<void(Model&)> settle = {};  ///< as train::BatchInputs::settle

  Looking looking() const { return {runner, data, calibration_samples, progress}; }
};

/// What became of the weight of a layer.
struct PrunedLayer {
  std::string name;  ///< as in Spec::shares
  std::string layer, op, weight;
  Dims dims;
  int64_t parameters = 0, zeros = 0, zeros_before = 0;
  double sparsity() const { return static_cast<double>(zeros) / static_cast<double>(parameters); }
};

/// What became of channels that are coupled: they lie on the same axes.
struct PrunedGroup {
  std::string name;                     ///< as in Spec::shares
  std::vector<std::string> layers;      ///< whose weights make them, as globs know these
  std::vector<std::string> members;     ///< constants that have a part of each, and on which axis
  std::vector<std::string> coupled_by;  ///< other nodes that they pass through
  int64_t channels = 0, kept = 0;
  std::string unit = "channels";  ///< what they are: also heads, blocks, dimensions
};

/// Widths that were tried in a search.
struct TriedWidths {
  double share;      ///< of channels that go
  int64_t multiple;  ///< that widths were rounded to
  double macs;       ///< that stay, as a share of the source's
  double time;       ///< of a run, likewise
};

struct Pruned {
  Model model;
  std::vector<PrunedLayer> layers;          ///< in the order of the model
  std::map<std::string, std::string> left;  ///< layer that stays as it was -> why
  std::vector<std::string> warnings;        ///< one sentence each
  int64_t samples = 0;                      ///< seen by calibration

  // Of granularities that make shapes smaller.
  Spec spec;         ///< with what was searched for, so that it prunes the same without a search
  double share = 0;  ///< of channels, that was said or searched for
  std::vector<TriedWidths> tried;
  std::vector<Episode> episodes;  ///< of the allocation "amc"
  std::vector<PrunedGroup> groups;
  int64_t macs_before = 0, macs_after = 0;
  std::optional<Difference> proof;        ///< from the source whose removed channels are zero
  std::vector<std::string> not_verified;  ///< one sentence each
};

/// The source with what `spec` says removed. Throws Error{kUsage} where parts of the spec do not fit together or data
/// are missing, Error{kBadInput} for a model without weights to prune, Error{kUnsupported} for what there is not yet.
Pruned prune(const Model& source, const Spec& spec, const Means& means);

}  // namespace mlopt::prune
