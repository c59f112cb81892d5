// Two initializers with the same type, shape and bytes -> one.
#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <tuple>

#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

bool same_bytes(const Tensor& a, const Tensor& b) {
  if (a.dtype() == DType::kString) return a.strings() == b.strings();
  return a.raw() == b.raw() || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

std::string beginning(const Tensor& t) {
  if (t.dtype() == DType::kString) return {};
  return {reinterpret_cast<const char*>(t.raw()), std::min<size_t>(t.bytes(), 64)};
}

void merge(Graph& graph, PassTally& tally) {
  // Tensors that begin alike are compared byte by byte, which mostly ends early: no weight is read in full.
  std::map<std::tuple<DType, Dims, std::string>, std::vector<Value*>> kept;
  for (Value* v : graph.initializers()) {
    if (v->is_input || v->is_output()) continue;
    auto& alike = kept[{v->constant->dtype(), v->constant->dims(), beginning(*v->constant)}];
    const auto twin = std::find_if(alike.begin(), alike.end(),
                                   [&](const Value* k) { return same_bytes(*k->constant, *v->constant); });
    if (twin == alike.end()) {
      alike.push_back(v);
      continue;
    }
    graph.replace_uses(v, *twin);
    graph.erase(v);
    ++tally.applied;
  }
  for (Node* node : graph.nodes())
    for (Graph* body : node->bodies()) merge(*body, tally);
}

void run(Model& model, const PassContext&, PassTally& tally) { merge(*model.graph, tally); }

}  // namespace

const Pass eliminate_duplicate_initializers = {"eliminate_duplicate_initializers", "store equal initializers once",
                                               nullptr, run};

}  // namespace mlopt::graphopt
