#include "cli/prune/tokens.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "backends/reference/backend.h"
#include "cli/backends.h"
#include "cli/prune/dynamic.h"
#include "cli/recipes/sparsity.h"
#include "cli/runner.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx/infer.h"
#include "prune/dynamic/token_pruning.h"
#include "prune/structure/tidy.h"

namespace mlopt::cli {
namespace {

constexpr const char* kUsualPlaces = "25%,50%,75%";

class TokenPruning {
 public:
  TokenPruning(const PruneOptions& o, Session& session) : o_(o), session_(session) {}

  void run() {
    const Model source = begin_verb(o_.verb, session_);
    const auto judge = reference_backend();
    std::vector<std::string> warnings;
    model_ = prune::tidied(source, judged_by(*judge), warnings);
    for (const std::string& sentence : warnings) session_.console.warn(sentence);
    macs_before_ = macs(model_);
    choose_places();
    finish_verb(o_.verb, source, result(share(source)), session_);
  }

 private:
  struct Kept {
    std::string value;
    int64_t before = 0, after = 0;
  };

  int64_t macs(const Model& model) const { return prune::macs_of(model, standard_types); }

  /// Those nearest to what --tokens-at says.
  void choose_places() {
    const prune::TokenPlaces found = prune::token_places(model_, standard_types);
    if (found.places.empty()) refuse(found);
    for (const std::string& text : list_items({o_.tokens_at.empty() ? kUsualPlaces : o_.tokens_at})) {
      const double target = prune::parse_share(text, "--tokens-at") * static_cast<double>(macs_before_);
      const auto off = [&](const prune::TokenPlace& p) { return std::abs(static_cast<double>(p.macs) - target); };
      const auto& nearest = *std::min_element(found.places.begin(), found.places.end(),
                                              [&](const auto& a, const auto& b) { return off(a) < off(b); });
      if (std::find(places_.begin(), places_.end(), nearest.value) == places_.end()) places_.push_back(nearest.value);
    }
    std::sort(places_.begin(), places_.end(),
              [&](const std::string& a, const std::string& b) { return index_in(found, a) < index_in(found, b); });
  }

  static size_t index_in(const prune::TokenPlaces& found, const std::string& value) {
    const auto at = std::find_if(found.places.begin(), found.places.end(),
                                 [&](const prune::TokenPlace& p) { return p.value == value; });
    return static_cast<size_t>(at - found.places.begin());
  }

  [[noreturn]] void refuse(const prune::TokenPlaces& found) const {
    constexpr size_t kShown = 3;
    std::vector<std::string> reasons;
    for (const auto& [node, why] : found.left)
      if (reasons.size() < kShown) reasons.push_back(fmt::format("{}: {}", node, why));
    if (reasons.empty())
      unsupported_error("no attention between a known number of tokens is spelled out in the model", o_.verb.model,
                        "a Softmax of [..., tokens, tokens] that is multiplied by what came of them is looked for");
    unsupported_error(fmt::format("no tokens can be left out ({})", fmt::join(reasons, "; ")), o_.verb.model,
                      "encoders whose last layers give the mean of tokens, or the first alone, can do with fewer");
  }

  /// The model in which the share of the tokens is gone behind the last place, as many of those left at each.
  Model pruned(double share) {
    Model made = clone(model_);
    kept_.clear();
    double count = 0;
    for (const std::string& value : places_) {
      if (!kept_.empty() && kept_.back().after == 1) break;  // nothing is left to choose
      count += 1;
      const prune::TokenPlaces now = prune::token_places(made, standard_types);
      const size_t at = index_in(now, value);
      if (at == now.places.size())
        unsupported_error("tokens were left out before this place, behind which no more can be", value,
                          "give --tokens-at one place");
      const prune::TokenPlace& place = now.places[at];
      if (kept_.empty()) first_tokens_ = place.tokens;
      const double stay = std::pow(1 - share, count / static_cast<double>(places_.size()));
      const double gone = 1 - stay * static_cast<double>(first_tokens_) / static_cast<double>(place.tokens);
      const int64_t keep = prune::tokens_left(place, gone);
      if (keep < place.tokens) prune::prune_tokens(made, place, keep, standard_types);
      kept_.push_back({value, place.tokens, keep});
    }
    return made;
  }

  double share(const Model& source) {
    if (o_.sparsity == kSearched)
      return search_sparsity(o_.verb, source, session_, [&](double share) { return pruned(share); });
    if (!o_.sparsity.empty()) return prune::parse_share(o_.sparsity, "--sparsity");
    const double wanted = prune::parse_share(o_.flops, "--flops") * static_cast<double>(macs_before_);
    const auto left = [&](double share) { return static_cast<double>(macs(pruned(share))); };
    if (const double least = left(1); least > wanted)
      input_error(fmt::format("with the fewest tokens {:.1f} % of the multiply-accumulates stay",
                              100 * least / static_cast<double>(macs_before_)),
                  "--flops", "give more, or an earlier --tokens-at");
    constexpr int kHalvings = 9;
    double low = 0, high = 1;
    for (int i = 0; i < kHalvings; ++i) (left((low + high) / 2) > wanted ? low : high) = (low + high) / 2;
    return high;
  }

  VerbResult result(double share) {
    VerbResult result;
    result.model = pruned(share);
    result.may_differ = true;
    result.spec = fmt::format("dynamic:granularity=token;sparsity={:.6g};at={}", share, fmt::join(places_, "|"));
    const int64_t after = macs(result.model);
    Table table{"tokens", {"behind", "before", "after"}, {}, 1};
    Json& all = result.changes["places"] = Json::array();
    for (const Kept& kept : kept_) {
      table.rows.push_back({kept.value, std::to_string(kept.before), std::to_string(kept.after)});
      all.push_back(Json::object({{"value", kept.value}, {"before", kept.before}, {"after", kept.after}}));
    }
    session_.report.blocks.emplace_back(std::move(table));
    session_.report.line(
        fmt::format("multiply-accumulates of a sample: {} -> {} on average, as of each ({:.1f} % stay)", macs_before_,
                    after, 100 * static_cast<double>(after) / static_cast<double>(std::max<int64_t>(1, macs_before_))));
    result.changes["macs_before"] = macs_before_;
    result.changes["macs_average"] = after;
    return result;
  }

  const PruneOptions& o_;
  Session& session_;
  Model model_;
  int64_t macs_before_ = 0, first_tokens_ = 0;
  std::vector<std::string> places_;
  std::vector<Kept> kept_;
};

void check(const PruneOptions& o) {
  refuse_static_options(o, "the choice of tokens");
  for (const auto& [name, given] : {std::pair{"--threshold", &o.threshold}, std::pair{"--exit-at", &o.exit_at}})
    if (!given->empty()) usage_error("the choice of tokens has no such option", name, "leave it out");
  if (o.sparsity.empty() == o.flops.empty())
    usage_error(o.sparsity.empty() ? "how many tokens go is not said" : "a share of tokens and one of FLOPs differ",
                o.sparsity.empty() ? "--sparsity" : "--flops", "give --sparsity 0.5, or --flops 60%");
  if (o.sparsity == kSearched) check_search(o.verb, true);
}

}  // namespace

void prune_tokens_at_run_time(const PruneOptions& o, Session& session) {
  check(o);
  TokenPruning(o, session).run();
}

}  // namespace mlopt::cli
