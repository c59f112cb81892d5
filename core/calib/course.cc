#include "core/calib/course.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/calib/parts.h"

namespace mlopt {
namespace {

using Names = std::vector<std::string>;

bool holds(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Names inputs_of(const Model& model) {
  Names names;
  for (const Value* v : model.graph->inputs())
    if (!v->constant) names.push_back(v->name);
  return names;
}

/// The watched values and the outputs, each once.
Names ends_of(const Model& model, std::span<const std::string> watched) {
  Names names(watched.begin(), watched.end());
  for (const Value* v : model.graph->outputs())
    if (!holds(names, v->name)) names.push_back(v->name);
  return names;
}

}  // namespace

Course::Course(const Model& model, std::span<const std::string> watched, const Runner& runner, const Reached& start)
    : runner_(runner), input_names_(inputs_of(model)), watched_(watched.begin(), watched.end()), reached_(start) {
  const Names ends = ends_of(model, watched);
  rest_ = part_between(model, start.names.empty() ? input_names_ : start.names, ends);
  const Names needed = inputs_of(rest_);
  const bool goes_on =
      std::all_of(needed.begin(), needed.end(), [&](const std::string& name) { return holds(start.names, name); });
  if (start.names.empty() || goes_on) return;
  reached_ = {};
  rest_ = part_between(model, input_names_, ends);
}

int64_t Course::place_of(const std::string& value) const {
  const Value* made = rest_.graph->find(value);
  if (!made || !made->producer) return -1;
  int64_t place = 0;
  for (const Node* node = rest_.graph->next(nullptr); node != made->producer; node = rest_.graph->next(node)) ++place;
  return place;
}

int64_t Course::end() const {
  int64_t last = 0;
  for (const std::string& name : watched_) last = std::max(last, place_of(name) + 1);
  return last;
}

std::set<int64_t> Course::ends_of_parts(int64_t bytes) const {
  const int64_t last = end();
  std::set<int64_t> ends = {last};
  for (const Node* node : part_starts(rest_, bytes)) ends.insert(std::min(last, place_of(node->first_output()->name)));
  return ends;
}

void Course::begin_part(int64_t end, bool goes_on) {
  const std::vector<Node*> nodes = rest_.graph->nodes();
  next_ = {};
  if (goes_on && end < std::ssize(nodes)) next_.names = values_before(rest_, *nodes[static_cast<size_t>(end)]);
  Names wanted = next_.names;
  for (const std::string& name : watched_)
    if (const int64_t place = place_of(name); place >= begin_ && place < end && !holds(wanted, name))
      wanted.push_back(name);
  const Names from = reached_.names.empty() ? input_names_ : reached_.names;
  std::erase_if(wanted, [&](const std::string& name) { return holds(from, name); });
  begin_ = end;
  plan_.reset();
  if (wanted.empty()) return;
  CompileOptions options = runner_.options;
  options.taps = wanted;
  options.taps_unordered = false;  // what the next part reads is kept
  plan_ = runner_.backend.compile(part_between(rest_, from, wanted), options);
}

std::vector<Datum> Course::given_to_part(size_t number, const std::function<Batch()>& batch, const Look& look) const {
  const bool front = reached_.names.empty();
  const std::vector<Datum> values = front ? batch().inputs : reached_.batches.at(number);
  const Names& names = front ? input_names_ : reached_.names;
  if (values.size() != names.size()) internal_error("a batch has other values than the place in the model");
  for (size_t i = 0; i < names.size() && first_; ++i)
    if (holds(watched_, names[i])) look(names[i], values[i]);
  return values;
}

void Course::run(size_t number, const std::function<Batch()>& batch, const Look& look) {
  const std::vector<Datum> values = given_to_part(number, batch, look);
  const Names& names = reached_.names.empty() ? input_names_ : reached_.names;
  const auto value_of = [&](const std::string& name) {
    return values.at(static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
  };
  std::vector<Datum> made;
  if (plan_) {
    std::vector<Datum> given;
    for (const std::string& name : plan_->input_names()) given.push_back(value_of(name));
    RunHooks hooks;
    hooks.on_tap = [&](std::string_view name, const Datum& value) {
      if (holds(watched_, std::string(name))) look(std::string(name), value);
    };
    made = plan_->run(given, hooks);
  }
  std::vector<Datum>& kept = next_.batches.emplace_back();
  for (const std::string& name : next_.names) {
    const Names& outputs = plan_ ? plan_->output_names() : names;
    const auto at = std::find(outputs.begin(), outputs.end(), name);
    const bool is_made = plan_ && at != outputs.end();
    kept.push_back(is_made ? made[static_cast<size_t>(at - outputs.begin())] : value_of(name));
  }
}

const Names& Course::fallback_nodes() const {
  static const Names kNone;
  return plan_ ? plan_->fallback_nodes() : kNone;
}

void Course::end_part() {
  reached_ = std::move(next_);
  first_ = false;
  plan_.reset();
}

}  // namespace mlopt
