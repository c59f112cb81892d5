#include "distill/losses.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "core/base/named.h"

namespace mlopt::distill {
namespace {

// The weights are those of the papers, or of what reproduced them, beside class scores of weight 1.
constexpr LossDef kLosses[] = {
    {"kl", "divergence of softened class scores, along the last axis (Hinton et al. 2015)", kl_loss, 1},
    {"mse", "mean squared difference", mse_loss, 1},
    {"cosine", "1 - cosine of hidden states, along the last axis (Sanh et al. 2019)", cosine_loss, 1},
    {"hidden", "mean squared difference, through a learned linear layer where widths differ", hidden_loss, 1},
    {"hint", "the same, always through a learned layer (Romero et al. 2015)", hint_loss, 1},
    {"at", "difference of normalized maps of where pictures excite (Zagoruyko and Komodakis 2017)",
     attention_transfer_loss, 1000},
    {"attention", "squared difference of a transformer's attention maps, their mean where heads differ",
     attention_map_loss, 1},
    {"rkd-distance", "relations between samples: distances (Park et al. 2019)", rkd_distance_loss, 25},
    {"rkd-angle", "relations between samples: angles (Park et al. 2019)", rkd_angle_loss, 50},
};

std::string shape(const Value* v) { return to_string(v->type); }

}  // namespace

std::span<const LossDef> losses() { return kLosses; }

const LossDef& find_loss(std::string_view name, const char* option) {
  return require_named(losses(), name, "loss", option);
}

void shapes_error(const PairArgs& args, std::string_view why) {
  input_error(fmt::format("{}: the student's is {}, the teacher's {}", why, shape(args.student), shape(args.teacher)),
              args.where, "match other tensors, or choose another loss");
}

void require_same_shape(const PairArgs& args) {
  if (train::Builder::dims(args.student) != train::Builder::dims(args.teacher))
    shapes_error(args, "this loss takes tensors of one shape");
}

}  // namespace mlopt::distill
