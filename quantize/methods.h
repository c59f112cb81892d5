#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "core/calib/observe.h"
#include "quantize/coded.h"
#include "quantize/fits.h"
#include "quantize/spec.h"

namespace mlopt::quantize {

/// What a method has to see of what a layer is given.
enum class Look { kNothing, kSquares, kProducts };

/// Formats that a method is for.
enum class Use { kWeights, kWeightsAndStatic, kActivations };

/// A weight that is to become codes.
struct Task {
  const Matrix& values;
  const Scheme& scheme;
  const Observed* seen = nullptr;  ///< what it is multiplied by; null where nothing was looked at
  int64_t groups = 1;              ///< as many rows each, one after the other, that read inputs of their own
  bool rectified = false;          ///< none of what it is multiplied by is below 0
  /// Of uniform levels: the steps around zero, one for each row or one for all; empty: the method fits them.
  std::span<const float> steps = {};

  /// What was pruned stays 0 whatever the others make up for.
  bool pruned(int64_t row, int64_t column) const { return values.at(row, column) == 0; }
  double shift() const { return rectified ? kRectifiedShift : 0; }
  /// In the steps that are given.
  Alphabet alphabet_of(int64_t row) const;
};

/// How numbers become codes: what the codes stand for, and which of them each number gets. One file a method.
struct Method {
  std::string_view name, doc;
  Fit fit = nullptr;  ///< of uniform levels and of tables; codebooks are fitted by k-means
  Coded (*encode)(const Task& task, Fit fit) = nullptr;
  Look look = Look::kNothing;
  /// Rewrites the graph and the weights before they are encoded, each as its spec says, what was seen with them; gives
  /// how many inputs were scaled. Null: leaves all as it is.
  int64_t (*prepare)(std::span<const Weight> weights, std::span<Observed> seen, std::span<const Spec> specs) = nullptr;
  Use use = Use::kWeights;
  /// All weights of a block are learned together, see reconstruct(); `encode` is for those that are in none.
  bool blocks = false;
};

std::span<const Method> methods();
/// Throws Error{kUsage} naming the nearest that there is.
const Method& find_method(std::string_view name);

/// The method with the fit that is right for the scheme; where it wants to see products and there are none (a table
/// that is looked up, a layer whose inputs cannot be told), to nearest.
Coded encode(const Method& method, const Task& task);

/// The end of the weights from `first` on that are observed together, whose products take that many bytes.
size_t stage_end(std::span<const Weight> weights, size_t first, int64_t bytes);
/// Some rows, evenly over the weight, that choices are tried on.
Matrix sampled_rows(const Weight& weight);

// The ways to round, one a file.

/// Each number gets the code of the nearest value.
Coded round_to_nearest(const Task& task, Fit fit);
/// Column by column, those that are left making up for the error of what was rounded, so that the layer's outputs
/// change least (Frantar et al. 2022, "GPTQ"). Alphabets are those of the weights as they were, so that the columns may
/// be taken in the order of what their errors cost. Weights that are 0 stay so, here and below.
Coded gptq(const Task& task, Fit fit);
/// From there on coordinate descent: each number in turn gets the code that is best while all others stay (Behdin et
/// al. 2023, "QuantEase"). The error of the layer's outputs never grows.
Coded quantease(const Task& task, Fit fit);
/// Each number goes down or up to the next value, whichever leaves the least error in the layer's outputs: a share
/// between both is learned for each by gradient descent, and driven to an end by a penalty that hardens (Nagel et al.
/// 2020, "Up or Down? Adaptive Rounding for Post-Training Quantization"); from there on coordinate descent between the
/// two. The error of no row is above that of rounding to nearest.
Coded adaround(const Task& task, Fit fit);

// What is done before, one a file.

/// Columns whose input is large are scaled up before they are rounded, and their input down, by the power of its size
/// that leaves the least error in the outputs (Lin et al. 2023, "AWQ").
int64_t awq_scales(std::span<const Weight> weights, std::span<Observed> seen, std::span<const Spec> specs);
/// The peaks of activations go into the weights: columns are multiplied by peak^a / range^(1 - a), and the input
/// divided by it, where constants that make the input take the division (Xiao et al. 2023, "SmoothQuant"). The a is
/// that for which the noise of rounding both, taken as even over a step, is least in the outputs.
int64_t smoothquant_scales(std::span<const Weight> weights, std::span<Observed> seen, std::span<const Spec> specs);

}  // namespace mlopt::quantize
