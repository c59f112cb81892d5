#include "graphopt/pipelines.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx/tools.h"
#include "core/rewrite/unknown_sizes.h"
#include "graphopt/aliases.h"
#include "graphopt/declared_types.h"
#include "graphopt/implied_sizes.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

void require_known(const std::vector<std::string>& globs, const std::vector<const Pass*>& all) {
  std::vector<std::string> names;
  for (const Pass* pass : all) names.emplace_back(pass->name);
  for (const std::string& glob : globs) {
    if (std::any_of(names.begin(), names.end(), [&](const std::string& name) { return glob_match(glob, name); }))
      continue;
    const std::vector<std::string> others = aliases();
    names.insert(names.end(), others.begin(), others.end());
    usage_error(fmt::format("no pass is called '{}'", glob), {}, suggestion(glob, names));
  }
}

/// Before IR version 4 an initializer had to be an input too, which a body cannot take.
void allow_constants_in_bodies(Model& model) {
  if (model.ir_version == 0 || model.ir_version >= 4) return;
  for (const Node* node : all_nodes(*model.graph))
    for (const Graph* body : node->bodies())
      if (!body->initializers().empty()) model.ir_version = 4;
}

/// com.microsoft's operators are imported while rules may write them, and afterwards if one did.
class ContribImport {
 public:
  ContribImport(Model& model, Target target)
      : model_(model), added_(target == Target::kOrt && model.opset(kDomain) == 0) {
    if (added_) model.set_opset(kDomain, 1);
  }
  void settle() const {
    const std::vector<Node*> nodes = all_nodes(*model_.graph);
    const auto needs = [&](const Node* n) {
      return n->domain == kDomain || added_to_standard(n->domain, n->op, model_.opset());
    };
    if (added_ && std::none_of(nodes.begin(), nodes.end(), needs))
      std::erase_if(model_.opsets, [](const OpsetImport& o) { return o.domain == kDomain; });
  }

 private:
  static constexpr std::string_view kDomain = "com.microsoft";
  Model& model_;
  bool added_;
};

/// The globs with what names of other optimizers stand for in their place.
std::vector<std::string> in_our_names(const std::vector<std::string>& globs) {
  std::vector<std::string> all;
  for (const std::string& glob : globs) {
    const std::vector<std::string> passes = passes_of_alias(glob).value_or(std::vector{glob});
    all.insert(all.end(), passes.begin(), passes.end());
  }
  return all;
}

using Tallies = std::map<std::string, PassTally>;

/// run_passes() with somebody who looks at every change.
class GuardedPasses {
 public:
  GuardedPasses(Model& model, const PassContext& context, const Guard& guard)
      : model_(model), context_(context), guard_(guard) {}

  Tallies run(const std::vector<const Pass*>& passes) {
    if (!guard_) return run_passes(model_, passes, context_);
    return run_passes(passes, [this](const Pass& pass) { return run(pass); });
  }

 private:
  PassTally run(const Pass& pass) {
    if (broken_.contains(&pass)) return {};
    Model before = clone(model_);
    bool failed = false;
    PassTally tally;
    try {
      tally = run_pass(model_, pass, context_);
    } catch (const Error& e) {
      if (e.code != Code::kInternal) throw;
      failed = true;
    }
    if (!failed && tally.applied == 0) return tally;
    if (guard_(pass, before, failed ? nullptr : &model_, context_)) return tally;
    model_ = std::move(before);
    broken_.insert(&pass);
    return {};
  }

  Model& model_;
  const PassContext& context_;
  const Guard& guard_;
  std::set<const Pass*> broken_;
};

}  // namespace

std::map<std::string, PassTally> fuse(Model& model, const PassContext& context, const PassSelection& selection) {
  const std::vector<const Pass*> all = all_passes();
  const std::vector<std::string> passes = in_our_names(selection.passes), no_passes = in_our_names(selection.no_passes);
  require_known(passes, all);
  require_known(no_passes, all);
  std::vector<const Pass*> chosen, recognizing;
  const size_t first = recognizing_passes().size();
  for (size_t i = 0; i < all.size(); ++i) {
    if ((!selection.passes.empty() && !glob_any(passes, all[i]->name)) || glob_any(no_passes, all[i]->name)) continue;
    const int level = level_of(*all[i]);
    const bool named = std::find(passes.begin(), passes.end(), all[i]->name) != passes.end();
    if (level > selection.level && !(level == kOnRequest && named && selection.level == kLevels)) continue;
    chosen.push_back(all[i]);
    if (i < first) recognizing.push_back(all[i]);
  }
  PassContext limited = context;
  // Operators that only one runtime has are of the last level, whatever pass writes them.
  if (limited.target == Target::kOrt && selection.level < kLevels) limited.target = Target::kOnnx;
  if (!limited.constant_limit) limited.constant_limit = constant_bytes(model) + context.fold_bytes;
  const ContribImport contrib(model, limited.target);
  const DeclaredTypes declared(model);
  limited.keep_outputs = false;
  infer(model, context.standard_types, false);
  const ImpliedSizes implied(model);
  if (implied.any()) {
    const DeclaredTypes forget(model);
    infer(model, context.standard_types, false);
  }
  name_unknown_sizes(model, context.standard_types);
  GuardedPasses guarded(model, limited, selection.guard);
  const Tallies early = guarded.run(recognizing);
  Tallies tallies = guarded.run(chosen);
  for (const auto& [name, tally] : early) tallies[name].applied += tally.applied;
  forget_named_sizes(model);
  implied.restore(model);
  declared.restore(model);
  contrib.settle();
  allow_constants_in_bodies(model);
  return tallies;
}

void prepare(Model& model, const PassContext& context) {
  inline_functions(model);  // says what hinders it, where the pass would leave calls that nothing runs
  fuse(model, context, {{}, {"inputs_to_initializers"}});
}

void prepare_to_quantize(Model& model, const PassContext& context, std::vector<std::string> no_passes) {
  no_passes.insert(no_passes.end(), {"inputs_to_initializers", "fold_identity_into_conv"});
  fuse(model, context, {{}, std::move(no_passes)});
}

}  // namespace mlopt::graphopt
