#include <fmt/core.h>

#include "core/base/error.h"
#include "core/onnx/io.h"
#include "quantize/mixed.h"
#include "quantize/store_weights.h"

namespace mlopt::quantize {
namespace {

struct Room {
  int64_t taken = 0, allowed = 0;
};

Room room_of(const Model& made, const Emitted& done, const Spec& spec, const Means& means, int64_t source_bytes) {
  const Budget& budget = *spec.budget;
  if (budget.kind != Budget::Kind::kBits)
    return {means.file_bytes ? means.file_bytes(made, spec) : written_size(made, "model.onnx"),
            static_cast<int64_t>(budget.kind == Budget::Kind::kShare ? budget.amount * static_cast<double>(source_bytes)
                                                                     : budget.amount)};
  int64_t bytes = 0, elements = 0;
  for (const StoredWeight& w : done.weights) {
    if (w.form == name(Emit::kFake)) continue;  // floats, whatever bits they have the values of
    bytes += w.bytes;
    elements += w.elements;
  }
  return {bytes, static_cast<int64_t>(budget.amount / 8 * static_cast<double>(elements))};
}

}  // namespace

Emitted store_mixed(Model& model, const Spec& spec, const Means& means, int64_t source_bytes) {
  std::vector<Weight> weights;
  for (PlannedWeight& planned : planned_weights(model, spec)) weights.push_back(std::move(planned.weight));
  const MixedPlanner planner(model, weights, spec, means);
  Room room = room_of(model, {}, spec, means, source_bytes);
  // Of what is there now: much of the source may be gone already.
  int64_t limit = spec.budget->kind == Budget::Kind::kBits
                      ? static_cast<int64_t>(spec.budget->amount / 8 * static_cast<double>(planner.elements()))
                      : room.allowed - (room.taken - planner.float_bytes());
  for (int tries = 0;; ++tries) {
    const MixedPlanner::Choice choice = planner.choose(limit);
    Spec planned = spec;
    planned.plan = choice.formats;
    Model made = clone(model);
    Emitted done = store_weights(made, planned, means);
    room = room_of(made, done, spec, means, source_bytes);
    if (room.taken <= room.allowed) {
      model = std::move(made);
      return done;
    }
    if (choice.bytes == planner.least_bytes())
      usage_error(fmt::format("the least that was found takes {} bytes, and {} are allowed", room.taken, room.allowed),
                  to_string(*spec.budget), "allow more, or prune the model first");
    // Nodes, names and blocks that are not full take room too.
    limit = choice.bytes - ((room.taken - room.allowed) << tries);
  }
}

}  // namespace mlopt::quantize
