#include "core/train/agreement.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/ir/dump.h"

namespace mlopt::train {
namespace {

void add(Hash& hash, std::string_view text) { hash.add(std::as_bytes(std::span(text))); }
void add(Hash& hash, const Tensor& value) { hash.add({value.raw(), value.bytes()}); }

}  // namespace

std::string digest_of(const TrainingGraphs& graphs, std::string_view rest) {
  Hash hash;
  add(hash, rest);
  for (const Model* model : {&graphs.gradients, &graphs.update}) {
    add(hash, dump(*model->graph));
    for (const Value* v : model->graph->initializers())
      if (v->constant->dtype() != DType::kString) add(hash, *v->constant);
  }
  for (const std::string& name : kept_names(graphs)) add(hash, graphs.state->at(name));
  return hash.digest();
}

void require_agreement(Communicator& ranks, std::string_view mine, const std::string& what, const std::string& fix) {
  const std::vector<std::string> all = gather(ranks, mine);
  std::vector<std::string> others;
  for (size_t r = 1; r < all.size(); ++r)
    if (all[r] != all[0]) others.push_back(std::to_string(r));
  if (others.empty()) return;
  input_error(what, fmt::format("rank{} {} against rank 0", others.size() > 1 ? "s" : "", join(others, ", ")), fix);
}

void share_standing(Communicator& ranks, const TrainingGraphs& graphs, Standing& standing) {
  if (ranks.size() == 1) return;
  double numbers[] = {static_cast<double>(standing.steps),
                      standing.slower,
                      standing.scale.value,
                      static_cast<double>(standing.scale.good),
                      static_cast<double>(standing.scale.skipped),
                      standing.best.score.value_or(0),
                      standing.best.score ? 1.0 : 0.0,
                      static_cast<double>(standing.best.epochs_since)};
  ranks.wait(ranks.begin_broadcast(std::as_writable_bytes(std::span(numbers))));
  standing.steps = static_cast<int64_t>(numbers[0]);
  standing.slower = numbers[1];
  standing.scale = {numbers[2], static_cast<int64_t>(numbers[3]), static_cast<int64_t>(numbers[4])};
  if (numbers[6] != 0) standing.best.score = numbers[5];
  standing.best.epochs_since = static_cast<int64_t>(numbers[7]);
  for (const std::string& name : kept_names(graphs))
    ranks.wait(ranks.begin_broadcast({graphs.state->bytes(name), graphs.state->at(name).bytes()}));
}

}  // namespace mlopt::train
