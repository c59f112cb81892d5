#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "core/calib/observe.h"
#include "quantize/coded.h"
#include "quantize/fits.h"

namespace mlopt::quantize {

/// What a method has to see of what a layer is given.
enum class Look { kNothing, kSquares, kProducts };

/// A weight that is to become codes.
struct Task {
  const Matrix& values;
  const Scheme& scheme;
  const Observed* seen = nullptr;  ///< what it is multiplied by; null where nothing was looked at
  int64_t groups = 1;              ///< as many rows each, one after the other, that read inputs of their own
  bool rectified = false;          ///< none of what it is multiplied by is below 0

  double shift() const { return rectified ? kRectifiedShift : 0; }
};

/// How numbers become codes: what the codes stand for, and which of them each number gets. One file a method.
struct Method {
  std::string_view name, doc;
  Fit fit = nullptr;  ///< of uniform levels and of tables; codebooks are fitted by k-means
  Coded (*encode)(const Task& task, Fit fit) = nullptr;
  Look look = Look::kNothing;
  /// Rewrites the graph and the weights before they are encoded, what was seen with them; null: leaves all as it is.
  void (*prepare)(std::span<const Weight> weights, std::span<Observed> seen, const Scheme& scheme) = nullptr;
};

std::span<const Method> methods();
/// Throws Error{kUsage} naming the nearest that there is.
const Method& find_method(std::string_view name);

/// The method with the fit that is right for the scheme; where it wants to see products and there are none (a table
/// that is looked up, a layer whose inputs cannot be told), to nearest.
Coded encode(const Method& method, const Task& task);

// The ways to round, one a file.

/// Each number gets the code of the nearest value.
Coded round_to_nearest(const Task& task, Fit fit);
/// Column by column, those that are left making up for the error of what was rounded, so that the layer's outputs
/// change least (Frantar et al. 2022, "GPTQ"). Alphabets are those of the weights as they were, so that the columns may
/// be taken in the order of what their errors cost.
Coded gptq(const Task& task, Fit fit);
/// From there on coordinate descent: each number in turn gets the code that is best while all others stay (Behdin et
/// al. 2023, "QuantEase"). The error of the layer's outputs never grows.
Coded quantease(const Task& task, Fit fit);

// What is done before, one a file.

/// Columns whose input is large are scaled up before they are rounded, and their input down, by the power of its size
/// that leaves the least error in the outputs (Lin et al. 2023, "AWQ").
void awq_scales(std::span<const Weight> weights, std::span<Observed> seen, const Scheme& scheme);

}  // namespace mlopt::quantize
