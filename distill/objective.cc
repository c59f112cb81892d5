#include "distill/objective.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "distill/ops.h"

namespace mlopt::distill {
namespace {

using Taps = std::vector<std::vector<Value*>>;  // of each teacher

Taps add_taps(train::Builder& build, const Wiring& wiring, bool cached) {
  Taps taps;
  Graph& graph = build.graph();
  for (const Teacher& teacher : wiring.teachers) {
    if (!cached) {
      taps.push_back(graft(build.model(), teacher));
      continue;
    }
    std::vector<Value*> inputs;
    for (const std::string& name : teacher.taps)
      inputs.push_back(graph.add_input(graph.fresh_name("teacher/" + name), teacher.model.graph->find(name)->type));
    taps.push_back(std::move(inputs));
  }
  return taps;
}

Value* converted(train::Builder& build, Value* x, DType type) {
  return x->type.dtype == type ? x : build.op("Cast", {x}, {{"to", static_cast<int64_t>(type), {}}});
}

/// The loss of a term, before its weight. `name` is the teacher's own of what is followed.
Value* loss_of(train::Builder& build, const Term& term, Value* teacher, const std::string& name,
               std::vector<Value*>& learned, const ObjectiveSettings& settings) {
  Value* student = build.graph().find(term.student);
  if (!student)
    input_error("the tensor is computed otherwise in training", fmt::format("'{}'", term.student),
                "follow one before or behind it");
  PairArgs args{build,
                student,
                converted(build, teacher, student->type.dtype),
                settings.temperature,
                learned,
                settings.seed + learned.size(),
                fmt::format("'{}' and the teacher's '{}'", term.student, name)};
  return term.loss->build(args);
}

}  // namespace

train::LossGraph objective(train::LossArgs& args, const Wiring& wiring, const ObjectiveSettings& settings) {
  train::Builder& build = args.build;
  train::LossGraph whole{};
  const Taps taps = add_taps(build, wiring, settings.cached);
  const auto add = [&](Value* loss, double weight) {
    loss = scaled(build, loss, weight);
    whole.loss = whole.loss ? build.op("Add", {whole.loss, loss}) : loss;
  };
  for (const Term& term : wiring.terms)
    add(loss_of(build, term, taps[term.teacher][term.tap], wiring.teachers[term.teacher].taps[term.tap], whole.learned,
                settings),
        term.weight);
  if (wiring.hard_weight > 0) {
    const train::LossGraph hard = settings.hard->build(args);
    whole.labels = hard.labels;
    whole.classes = hard.classes;
    whole.within_one = hard.within_one;
    add(hard.loss, wiring.hard_weight);
  }
  return whole;
}

}  // namespace mlopt::distill
