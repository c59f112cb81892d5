#include "graphopt/pipelines.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "graphopt/aliases.h"
#include "graphopt/declared_types.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

void require_known(const std::vector<std::string>& globs, const std::vector<const Pass*>& all) {
  std::vector<std::string> names;
  for (const Pass* pass : all) names.emplace_back(pass->name);
  for (const std::string& glob : globs)
    if (std::none_of(names.begin(), names.end(), [&](const std::string& name) { return glob_match(glob, name); }))
      usage_error(fmt::format("no pass is called '{}'", glob), {}, suggestion(glob, names));
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
    if (added_ && std::none_of(nodes.begin(), nodes.end(), [](const Node* n) { return n->domain == kDomain; }))
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
    const std::vector<std::string> passes = passes_of_alias(glob);
    all.insert(all.end(), passes.begin(), passes.end());
    if (passes.empty()) all.push_back(glob);
  }
  return all;
}

}  // namespace

std::map<std::string, PassTally> fuse(Model& model, const PassContext& context, const PassSelection& selection) {
  const std::vector<const Pass*> all = all_passes();
  const std::vector<std::string> passes = in_our_names(selection.passes), no_passes = in_our_names(selection.no_passes);
  require_known(passes, all);
  require_known(no_passes, all);
  std::vector<const Pass*> chosen, recognizing;
  const size_t first = recognizing_passes().size();
  for (size_t i = 0; i < all.size(); ++i) {
    if ((!passes.empty() && !glob_any(passes, all[i]->name)) || glob_any(no_passes, all[i]->name)) continue;
    chosen.push_back(all[i]);
    if (i < first) recognizing.push_back(all[i]);
  }
  PassContext limited = context;
  if (!limited.constant_limit) limited.constant_limit = constant_bytes(model) + context.fold_bytes;
  const ContribImport contrib(model, context.target);
  const DeclaredTypes declared(model);
  limited.keep_outputs = false;
  infer(model, context.standard_types, false);
  const auto early = run_passes(model, recognizing, limited);
  auto tallies = run_passes(model, chosen, limited);
  for (const auto& [name, tally] : early) tallies[name].applied += tally.applied;
  declared.restore(model);
  contrib.settle();
  allow_constants_in_bodies(model);
  return tallies;
}

void prepare(Model& model, const PassContext& context) { fuse(model, context, {{}, {"inputs_to_initializers"}}); }

}  // namespace mlopt::graphopt
