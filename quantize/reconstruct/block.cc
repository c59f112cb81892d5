#include "quantize/reconstruct/block.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/cast.h"
#include "core/train/graphs.h"
#include "core/train/trainer.h"

namespace mlopt::quantize {
namespace {

constexpr int64_t kSteps = 1000, kLargestBatch = 32, kLeastBatch = 4;
constexpr int64_t kBatchNumbers = int64_t{1} << 20;  // of the largest input or output of a batch
// The paper's rates, of fewer and longer steps; scales move by a twentieth of what weights do.
constexpr double kRate = 0.02, kScaleShare = 0.05;
constexpr double kFree = 0.2, kHardest = 2, kSoftest = 20;  // the penalty's start and powers
constexpr const char *kPower = "brecq/power", *kStrength = "brecq/strength";

std::string weight_variable(size_t k) { return "brecq_weight" + std::to_string(k); }
std::string scale_variable(size_t k) { return "brecq_scale" + std::to_string(k); }

/// The mean of squares of what is off.
double error_of(const Model& part, const BlockData& data, const Runner& runner) {
  const auto plan = runner.backend.compile(part, runner.options);
  double sum = 0, count = 0;
  for (int64_t i = 0; i < data.size(); ++i) {
    const Batch one = data.batch(i, 1);
    const Tensor made = plan->run(one.inputs)[0].tensor();
    const std::vector<float> is = to_floats(made), wanted = to_floats(*one.labels);
    for (size_t k = 0; k < is.size(); ++k) {
      const double off = static_cast<double>(is[k]) - static_cast<double>(wanted[k]);
      sum += off * off;
    }
    count += static_cast<double>(is.size());
  }
  return sum / count;
}

/// The part with the weights' codes as they are, and these logarithms.
Model hardened(const Block& block, const std::map<std::string, Tensor>& scales) {
  Model part = clone(block.part);
  for (const SoftWeight* w : block.weights) part.graph->find(w->name())->constant = w->values();
  for (const auto& [name, log] : scales) part.graph->find(name)->constant = log;
  return part;
}

/// log becomes log + variable * kScaleShare.
void move_scale(Model& part, const std::string& name, const std::string& variable) {
  Graph& graph = *part.graph;
  Value* log = graph.find(name);
  const Type type = Type::tensor(DType::kF32, log->constant->dims());
  Value* learned = graph.add_constant(variable, Tensor::zeros(DType::kF32, log->constant->dims()));
  Value* share = graph.add_constant("brecq/share", Tensor::scalar(static_cast<float>(kScaleShare)));
  const Node* first = graph.next(nullptr);
  Node* moved = graph.add_op("Mul", {learned, share}, {}, first, "brecq/moved");
  Node* sum = graph.add_op("Add", {moved->output(0), log}, {}, first, "brecq/log");
  for (Node* node : {moved, sum}) node->output(0)->type = type;
  const std::vector<Use> uses = log->uses;
  for (const Use& use : uses)
    if (use.node != sum) use.node->graph()->set_input(use.node, use.index, sum->output(0));
}

/// Squared error over `error`, and how far shares are from both ends: the mean of 1 - |2 share - 1|^power.
train::LossGraph objective(train::LossArgs& args, const std::vector<std::string>& shares, double error) {
  train::Builder& b = args.build;
  train::LossGraph loss = train::mse_loss(args);
  const auto scalar = [&](const char* name) { return b.graph().add_input(name, Type::tensor(DType::kF32, Dims{})); };
  Value *power = scalar(kPower), *strength = scalar(kStrength), *sum = nullptr;
  double count = 0;
  for (const std::string& name : shares) {
    Value* share = b.graph().find(name);
    Value* side = b.op("Abs", {b.op("Sub", {b.op("Mul", {share, b.number(2)}), b.number(1)})});
    Value* decided = b.op("ReduceSum", {b.op("Pow", {side, power})}, {{"keepdims", int64_t{0}, {}}});
    sum = sum ? b.op("Add", {sum, decided}) : decided;
    count += static_cast<double>(element_count(train::Builder::dims(share)));
  }
  Value* open = b.op("Sub", {b.number(1), b.op("Mul", {sum, b.number(1 / count)})});
  loss.loss = b.op("Add", {b.op("Mul", {loss.loss, b.number(1 / error)}), b.op("Mul", {open, strength})});
  return loss;
}

/// Items that are stacked for an update: as many as are quick.
int64_t batch_of(const BlockData& data) {
  const Batch one = data.batch(0, 1);
  int64_t largest = one.labels->size();
  for (const Datum& input : one.inputs) {
    largest = std::max(largest, input.tensor().size());
    if (input.tensor().rank() == 0 || input.tensor().dim(0) != 1) return 1;
  }
  if (one.labels->rank() == 0 || one.labels->dim(0) != 1) return 1;
  return std::min(data.size(), std::clamp(kBatchNumbers / std::max<int64_t>(1, largest), kLeastBatch, kLargestBatch));
}

std::vector<Dims> shapes_of(const BlockData& data, int64_t batch) {
  std::vector<Dims> shapes;
  for (const Datum& input : data.batch(0, 1).inputs) {
    shapes.push_back(input.tensor().dims());
    if (!shapes.back().empty()) shapes.back()[0] *= batch;
  }
  return shapes;
}

void train_block(const train::TrainingGraphs& graphs, const BlockData& data, int64_t batch, const Runner& runner) {
  const auto set = [&](const char* name, double value) {
    graphs.state->set(name, Tensor::scalar(static_cast<float>(value)));
  };
  for (const char* name : {kPower, kStrength}) graphs.state->add(name, Tensor::scalar(0.0F));
  train::LoopSettings settings;
  settings.batch = batch;
  settings.schedule = {train::find_schedule("constant"), kRate, kSteps, 0};
  train::Trainer trainer(graphs, data, runner.backend, runner.options, settings);
  for (int64_t i = 0; i < kSteps; ++i) {
    const double progress = static_cast<double>(i) / kSteps;
    set(kStrength, progress < kFree ? 0 : 1);
    set(kPower, kHardest + (kSoftest - kHardest) * (1 - std::max(0.0, progress - kFree) / (1 - kFree)));
    trainer.step();
  }
}

}  // namespace

std::map<std::string, Tensor> learn_block(const Block& block, const BlockData& data, const Runner& runner,
                                          TypeRule types) {
  const double nearest = error_of(hardened(block, {}), data, runner);
  if (!(nearest > 0) || !std::isfinite(nearest)) return {};
  Model soft = clone(block.part);
  std::vector<std::string> shares;
  for (size_t k = 0; k < block.weights.size(); ++k)
    shares.push_back(block.weights[k]->soften(soft, weight_variable(k))->name);
  for (size_t k = 0; k < block.scales.size(); ++k) move_scale(soft, block.scales[k], scale_variable(k));
  train::Recipe recipe;
  recipe.objective = [&](train::LossArgs& args) { return objective(args, shares, nearest); };
  recipe.optimizer = train::find_optimizer("adam");
  recipe.choice.only = {"brecq_*"};
  recipe.output = soft.graph->outputs()[0]->name;
  recipe.train_batch_norm = false;
  const int64_t batch = batch_of(data);
  const train::TrainingGraphs graphs = train::make_graphs(soft, shapes_of(data, batch), recipe, types);
  train_block(graphs, data, batch, runner);

  std::vector<Coded> before;
  for (size_t k = 0; k < block.weights.size(); ++k) {
    before.push_back(block.weights[k]->coded());
    if (graphs.state->has(weight_variable(k))) block.weights[k]->harden(graphs.state->at(weight_variable(k)));
  }
  std::map<std::string, Tensor> scales;
  for (size_t k = 0; k < block.scales.size(); ++k) {
    if (!graphs.state->has(scale_variable(k))) continue;
    std::vector<float> logs = to_floats(*block.part.graph->find(block.scales[k])->constant);
    const std::vector<float> moved = to_floats(graphs.state->at(scale_variable(k)));
    for (size_t i = 0; i < logs.size(); ++i) logs[i] += moved[i] * static_cast<float>(kScaleShare);
    scales.emplace(block.scales[k], Tensor::of<float>(block.part.graph->find(block.scales[k])->constant->dims(), logs));
  }
  if (error_of(hardened(block, scales), data, runner) < nearest) return scales;
  for (size_t k = 0; k < block.weights.size(); ++k) block.weights[k]->set(std::move(before[k]));
  return {};
}

}  // namespace mlopt::quantize
