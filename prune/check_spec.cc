#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "prune/criteria.h"
#include "prune/dropouts.h"
#include "prune/penalties.h"
#include "prune/spec.h"

namespace mlopt::prune {
namespace {

/// A pattern says by itself how much goes.
void check_pattern(const Spec& spec) {
  const Granularity& g = spec.granularity;
  const double share = share_of_pattern(g);
  if (spec.threshold)
    usage_error(fmt::format("{} says how much goes, and takes no threshold", to_string(g)), "--threshold");
  if (!spec.shares.empty()) usage_error(fmt::format("{} says how much of each layer goes", to_string(g)), "shares");
  if (spec.sparsity && *spec.sparsity != share)
    usage_error(fmt::format("{} means a sparsity of {}", to_string(g), share), "--sparsity", "leave it out");
  if (!spec.allocation.empty() && spec.allocation != "uniform")
    usage_error(fmt::format("{} means the same share of every layer", to_string(g)), "--allocation", "leave it out");
}

bool trains(const Spec& spec) { return spec.method == kRegularization || spec.method == kDropout; }

/// Residual blocks go or stay as a whole, whatever layer they are in.
void check_layers(const Spec& spec) {
  const std::string_view known[] = {"magnitude", "random", "taylor", "fisher", kInfluence};
  if (std::find(std::begin(known), std::end(known), spec.method) == std::end(known))
    unsupported_error(fmt::format("blocks by {} are not supported yet", spec.method), "--method",
                      fmt::format("one of {}", fmt::join(known, ", ")));
  if (!spec.allocation.empty() && spec.allocation != "global" && !by_curves(spec))
    usage_error("a block goes or stays: each has no share of its own", "--allocation",
                "global, sensitivity or latency");
  if (spec.round) usage_error("blocks have no widths to round", "--round", "leave it out");
  if (!spec.scale.empty()) usage_error("scores of blocks have no scale", "--scale", "leave it out");
}

/// Channels are scored in a way of their own: by the norms of all weights that have a part of them.
void check_structure(const Spec& spec) {
  const std::string& name = spec.granularity.name;
  if (name == kLayers) return check_layers(spec);
  if (name == kEmbedding && (spec.fit || spec.statistics))
    unsupported_error("what normalizations lose is not fitted without a training", "--recover", "train or distill");
  if (spec.method == kInfluence)
    usage_error("influence is of residual blocks", "--method", "use --granularity layer, or --method magnitude");
  const std::string_view known[] = {"magnitude", "random", kRegularization, kDropout, "taylor", "fisher"};
  if (std::find(std::begin(known), std::end(known), spec.method) == std::end(known) &&
      find_criterion(spec.method).score)
    unsupported_error(fmt::format("channels by {} are not supported yet", spec.method), "--method",
                      fmt::format("one of {}", fmt::join(known, ", ")));
  const std::string_view spread[] = {"", "uniform", "global", kSensitivity, kByLatency, kAmc};
  if (std::find(std::begin(spread), std::end(spread), spec.allocation) == std::end(spread))
    unsupported_error(fmt::format("channels by the allocation '{}' are not supported yet", spec.allocation),
                      "--allocation", "uniform, global, sensitivity, latency or amc");
  if (!spec.scale.empty())
    usage_error("scores of channels are relative to the mean of their group", "--scale", "leave it out");
}

/// A penalty pulls, and a dropout drops, a share of weights or of channels.
void check_training(const Spec& spec) {
  if (spec.granularity.kind() == Kind::kMask && spec.granularity.name != "element")
    unsupported_error(fmt::format("{} by {} are not supported yet", to_string(spec.granularity), spec.method),
                      "--granularity", "element, channel or head");
  const bool searched = spec.granularity.kind() == Kind::kStructure && (spec.flops || spec.latency);
  if (!spec.sparsity && !searched)
    usage_error("it is trained until a share is not needed", "--sparsity", "give one, as in 0.5");
  if (spec.method == kDropout) find_dropout(spec.dropout, spec.granularity);
  if (spec.method == kRegularization) find_penalty(spec.penalty, spec.granularity);
  if (spec.allocation == "lamp" || spec.allocation == "erk")
    unsupported_error(fmt::format("{} by the allocation '{}' is not supported yet", spec.method, spec.allocation),
                      "--allocation", "global or uniform");
  if (spec.granularity.name == kEmbedding)
    unsupported_error(fmt::format("dimensions of all layers by {} are not supported yet", spec.method), "--method",
                      "magnitude, then --recover distill");
  if (looks_at_results(spec))
    unsupported_error("what each layer can spare is measured before a training, not behind it", "--allocation",
                      "global or uniform");
  if (spec.fit || spec.statistics) usage_error("what was trained needs no fit", "--recover", "leave lstsq and bn out");
}

/// Channels and heads go by what the training at hand says of them.
void check_structure_schedule(const Spec& spec) {
  const std::string& name = spec.granularity.name;
  if (name == kLayers)
    usage_error("a residual block is there or not: what is left of one has no training to grow used to it",
                "--prune-schedule", "leave it out, and give --recover train or distill");
  if (name == kEmbedding)
    unsupported_error(
        "dimensions of all layers cannot go one after the other: normalizations would count those that are zero",
        "--prune-schedule", "leave it out, and give --recover train or distill");
  const std::string_view known[] = {"magnitude", "taylor", "fisher", "random"};
  if (std::find(std::begin(known), std::end(known), spec.method) == std::end(known))
    unsupported_error(fmt::format("{}s by {} in a schedule are not supported yet", name, spec.method), "--method",
                      fmt::format("one of {}", fmt::join(known, ", ")));
  if (spec.round && *spec.round == kAutoRound)
    usage_error("widths are not timed in the course of a training", "--round", "give a number");
}

/// What is removed in the course of a training has a share that grows, and a training that makes up for it.
void check_schedule(const Spec& spec) {
  const std::string name(spec.schedule.empty() ? kGradual : spec.schedule);
  if (trains(spec))
    usage_error(fmt::format("{} has a training of its own, behind which it is removed", spec.method),
                "--prune-schedule", "leave it out");
  if (spec.method == kMovement &&
      (name != kGradual || (spec.granularity.name != "element" && !spec.granularity.pattern())))
    unsupported_error(fmt::format("{} by movement, {}, is not supported yet", to_string(spec.granularity), name),
                      name == kGradual ? "--granularity" : "--prune-schedule", "element or N:M, gradual");
  if (spec.granularity.kind() == Kind::kStructure) check_structure_schedule(spec);
  if (spec.threshold) usage_error("a threshold does not say how much goes when", "--threshold", "give --sparsity");
  if (find_criterion(spec.method).prune)
    unsupported_error(fmt::format("{} in a schedule is not supported yet", spec.method), "--method", "wanda or obs");
  if (looks_at_results(spec))
    unsupported_error("what each layer can spare is measured before a training, not in it", "--allocation",
                      "give the shares that it found");
  if (spec.fit || spec.statistics)
    usage_error("what is trained behind each removal needs no fit", "--recover", "leave lstsq and bn out");
  if (name == kGradual && spec.iterations > 1)
    usage_error("gradual removes every so many updates", "--iterations", "give --prune-every N");
  if (name != kGradual && !spec.shares.empty())
    usage_error(fmt::format("{} takes the same share of what is left in each round", name), "shares",
                "give --sparsity");
}

/// What goes as one of a method that knows no single weights.
[[noreturn]] void refuse_masks(const Spec& spec) {
  const bool blocks = spec.method == kInfluence;
  const std::string what = spec.granularity.name == "element" ? "elements" : to_string(spec.granularity);
  usage_error(fmt::format("{} is of {}, {} are none", spec.method, blocks ? "residual blocks" : "channels", what),
              "--granularity", blocks ? "use --granularity layer" : "use --granularity channel");
}

}  // namespace

void check(const Spec& spec) {
  const bool structure = spec.granularity.kind() == Kind::kStructure;
  if (scheduled(spec)) check_schedule(spec);
  const std::string_view when = spec.method == kMovement && spec.schedule.empty() ? kGradual : spec.schedule;
  if (spec.every && when != kGradual)
    usage_error("only --prune-schedule gradual removes every so many updates", "--prune-every", "leave it out");
  if (spec.rewind && when != kLottery && when != kRateRewind)
    usage_error("only --prune-schedule lottery and rate-rewind go back to an update", "--rewind-to", "leave it out");
  if (trains(spec)) check_training(spec);
  if (spec.method != kDropout && !spec.dropout.empty())
    usage_error(fmt::format("{} drops nothing", spec.method), "--drop", "use --method dropout");
  if (spec.method != kRegularization && !spec.penalty.empty())
    usage_error(fmt::format("{} pulls at nothing", spec.method), "--penalty", "use --method regularization");
  if (structure) check_structure(spec);
  if (!structure && (spec.flops || spec.latency))
    usage_error(fmt::format("zeros save no {}: {} leaves shapes as they are", spec.flops ? "FLOPs" : "time",
                            to_string(spec.granularity)),
                spec.flops ? "--flops" : "--latency", "use --granularity channel, head or layer");
  if (!structure && spec.allocation == kByLatency)
    usage_error("zeros save no time", "--allocation", "use --granularity channel, or --allocation sensitivity");
  if (!structure && spec.allocation == kAmc)
    unsupported_error(fmt::format("{} by the allocation 'amc' are not supported yet", to_string(spec.granularity)),
                      "--allocation", "use --granularity channel or head, or --allocation sensitivity");
  if (spec.episodes && spec.allocation != kAmc)
    usage_error("only --allocation amc searches in episodes", "--episodes", "leave it out");
  if (spec.round == kAutoRound && spec.threshold)
    usage_error("a threshold says how much goes, whatever the widths", "--round", "leave it out");
  if (!structure && !find_criterion(spec.method).score) refuse_masks(spec);
  if (!structure && spec.round)
    usage_error("there are no widths to round where shapes stay as they are", "--round", "leave it out");
  if (spec.iterations > 1 && !scheduled(spec) && (structure || spec.granularity.pattern() || spec.threshold))
    unsupported_error(fmt::format("{} in iterations is not supported", to_string(spec.granularity)), "--iterations",
                      "give element, block or kernel, and --sparsity");
  if (spec.granularity.pattern()) return check_pattern(spec);
  if (find_criterion(spec.method).prune && spec.granularity.name != "element")
    unsupported_error(fmt::format("{} by {} is not supported yet", spec.granularity.name, spec.method), "--granularity",
                      "element or N:M");
  if (find_criterion(spec.method).prune && spec.threshold)
    usage_error(fmt::format("{} takes no threshold", spec.method), "--threshold", "give --sparsity");
  const int targets = spec.sparsity.has_value() + spec.threshold.has_value() + spec.flops.has_value() +
                      spec.latency.has_value() + !spec.shares.empty();
  if (targets > 1)
    usage_error("a sparsity, a threshold, and shares of FLOPs or of time say different things",
                spec.threshold ? "--threshold"
                : spec.flops   ? "--flops"
                               : "--latency",
                "leave all but one out");
  if (targets == 0)
    usage_error(
        "how much to remove is not said", "--sparsity",
        structure ? "add --sparsity 0.3, --flops 50% or --latency 0.6x" : "add --sparsity 0.5, or --threshold T");
  if ((spec.threshold || !spec.shares.empty()) && !spec.allocation.empty())
    usage_error(spec.threshold ? "a threshold is the same for all layers" : "each layer has its share already",
                "--allocation", "leave it out");
}

}  // namespace mlopt::prune
