#include "prune/schedules/trained_masks.h"

#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "prune/prune.h"
#include "tests/support/catch.h"
#include "tests/support/sparse_training.h"

namespace mlopt::test {
namespace {

constexpr size_t kInputs = 6, kNeurons = 16;

prune::ScheduleSetting setting_of(const Net& net, const prune::Spec& spec) {
  return {net.model, spec, SparseTraining::kSteps,
          [](const Model& now, const prune::Spec& part, const prune::Movements*) {
            prune::Means means;
            means.cut = false;
            return std::move(prune::prune(now, part, means).model);
          }};
}

SparseTraining train_with(const Net& net, const prune::Spec& spec, const train::TrainingHooks& more = {}) {
  prune::ScheduleParts parts = prune::schedule_parts(setting_of(net, spec));
  if (more.before)
    parts.hooks.before = [=, usual = parts.hooks.before](int64_t done, const train::TrainingGraphs& graphs) {
      usual(done, graphs);
      more.before(done, graphs);
    };
  return train_sparse(
      net, [&](train::Recipe& recipe) { recipe.constrain = parts.constrain; }, parts.hooks);
}

/// Neurons that nothing goes into and nothing is read of.
std::vector<size_t> gone(const std::vector<double>& w, const std::vector<double>& v) {
  std::vector<size_t> found;
  for (size_t n = 0; n < kNeurons; ++n) {
    bool zero = v[n] == 0;
    for (size_t i = 0; i < kInputs; ++i) zero = zero && w[i * kNeurons + n] == 0;
    if (zero) found.push_back(n);
  }
  return found;
}

std::vector<size_t> gone(const train::TrainingGraphs& graphs) {
  return gone(to_doubles(graphs.state->at("w")), to_doubles(graphs.state->at("v")));
}

/// The most that stay of four weights of a neuron, one after the other; the last two are in no group of four.
size_t most_of_four(const std::vector<double>& w) {
  size_t most = 0;
  for (size_t n = 0; n < kNeurons; ++n) {
    size_t stay = 0;
    for (size_t i = 0; i < 4; ++i) stay += w[i * kNeurons + n] != 0;
    most = std::max(most, stay);
  }
  return most;
}

}  // namespace

TEST_CASE("channels go gradually, with all that belongs to them, and are then cut out as they are") {
  const prune::Spec spec =
      prune::parse_spec("magnitude:granularity=channel;sparsity=0.5;round=none;schedule=gradual;every=20");
  for (const Net& net : {sparse_network(), normalized_network()}) {
    std::vector<size_t> last;
    std::vector<size_t> counts;
    train::TrainingHooks look;
    look.before = [&](int64_t done, const train::TrainingGraphs& graphs) {
      const std::vector<size_t> now = gone(graphs);
      CHECK(std::includes(now.begin(), now.end(), last.begin(), last.end()));
      if (done % 20 == 0 && done <= 200) counts.push_back(now.size());
      last = now;
    };
    const SparseTraining t = train_with(net, spec, look);
    CHECK(counts.front() == 0);
    CHECK(counts[5] == 7);  // half of the ramp: 7 of 8 eighths
    CHECK(counts.back() == 8);
    CHECK(last.size() == 8);
    Model trained = clone(net.model);
    for (const auto& [name, numbers] : t.at_end) {
      Tensor& tensor = *trained.graph->find(name)->constant;
      tensor = cast(Tensor::of<double>(tensor.dims(), numbers), DType::kF32);
    }
    for (const char* how : {"magnitude:", "random:seed=5;"}) {  // what is zero goes first, whatever the method
      const prune::Pruned cut = prune::prune(
          trained, prune::parse_spec(how + std::string("granularity=channel;sparsity=0.5;round=none")), {});
      const std::vector<double> left = to_doubles(*cut.model.graph->find("v")->constant);
      std::vector<double> wanted = t.at_end.at("v");
      std::erase(wanted, 0.0);
      CHECK(left == wanted);
    }
  }
}

TEST_CASE("lottery finds channels behind a training, and trains the others from the beginning") {
  const Net net = sparse_network();
  const prune::Spec spec = prune::parse_spec("magnitude:granularity=channel;sparsity=0.5;round=none;schedule=lottery");
  const SparseTraining t = train_with(net, spec);
  const SparseTraining dense = train_sparse(net, [](train::Recipe&) {});
  Net now = sparse_network();
  for (const auto& [name, numbers] : dense.at_end) {
    Tensor& tensor = *now.graph().find(name)->constant;
    tensor = cast(Tensor::of<double>(tensor.dims(), numbers), DType::kF32);
  }
  const Model masked = setting_of(now, spec).prune(now.model, spec, nullptr);
  Net ticket = sparse_network();
  for (const char* name : {"w", "v"}) {
    std::vector<double> numbers = to_doubles(*ticket.graph().find(name)->constant);
    const std::vector<double> kept = to_doubles(*masked.graph->find(name)->constant);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = kept[i] == 0 ? 0 : numbers[i];
    Tensor& tensor = *ticket.graph().find(name)->constant;
    tensor = cast(Tensor::of<double>(tensor.dims(), numbers), DType::kF32);
  }
  const SparseTraining again = train_sparse(ticket, [](train::Recipe& recipe) { recipe.keep_zeros = true; });
  CHECK(gone(t.at_end.at("w"), t.at_end.at("v")).size() == 8);
  for (const char* name : {"w", "v", "b"}) CHECK(t.at_end.at(name) == again.at_end.at(name));
}

TEST_CASE("of N:M one weight more of every M goes at a time") {
  const Net net = sparse_network();
  // Of v's 16 inputs 1 of 4 stay in the end; w has 6, which are no multiple of 4, and stays as it is.
  const prune::Spec spec = prune::parse_spec("magnitude:granularity=1:4;schedule=gradual;every=20");
  std::vector<int64_t> zeros_at;
  train::TrainingHooks look;
  look.before = [&](int64_t done, const train::TrainingGraphs& graphs) {
    if (done % 20 != 0 || done > 200) return;
    const std::vector<double> v = to_doubles(graphs.state->at("v"));
    zeros_at.push_back(std::count(v.begin(), v.end(), 0.0));
  };
  const SparseTraining t = train_with(net, spec, look);
  // The cubic's share of three, to the nearest: 0, 0.81, 1.46, 1.97, 2.35, ...
  CHECK(zeros_at == std::vector<int64_t>{0, 4, 4, 8, 8, 12, 12, 12, 12, 12, 12});
  const std::vector<double>& v = t.at_end.at("v");
  for (size_t i = 0; i < 16; i += 4) CHECK(std::count(v.begin() + i, v.begin() + i + 4, 0.0) == 3);
  CHECK(most_of_four(t.at_end.at("w")) == 4);
}

TEST_CASE("weights of float16 go gradually too") {
  Net net = sparse_network();
  for (const char* name : {"w", "v"}) {
    Value* narrow = net.graph().find(name);
    narrow->constant = cast(*narrow->constant, DType::kF16);
    narrow->type.dtype = DType::kF16;
    Node* wide = net.graph().add_op("Cast", {narrow}, {{"to", int64_t{1}, {}}});
    const Use reader = narrow->uses[0];
    net.graph().set_input(reader.node, reader.index, wide->output(0));
  }
  net.graph().sort();
  infer(net.model, standard_types);
  const prune::Spec spec = prune::parse_spec("magnitude:granularity=channel;sparsity=0.5;round=none;schedule=gradual");
  const SparseTraining t = train_with(net, spec);
  CHECK(gone(t.at_end.at("w"), t.at_end.at("v")).size() == 8);
}

TEST_CASE("rounds of N:M end at N") {
  const Net net = sparse_network();
  const prune::Spec spec = prune::parse_spec("magnitude:granularity=2:4;schedule=rate-rewind;iterations=2");
  const SparseTraining t = train_with(net, spec);
  const std::vector<double>& v = t.at_end.at("v");
  for (size_t i = 0; i < 16; i += 4) CHECK(std::count(v.begin() + i, v.begin() + i + 4, 0.0) == 2);
}

}  // namespace mlopt::test
