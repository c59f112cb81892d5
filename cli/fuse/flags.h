#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/verb/verb.h"
#include "core/rewrite/pass.h"

namespace mlopt::cli {

/// The options of `fuse`.
struct FuseFlags {
  VerbOptions verb;
  std::string fold_limit, part, store, html;
  std::string target;  ///< empty: standard operators, and what runs the source's others is not known
  std::optional<int64_t> opset, batch;
  std::optional<int> level;
  std::optional<Percent> low_rank;
  std::vector<std::string> fixed, dynamic;
  std::vector<std::string> passes, no_passes, only, skip;
  bool list_passes = false, explain = false, paranoid = false, bisect = false, diff = false;
};

/// --extract, --fix and --batch: what is left of the source is what the result is compared with.
void change_source(const FuseFlags& flags, Model& source);

/// Free dimensions of inputs that are most likely equal though nothing says so, as --fix takes them; empty: none.
std::string likely_equal(const Model& source);

/// --dynamic: axes of inputs become free in the source, and targets of Reshape follow. Runs both forms on `judge`, also
/// at another size; throws Error{kUnsupported} where the model does not bear that. Gives what could not be verified.
std::vector<std::string> free_axes(const FuseFlags& flags, Model& source, Backend& judge, const Session& session);

/// --low-rank and --store, once the passes are done: weights in fewer bytes.
void change_weights(const FuseFlags& flags, const PassContext& context, VerbResult& result, Report& report);

}  // namespace mlopt::cli
