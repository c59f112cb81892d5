#include "quantize/reconstruct/reconstruct.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "core/base/error.h"
#include "core/calib/stages.h"
#include "core/rewrite/segments.h"
#include "core/tensor/finite.h"
#include "quantize/reconstruct/block.h"

namespace mlopt::quantize {
namespace {

constexpr size_t kMostWeights = 24;  // a part with more is no block, but most of a network

/// A block of the original by the value that it ends with, and its weights.
struct Place {
  std::string end;
  std::vector<SoftWeight*> weights;
};

bool same(const Datum& a, const Datum& b) {
  const Tensor &x = a.tensor(), &y = b.tensor();
  return x.dtype() == y.dtype() && x.dims() == y.dims() && std::memcmp(x.raw(), y.raw(), x.bytes()) == 0;
}

/// Segments with their weights; those without any, activations and the like, belong to the one before.
std::vector<Place> places_of(const Model& model, std::vector<SoftWeight>& weights) {
  std::unordered_map<const Node*, size_t> at;
  for (const Node* node : model.graph->nodes()) at.emplace(node, at.size());
  std::vector<Place> places;
  size_t begin = 0;
  for (const GraphSegment& segment : segments(model)) {
    const size_t end = at.at(segment.end->producer) + 1;
    Place place{segment.end->name, {}};
    for (SoftWeight& w : weights) {
      const std::vector<const Node*>& readers = w.weight().readers;
      const bool inside = std::all_of(readers.begin(), readers.end(), [&](const Node* reader) {
        return reader->graph() == model.graph.get() && at.at(reader) >= begin && at.at(reader) < end;
      });
      if (inside) place.weights.push_back(&w);
    }
    begin = end;
    if (place.weights.empty() && !places.empty())
      places.back().end = place.end;
    else
      places.push_back(std::move(place));
  }
  return places;
}

class Reconstruction {
 public:
  Reconstruction(const Model& original, Model& student, const std::vector<std::string>& logs, const Looking& data,
                 TypeRule types)
      : original_(original),
        student_(student),
        logs_(logs),
        data_(data),
        types_(types),
        wanted_(original, data_),
        given_(student, data_) {}

  Reconstructed run(std::vector<SoftWeight>& weights) {
    const std::vector<Place> places = places_of(original_, weights);
    for (size_t i = 0; i < places.size(); ++i) {
      wanted_.advance(original_, places[i].end);
      given_.limit_batches(wanted_.batches());
      if (!places[i].weights.empty()) try_block(places[i]);
      given_.advance(student_, places[i].end);
      if (data_.progress) data_.progress("reconstructing blocks", static_cast<int64_t>(i) + 1, std::ssize(places));
    }
    for (const SoftWeight& w : weights)
      if (std::find(done_.weights.begin(), done_.weights.end(), w.name()) == done_.weights.end())
        done_.left.emplace(w.name(), "it is in no block");
    return std::move(done_);
  }

 private:
  void try_block(const Place& place) {
    try {
      learn(place);
    } catch (const Error& e) {
      if (e.code != Code::kUnsupported && e.code != Code::kBadInput) throw;
      leave(place, e.message);
    }
  }

  void leave(const Place& place, const std::string& why) {
    for (const SoftWeight* w : place.weights) done_.left.emplace(w->name(), why);
  }

  void learn(const Place& place) {
    if (place.weights.size() > kMostWeights)
      return leave(place, "its block has more weights than are learned together");
    Block block{given_.part(student_, {place.end}), place.weights, {}};
    const std::optional<BlockData> items = items_of(block.part, place.end);
    if (!items) return leave(place, "what its block is given differs in shape, or is the same, in all samples");
    block.scales = scales_of(block.part);
    for (auto& [name, log] : learn_block(block, *items, *data_.runner, types_)) {
      student_.graph->find(name)->constant = log;
      done_.scales.insert_or_assign(name, log);
    }
    for (const SoftWeight* w : place.weights) {
      student_.graph->find(w->name())->constant = w->values();
      done_.weights.push_back(w->name());
    }
    ++done_.blocks;
  }

  /// What is the same in all samples becomes a constant of the part. Nothing where samples cannot be stacked.
  std::optional<BlockData> items_of(Model& part, const std::string& end) {
    Graph& graph = *part.graph;
    std::vector<std::vector<Datum>> inputs;
    const std::vector<Value*> all = graph.inputs();
    for (size_t i = all.size(); i-- > 0;) {
      Value* input = all[i];
      if (input->is_initializer()) continue;
      const std::vector<Datum>& values = given_.of(input->name);
      const auto every = [&](auto holds) { return std::all_of(values.begin(), values.end(), holds); };
      if (!every([](const Datum& v) { return v.is_tensor(); })) return std::nullopt;
      if (every([&](const Datum& v) { return same(v, values[0]); })) {
        graph.replace_uses(input, graph.add_constant(input->name + "/same", values[0].tensor()));
        graph.remove_input(static_cast<int>(i));
        graph.erase(input);
        continue;
      }
      if (!every([](const Datum& v) { return is_finite(v.tensor()); }))
        input_error("what its block is given is not finite");
      if (!every([&](const Datum& v) { return v.tensor().dims() == values[0].tensor().dims(); })) return std::nullopt;
      inputs.insert(inputs.begin(), values);
    }
    if (inputs.empty()) return std::nullopt;
    std::vector<Datum> targets = wanted_.of(end);
    targets.resize(static_cast<size_t>(given_.batches()));
    return BlockData(std::move(inputs), std::move(targets));
  }

  /// Of those that nothing outside the part reads.
  std::vector<std::string> scales_of(const Model& part) const {
    std::vector<std::string> scales;
    for (const std::string& log : logs_) {
      const Value* inside = part.graph->find(log);
      if (inside && inside->uses.size() == student_.graph->find(log)->uses.size()) scales.push_back(log);
    }
    return scales;
  }

  const Model& original_;
  Model& student_;
  const std::vector<std::string>& logs_;
  Looking data_;
  TypeRule types_;
  Stages wanted_, given_;
  Reconstructed done_;
};

}  // namespace

Reconstructed reconstruct(const Model& original, Model& student, std::vector<SoftWeight>& weights,
                          const std::vector<std::string>& logs, const Looking& data, TypeRule types) {
  return Reconstruction(original, student, logs, data, types).run(weights);
}

}  // namespace mlopt::quantize
