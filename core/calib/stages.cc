#include "core/calib/stages.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/calib/parts.h"
#include "core/data/spread.h"

namespace mlopt {
namespace {

int64_t bytes_of(const Datum& value) { return value.is_tensor() ? static_cast<int64_t>(value.tensor().bytes()) : 0; }

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
std::set<std::string> Stages::frontier(const Model& model, const std::string& last) {
  std::set<std::string> names{last};
  if (const Node* next = model.graph->next(model.graph->find(last)->producer))
    for (std::string& name : values_before(model, *next)) names.insert(std::move(name));
  return names;
}

Model Stages::part(const Model& model, const std::vector<std::string>& ends) const {
  std::vector<std::string> from = values();
  std::erase_if(from, [&](const std::string& name) { return std::find(ends.begin(), ends.end(), name) != ends.end(); });
  return part_between(model, from, ends);
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
