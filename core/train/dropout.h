#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/infer.h"
#include "core/ir/model.h"
#include "core/tensor/tensor.h"

namespace mlopt::train {

/// How the Dropouts of a model drop in training (Srivastava et al. 2014).
struct DropoutChoice {
  std::optional<double> ratio;  ///< of the elements, for all; nothing: as each says itself; 0: none is dropped
};
/// "model", "off", or a ratio; throws Error{kUsage}.
DropoutChoice parse_dropout(std::string_view text);

/// Dropouts that drop.
struct Dropouts {
  std::string keys;  ///< name of the input that takes dropout_keys(); "": there is none
  int64_t nodes = 0;
  double least = 0, most = 0;               ///< of their ratios
  std::vector<std::string> repeating = {};  ///< labels of what draws the same in each update
};

/// The Dropouts of the main graph that can be seeded: of old opsets, none whose mask somebody reads.
std::vector<Node*> dropouts_of(const Model& model);

/// Puts `mlopt.SeededDropout` in their place, whether their file says that they drop or not, and a new graph input
/// "train/dropout", int64 [samples + 1]. What is dropped follows from these keys, the number of the Dropout and the
/// position in the sample, so that the same sample loses the same elements whatever rank and portion it is in, and both
/// passes do, also where a pass is computed again. `source` is the model before its inputs got the shapes `dims` of a
/// batch: what grows with the batch tells where its samples are. Throws Error{kUsage} where there is none for a ratio
/// to go to, Error{kUnsupported} where a ratio depends on data.
Dropouts seed_dropouts(Model& model, const std::vector<Node*>& nodes, const DropoutChoice& choice, const Model& source,
                       const std::vector<Dims>& dims, TypeRule types);

/// Does the same to the nodes of the graph that give random numbers (random.h), under the keys that `done` has or gets,
/// and notes what then repeats itself.
void seed_random(Model& model, const std::vector<Dims>& dims, TypeRule types, Dropouts& done);

/// A key for each of the samples in this epoch, and behind them one for what they share in this update.
Tensor dropout_keys(std::span<const int64_t> samples, int64_t epoch, int64_t update, uint64_t seed);

}  // namespace mlopt::train
