#include "core/calib/stages.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/error.h"
#include "core/data/spread.h"
#include "core/rewrite/end_with.h"

namespace mlopt {
namespace {

int64_t bytes_of(const Datum& value) { return value.is_tensor() ? static_cast<int64_t>(value.tensor().bytes()) : 0; }

void remove_idle_inputs(Graph& graph) {
  for (size_t i = graph.inputs().size(); i-- > 0;) {
    Value* input = graph.inputs()[i];
    if (!input->uses.empty() || input->is_output()) continue;
    graph.remove_input(static_cast<int>(i));
    graph.erase(input);
  }
}

}  // namespace

Stages::Stages(const Model& model, const Looking& means, int64_t most_bytes) : means_(means), most_bytes_(most_bytes) {
  const auto data = spread(*means.data, means.samples);
  const int64_t step = std::max<int64_t>(1, data->batch_size());
  int64_t bytes = 0;
  for (; (batches_ + 1) * step <= data->size() && bytes <= most_bytes; ++batches_) {
    Batch batch = data->batch(batches_ * step, step);
    size_t next = 0;
    for (const Value* input : model.graph->inputs()) {
      if (input->is_initializer()) continue;
      bytes += bytes_of(batch.inputs.at(next));
      held_[input->name].push_back(std::move(batch.inputs.at(next++)));
    }
  }
  if (batches_ == 0) input_error("there is no sample to look at", "--data", "give data with at least one sample");
}

std::vector<std::string> Stages::values() const {
  std::vector<std::string> names;
  for (const auto& [name, values] : held_) names.push_back(name);
  return names;
}

void Stages::limit_batches(int64_t most) {
  batches_ = std::min(batches_, most);
  for (auto& [name, values] : held_) values.resize(static_cast<size_t>(batches_));
}

/// What nodes behind `last` read of what those up to it give, and itself.
std::set<std::string> Stages::frontier(const Model& model, const std::string& last) const {
  std::unordered_map<const Node*, size_t> place;
  for (const Node* node : model.graph->nodes()) place.emplace(node, place.size());
  const size_t cut = place.at(model.graph->find(last)->producer);
  const auto read_later = [&](const Value& value) {
    return std::any_of(value.uses.begin(), value.uses.end(), [&](const Use& use) {
      const Node* node = use.node;
      while (node->graph()->owner) node = node->graph()->owner;
      return place.at(node) > cut;
    });
  };
  std::set<std::string> names{last};
  for (const Value* value : model.graph->values()) {
    if (value->known_constant() || value->is_initializer()) continue;
    if (value->producer ? place.at(value->producer) > cut : !value->is_input) continue;
    if (read_later(*value)) names.insert(value->name);
  }
  return names;
}

Model Stages::part(const Model& model, const std::vector<std::string>& ends) const {
  Model part = clone(model);
  Graph& graph = *part.graph;
  for (const auto& [name, values] : held_) {
    Value* value = graph.find(name);
    if (!value->producer) continue;
    if (std::find(ends.begin(), ends.end(), name) != ends.end()) continue;
    graph.rename(value, graph.fresh_name(name));
    graph.replace_uses(value, graph.add_input(name, value->type));
  }
  end_with(part, ends);
  remove_idle_inputs(graph);
  return part;
}

std::vector<Datum> Stages::run(Executable& part, const std::map<std::string, std::vector<Datum>>& held, int64_t batch) {
  std::vector<Datum> inputs;
  for (const std::string& name : part.input_names()) inputs.push_back(held.at(name).at(static_cast<size_t>(batch)));
  return part.run(inputs);
}

void Stages::advance(const Model& model, const std::string& last) {
  const std::set<std::string> wanted = frontier(model, last);
  std::vector<std::string> fresh;
  for (const std::string& name : wanted)
    if (!held_.contains(name)) fresh.push_back(name);
  if (!fresh.empty()) {
    const auto plan = means_.runner->backend.compile(part(model, fresh), means_.runner->options);
    std::map<std::string, std::vector<Datum>> made;
    int64_t bytes = 0, batch = 0;
    for (; batch < batches_ && bytes <= most_bytes_; ++batch) {
      std::vector<Datum> outputs = run(*plan, held_, batch);
      for (size_t i = 0; i < fresh.size(); ++i) {
        const auto at = std::find(plan->output_names().begin(), plan->output_names().end(), fresh[i]);
        Datum& value = outputs.at(static_cast<size_t>(at - plan->output_names().begin()));
        bytes += bytes_of(value);
        made[fresh[i]].push_back(value);
      }
    }
    limit_batches(batch);
    held_.merge(made);
  }
  std::erase_if(held_, [&](const auto& entry) { return !wanted.contains(entry.first); });
}

}  // namespace mlopt
