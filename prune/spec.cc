#include "prune/spec.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/globs.h"
#include "core/base/named.h"
#include "core/base/text.h"
#include "prune/allocations.h"
#include "prune/criteria.h"
#include "prune/dropouts.h"
#include "prune/scales.h"

namespace mlopt::prune {
namespace {

constexpr std::string_view kAllocationsToCome[] = {"sensitivity", "latency", "amc"};

template <class Row>
void require_name(std::span<const Row> table, std::string_view what, std::string_view name, const std::string& where,
                  std::span<const std::string_view> to_come = {}) {
  if (find_named(table, name)) return;
  std::vector<std::string> names;
  for (const Row& row : table) names.emplace_back(row.name);
  if (std::find(to_come.begin(), to_come.end(), name) != to_come.end())
    unsupported_error(fmt::format("the {} '{}' is not supported yet", what, name), where,
                      "one of " + join(names, ", "));
  usage_error(fmt::format("no {} is called '{}'", what, name), where, suggestion(name, names));
}

/// A part of a spec: read from the text behind its '=', and printed, or left out where it says nothing.
struct Part {
  std::string_view name;
  void (*parse)(Spec& spec, std::string_view value);
  std::string (*print)(const Spec& spec);
};

std::string number(const std::optional<double>& x) { return x ? fmt::format("{}", *x) : ""; }

int64_t parse_round(std::string_view text) {
  const auto multiple = text == "none" ? std::optional<int64_t>(1) : parse_int(text);
  if (!multiple || *multiple < 1)
    usage_error(fmt::format("'{}' is nothing to round widths to", text), "--round", "8, 16 or none");
  return *multiple;
}

constexpr Part kParts[] = {
    {"granularity", [](Spec& s, std::string_view v) { s.granularity = parse_granularity(v); },
     [](const Spec& s) { return to_string(s.granularity); }},
    {"sparsity", [](Spec& s, std::string_view v) { s.sparsity = parse_share(v, "--sparsity"); },
     [](const Spec& s) { return number(s.sparsity); }},
    {"threshold",
     [](Spec& s, std::string_view v) {
       s.threshold = parse_double(v);
       if (!s.threshold || !(*s.threshold >= 0))
         usage_error(fmt::format("'{}' is no threshold", v), "--threshold", "a number from 0 on");
     },
     [](const Spec& s) { return number(s.threshold); }},
    {"flops", [](Spec& s, std::string_view v) { s.flops = parse_share(v, "--flops"); },
     [](const Spec& s) { return number(s.flops); }},
    {"round", [](Spec& s, std::string_view v) { s.round = parse_round(v); },
     [](const Spec& s) { return !s.round        ? ""
                                : *s.round == 1 ? "none"
                                                : std::to_string(*s.round); }},
    {"allocation",
     [](Spec& s, std::string_view v) {
       require_name(allocations(), "allocation", v, "--allocation", kAllocationsToCome);
       s.allocation = v;
     },
     [](const Spec& s) { return s.allocation; }},
    {"scale",
     [](Spec& s, std::string_view v) {
       require_name(scales(), "scale", v, "--scale");
       s.scale = v;
     },
     [](const Spec& s) { return s.scale; }},
    {"norm",
     [](Spec& s, std::string_view v) {
       if (v != "l1" && v != "l2") usage_error(fmt::format("no norm is called '{}'", v), "--norm", "l1 or l2");
       s.norm = v;
     },
     [](const Spec& s) { return s.norm == Spec().norm ? "" : s.norm; }},
    {"dropout", [](Spec& s, std::string_view v) { s.dropout = v; }, [](const Spec& s) { return s.dropout; }},
    {"seed",
     [](Spec& s, std::string_view v) {
       const auto seed = parse_int(v);
       if (!seed || *seed < 0) usage_error(fmt::format("'{}' is no seed", v), "--seed", "a whole number from 0 on");
       s.seed = static_cast<uint64_t>(*seed);
     },
     [](const Spec& s) { return s.method == "random" || s.method == kDropout ? std::to_string(s.seed) : ""; }},
    {"stages",
     [](Spec& s, std::string_view v) {
       const auto stages = parse_int(v);
       if (!stages || *stages < 1)
         usage_error(fmt::format("'{}' is no number of stages", v), "--stages", "a whole number from 1 on");
       s.stages = *stages;
     },
     [](const Spec& s) { return s.stages == 0 ? "" : std::to_string(s.stages); }},
    {"iterations",
     [](Spec& s, std::string_view v) {
       const auto iterations = parse_int(v);
       if (!iterations || *iterations < 1)
         usage_error(fmt::format("'{}' is no number of iterations", v), "--iterations", "a whole number from 1 on");
       s.iterations = *iterations;
     },
     [](const Spec& s) { return s.iterations == 1 ? "" : std::to_string(s.iterations); }},
    {"recover",
     [](Spec& s, std::string_view v) {
       for (const std::string& how : spec_pieces(v, ',')) {
         if (how != "none" && how != "lstsq" && how != "bn")
           usage_error(fmt::format("no recovery is called '{}'", how), "--recover", "none, lstsq or bn");
         s.fit = s.fit || how == "lstsq";
         s.statistics = s.statistics || how == "bn";
       }
     },
     [](const Spec& s) {
       return std::string(s.fit ? s.statistics ? "lstsq,bn" : "lstsq" : s.statistics ? "bn" : "");
     }},
    {"only", [](Spec& s, std::string_view v) { add_globs(v, s.only); },
     [](const Spec& s) { return print_globs(s.only); }},
    {"skip", [](Spec& s, std::string_view v) { add_globs(v, s.skip); },
     [](const Spec& s) { return print_globs(s.skip); }},
};

void parse_part(std::string_view text, Spec& spec) {
  const size_t equals = text.find('=');
  const std::string_view key = text.substr(0, equals);
  const Part* part = find_named(std::span<const Part>(kParts), key);
  if (part && equals != std::string_view::npos) return part->parse(spec, text.substr(equals + 1));
  std::vector<std::string> names;
  for (const Part& one : kParts) names.emplace_back(one.name);
  usage_error(fmt::format("'{}' is no part of a pruning", text), {}, suggestion(key, names));
}

std::vector<std::string> names_of(Kind kind) {
  std::vector<std::string> names;
  for (const GranularityRow& row : granularities())
    if (row.kind == kind) names.emplace_back(row.name);
  return names;
}

/// A pattern says by itself how much goes.
void check_pattern(const Spec& spec) {
  const Granularity& g = spec.granularity;
  const double share = 1 - static_cast<double>(g.keep) / static_cast<double>(g.of);
  if (spec.threshold)
    usage_error(fmt::format("{} says how much goes, and takes no threshold", to_string(g)), "--threshold");
  if (spec.sparsity && *spec.sparsity != share)
    usage_error(fmt::format("{} means a sparsity of {}", to_string(g), share), "--sparsity", "leave it out");
  if (!spec.allocation.empty() && spec.allocation != "uniform")
    usage_error(fmt::format("{} means the same share of every layer", to_string(g)), "--allocation", "leave it out");
}

bool trains(const Spec& spec) { return spec.method == kRegularization || spec.method == kDropout; }

/// Channels are scored in a way of their own: by the norms of all weights that have a part of them.
void check_structure(const Spec& spec) {
  const std::string& name = spec.granularity.name;
  if (name != "channel" && name != "head")
    unsupported_error(fmt::format("the granularity '{}' is not supported yet", name), "--granularity",
                      "channel or head, or one of " + join(names_of(Kind::kMask), ", "));
  const std::string_view known[] = {"magnitude", "random", kRegularization, kDropout, "taylor", "fisher"};
  if (std::find(std::begin(known), std::end(known), spec.method) == std::end(known) &&
      find_criterion(spec.method).score)
    unsupported_error(fmt::format("channels by {} are not supported yet", spec.method), "--method",
                      fmt::format("one of {}", fmt::join(known, ", ")));
  if (!spec.allocation.empty() && spec.allocation != "uniform" && spec.allocation != "global")
    unsupported_error(fmt::format("channels by the allocation '{}' are not supported yet", spec.allocation),
                      "--allocation", "uniform or global");
  if (!spec.scale.empty())
    usage_error("scores of channels are relative to the mean of their group", "--scale", "leave it out");
}

/// A penalty pulls, and a dropout drops, a share of weights or of channels.
void check_training(const Spec& spec) {
  if (!spec.sparsity) usage_error("it is trained until a share is not needed", "--sparsity", "give one, as in 0.5");
  if (spec.granularity.kind() == Kind::kMask && spec.granularity.name != "element")
    unsupported_error(fmt::format("{} by {} are not supported yet", to_string(spec.granularity), spec.method),
                      "--granularity", "element, channel or head");
  if (spec.method == kDropout) find_dropout(spec.dropout, spec.granularity);
  if (spec.fit || spec.statistics) usage_error("what was trained needs no fit", "--recover", "leave lstsq and bn out");
}

}  // namespace

double parse_share(std::string_view text, const std::string& where) {
  const bool percent = ends_with(text, "%");
  auto share = parse_double(percent ? text.substr(0, text.size() - 1) : text);
  if (share && percent) *share /= 100;
  if (!share || !(*share >= 0 && *share <= 1))
    usage_error(fmt::format("'{}' is no share", text), where, "from 0 to 1, or in percent, as in 0.5 or 50%");
  return *share;
}

Spec parse_spec(std::string_view text) {
  const size_t colon = text.find(':');
  Spec spec;
  spec.method = find_criterion(text.substr(0, colon)).name;
  if (colon != std::string_view::npos)
    for (const std::string& part : spec_pieces(text.substr(colon + 1), ';')) parse_part(part, spec);
  return spec;
}

std::string to_string(const Spec& spec) {
  std::vector<std::string> parts;
  for (const Part& part : kParts) {
    const std::string value = part.print(spec);
    if (!value.empty()) parts.push_back(fmt::format("{}={}", part.name, value));
  }
  return spec.method + ":" + join(parts, ";");
}

void check(const Spec& spec) {
  const bool structure = spec.granularity.kind() == Kind::kStructure;
  if (trains(spec)) check_training(spec);
  if (spec.method != kDropout && !spec.dropout.empty())
    usage_error(fmt::format("{} drops nothing", spec.method), "--drop", "use --method dropout");
  if (structure) check_structure(spec);
  if (!structure && spec.flops)
    usage_error(fmt::format("zeros save no FLOPs: {} leaves shapes as they are", to_string(spec.granularity)),
                "--flops", "use --granularity channel or head");
  if (!structure && !find_criterion(spec.method).score)
    usage_error(fmt::format("{} is of channels, {} are none", spec.method, to_string(spec.granularity)),
                "--granularity", "use --granularity channel");
  if (!structure && spec.round)
    usage_error("there are no widths to round where shapes stay as they are", "--round", "leave it out");
  if (spec.iterations > 1 && (structure || spec.granularity.pattern() || spec.threshold))
    unsupported_error(fmt::format("{} in iterations is not supported", to_string(spec.granularity)), "--iterations",
                      "give element, block or kernel, and --sparsity");
  if (spec.granularity.pattern()) return check_pattern(spec);
  if (find_criterion(spec.method).prune && spec.granularity.name != "element")
    unsupported_error(fmt::format("{} by {} is not supported yet", spec.granularity.name, spec.method), "--granularity",
                      "element or N:M");
  if (find_criterion(spec.method).prune && spec.threshold)
    usage_error(fmt::format("{} takes no threshold", spec.method), "--threshold", "give --sparsity");
  const int targets = spec.sparsity.has_value() + spec.threshold.has_value() + spec.flops.has_value();
  if (targets > 1)
    usage_error("a sparsity, a threshold and a share of FLOPs say different things",
                spec.threshold ? "--threshold" : "--flops", "leave all but one out");
  if (targets == 0)
    usage_error("how much to remove is not said", "--sparsity",
                structure ? "add --sparsity 0.3, or --flops 50%" : "add --sparsity 0.5, or --threshold T");
  if (spec.threshold && !spec.allocation.empty())
    usage_error("a threshold is the same for all layers", "--allocation", "leave it out");
}

}  // namespace mlopt::prune
