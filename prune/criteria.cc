#include "prune/criteria.h"

#include "core/base/named.h"

namespace mlopt::prune {
namespace {

constexpr Criterion kCriteria[] = {
    {"magnitude", "the absolute value of each weight", magnitude, Rivals::kLayer, Look::kNothing, nullptr, 1, "global"},
    {"regularization", "what a penalty pulls to zero in a training on --data (see --penalty)", magnitude,
     Rivals::kLayer, Look::kNothing, nullptr, 1, "global"},
    {"dropout", "what a training on --data, in which it is dropped by chance, learns to do without (see --drop)",
     magnitude, Rivals::kLayer, Look::kNothing, nullptr, 1, "global"},
    {"movement",
     "how far a training on --data moves it away from zero, summed up (for networks that learn another task)", movement,
     Rivals::kLayer, Look::kMovement, nullptr, 1, "global", "none"},
    {"random", "by chance, the baseline", random},
    {"wanda", "the absolute value times the norm of what the weight is multiplied by, compared within an output", wanda,
     Rivals::kRow, Look::kSquares},
    {"obs", "what the layer's outputs lose when the other weights make up for it", obs, Rivals::kLayer,
     Look::kProducts},
    {"sparsegpt", "as obs, column by column, and the weights that stay do make up for those that go", wanda,
     Rivals::kLayer, Look::kProducts, sparsegpt, 24},
    {"taylor", "how much the loss of labelled data changes without it, to first order", taylor, Rivals::kLayer,
     Look::kSlopes, nullptr, 1, "global", "none"},
    {"fisher", "the same to second order, by the squares of gradients", fisher, Rivals::kLayer, Look::kSlopes, nullptr,
     1, "global", "none"},
    {"activation", "of channels: the mean absolute value behind the activation", nullptr},
    {"apoz", "of channels: the share of zeros behind the activation, most go first", nullptr},
    {"bn-scale", "of channels: the scale of the BatchNormalization behind", nullptr},
    {kInfluence, "of blocks (--granularity layer): how much they turn what they are given, on --data", nullptr},
    {"geometric-median", "of channels: how far a filter is from the others", nullptr},
};

}  // namespace

std::span<const Criterion> criteria() { return kCriteria; }

const Criterion& find_criterion(std::string_view name) { return require_named(criteria(), name, "method", "--method"); }

}  // namespace mlopt::prune
