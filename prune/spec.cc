#include "prune/spec.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/globs.h"
#include "core/base/named.h"
#include "core/base/text.h"
#include "prune/allocations.h"
#include "prune/criteria.h"
#include "prune/dropouts.h"
#include "prune/scales.h"
#include "prune/schedules.h"

namespace mlopt::prune {
namespace {

/// A part of a spec: read from the text behind its '=', and printed, or left out where it says nothing.
struct Part {
  std::string_view name;
  void (*parse)(Spec& spec, std::string_view value);
  std::string (*print)(const Spec& spec);
};

int64_t parse_count(std::string_view text, std::string_view what, const std::string& where, int64_t least) {
  const auto count = parse_int(text);
  if (!count || *count < least)
    usage_error(fmt::format("'{}' is no {}", text, what), where, fmt::format("a whole number from {} on", least));
  return *count;
}

/// "0.6x" is the same as "0.6" and "60%".
double parse_time(std::string_view text) {
  const std::string_view digits = text.ends_with("x") ? text.substr(0, text.size() - 1) : text;
  const auto share = digits.ends_with("%") ? std::nullopt : parse_double(digits);
  if (!share && !digits.ends_with("%"))
    usage_error(fmt::format("'{}' is no share of the time of a run", text), "--latency", "from 0 to 1, as in 0.6x");
  return parse_share(digits, "--latency");
}

std::string number(const std::optional<double>& x) { return x ? fmt::format("{}", *x) : ""; }

int64_t parse_round(std::string_view text) {
  if (text == "auto") return kAutoRound;
  const auto multiple = text == "none" ? std::optional<int64_t>(1) : parse_int(text);
  if (!multiple || *multiple < 1)
    usage_error(fmt::format("'{}' is nothing to round widths to", text), "--round", "8, 16, auto or none");
  return *multiple;
}

/// "layer=0.5|other=0.25"
void parse_shares(Spec& spec, std::string_view text) {
  std::vector<std::string> parts;
  add_globs(text, parts);
  for (const std::string& part : parts) {
    const size_t equals = part.rfind('=');
    if (equals == std::string::npos)
      usage_error(fmt::format("'{}' is no share of a layer", part), "shares", "name=share, as in conv1=0.5");
    spec.shares.emplace_back(part.substr(0, equals), parse_share(part.substr(equals + 1), "shares"));
  }
}
std::string print_shares(const Spec& spec) {
  std::vector<std::string> parts;
  for (const auto& [name, share] : spec.shares) parts.push_back(fmt::format("{}={}", name, share));
  return print_globs(parts);
}

std::string print_round(const std::optional<int64_t>& round) {
  if (!round) return "";
  if (round == kAutoRound) return "auto";
  return *round == 1 ? "none" : std::to_string(*round);
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
    {"latency", [](Spec& s, std::string_view v) { s.latency = parse_time(v); },
     [](const Spec& s) { return number(s.latency); }},
    {"shares", parse_shares, print_shares},
    {"round", [](Spec& s, std::string_view v) { s.round = parse_round(v); },
     [](const Spec& s) { return print_round(s.round); }},
    {"allocation",
     [](Spec& s, std::string_view v) {
       require_named(allocations(), v, "allocation", "--allocation");
       s.allocation = v;
     },
     [](const Spec& s) { return s.allocation; }},
    {"episodes",
     [](Spec& s, std::string_view v) { s.episodes = parse_count(v, "number of episodes", "--episodes", 1); },
     [](const Spec& s) { return s.episodes == 0 ? "" : std::to_string(s.episodes); }},
    {"scale",
     [](Spec& s, std::string_view v) {
       require_named(scales(), v, "scale", "--scale");
       s.scale = v;
     },
     [](const Spec& s) { return s.scale; }},
    {"norm",
     [](Spec& s, std::string_view v) {
       if (v != "l1" && v != "l2") usage_error(fmt::format("no norm is called '{}'", v), "--norm", "l1 or l2");
       s.norm = v;
     },
     [](const Spec& s) { return s.norm == Spec().norm ? "" : s.norm; }},
    {"schedule",
     [](Spec& s, std::string_view v) {
       require_named(schedules(), v, "schedule", "--prune-schedule");
       s.schedule = v;
     },
     [](const Spec& s) { return s.schedule; }},
    {"every", [](Spec& s, std::string_view v) { s.every = parse_count(v, "number of updates", "--prune-every", 1); },
     [](const Spec& s) { return s.every == 0 ? "" : std::to_string(s.every); }},
    {"rewind", [](Spec& s, std::string_view v) { s.rewind = parse_count(v, "number of updates", "--rewind-to", 0); },
     [](const Spec& s) { return s.rewind == 0 ? "" : std::to_string(s.rewind); }},
    {"penalty", [](Spec& s, std::string_view v) { s.penalty = v; }, [](const Spec& s) { return s.penalty; }},
    {"dropout", [](Spec& s, std::string_view v) { s.dropout = v; }, [](const Spec& s) { return s.dropout; }},
    {"seed",
     [](Spec& s, std::string_view v) {
       const auto seed = parse_int(v);
       if (!seed || *seed < 0) usage_error(fmt::format("'{}' is no seed", v), "--seed", "a whole number from 0 on");
       s.seed = static_cast<uint64_t>(*seed);
     },
     [](const Spec& s) {
       const bool drawn = s.method == "random" || s.method == kDropout || s.penalty == "l0";
       return drawn ? std::to_string(s.seed) : "";
     }},
    {"stages", [](Spec& s, std::string_view v) { s.stages = parse_count(v, "number of stages", "--stages", 1); },
     [](const Spec& s) { return s.stages == 0 ? "" : std::to_string(s.stages); }},
    {"iterations",
     [](Spec& s, std::string_view v) { s.iterations = parse_count(v, "number of iterations", "--iterations", 1); },
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

}  // namespace

double parse_share(std::string_view text, const std::string& where) {
  const bool percent = text.ends_with("%");
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

}  // namespace mlopt::prune
