#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/calib/matrix.h"
#include "core/calib/observe.h"
#include "core/calib/weights.h"
#include "prune/spec.h"

namespace mlopt::prune {

struct Slopes;

/// The method that scores residual blocks alone, see depth/block_scores.h.
inline constexpr std::string_view kInfluence = "influence";

/// What a criterion sees of a layer.
struct Evidence {
  const Weight* weight = nullptr;
  const Matrix* values = nullptr;
  const Spec* spec = nullptr;
  int64_t index = 0;                   ///< of the weight in the model
  const Observed* observed = nullptr;  ///< what it is multiplied by; null where the criterion does not look at it
  const Slopes* slopes = nullptr;      ///< what the loss says of it; likewise
  const Tensor* movement = nullptr;    ///< how far a training moved it, in its own shape; likewise
};

/// Weights that compete with one another where each layer has its own share.
enum class Rivals { kLayer, kRow };

/// What a criterion has to see: of what a layer is given, of the gradients of the loss, or of a training.
enum class Look { kNothing, kSquares, kProducts, kSlopes, kMovement };

/// How much the model needs each element of a weight. One file a criterion.
struct Criterion {
  std::string_view name, doc;
  /// At least 0, of the matrix's shape; null: it scores channels alone (structure/channel_methods.h).
  Matrix (*score)(const Evidence& evidence);
  Rivals rivals = Rivals::kLayer;
  Look look = Look::kNothing;
  /// Removes `share` of a layer, or what the granularity's pattern says, and corrects what is left; null: what scores
  /// least goes, and the rest stays as it is.
  Matrix (*prune)(const Evidence& evidence, double share) = nullptr;
  int64_t stages = 1;                       ///< unless the spec says another number
  std::string_view allocation = "uniform";  ///< unless the spec says another one
  std::string_view scale = {};              ///< likewise; empty: that of the allocation
};

std::span<const Criterion> criteria();
/// Throws Error{kUsage} naming the nearest that there is.
const Criterion& find_criterion(std::string_view name);

// The criteria, one a file.

/// The absolute value of each weight (Janowsky 1989; Han et al. 2015).
Matrix magnitude(const Evidence& evidence);
/// Uniform numbers that follow from the seed and the place: the baseline that any other must beat.
Matrix random(const Evidence& evidence);
/// |w| times the norm of what it is multiplied by, compared within an output (Sun et al. 2023, "A Simple and Effective
/// Pruning Approach for Large Language Models").
Matrix wanda(const Evidence& evidence);
/// |w| / sqrt([H^-1]_jj), where H is the products of the layer's inputs: the root of what removing it costs the layer's
/// outputs when the others make up for it (Hassibi and Stork 1993, "Optimal Brain Surgeon").
Matrix obs(const Evidence& evidence);
/// The mean over samples of |w dL/dw|: how much the loss changes without the weight, to first order (Molchanov et al.
/// 2017 and 2019).
Matrix taylor(const Evidence& evidence);
/// The mean over samples of (w dL/dw)^2: to second order, by the diagonal of the empirical Fisher information (LeCun et
/// al. 1990, "Optimal Brain Damage"; Theis et al. 2018).
Matrix fisher(const Evidence& evidence);
/// The sum over the updates of a training of -w dL/dw: what moves towards zero goes first (Sanh et al. 2020, "Movement
/// Pruning"), as schedules hand it on: shifted so that the least of all layers is 0.
Matrix movement(const Evidence& evidence);
/// The same column by column, the columns behind making up for what goes (Frantar and Alistarh 2023, "SparseGPT").
Matrix sparsegpt(const Evidence& evidence, double share);

}  // namespace mlopt::prune
