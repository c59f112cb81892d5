#include "distill/objective.h"

#include <cmath>

#include "backends/reference/backend.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

/// Class scores x w of four numbers, through a hidden tensor "h" of `width`.
Net classifier(int64_t width, uint64_t seed) {
  Net net;
  Graph& graph = net.graph();
  Value* x = net.input({4, 4});
  Value* h = net.op("MatMul", {x, graph.add_constant("w1", uniform({4, width}, -1, 1, DType::kF32, seed))});
  graph.rename(h, "h");
  Value* out = net.op(
      "MatMul", {net.op("Relu", {h}), graph.add_constant("w2", uniform({width, 3}, -1, 1, DType::kF32, seed + 1))});
  graph.rename(out, "scores");
  net.output(out);
  infer(net.model, standard_types);
  return net;
}

train::Recipe recipe() {
  train::Recipe r;
  r.loss = train::find_loss("cross-entropy");
  r.optimizer = train::find_optimizer("sgd");
  return r;
}

distill::Settings usual() {
  distill::Settings s;
  s.alpha = 0.75;
  s.hard = train::find_loss("cross-entropy");
  return s;
}

const std::vector<Dims> kDims = {{4, 4}};

distill::Wiring wired(const Model& student, const std::vector<const Model*>& teachers,
                      const distill::Settings& settings) {
  std::vector<distill::Teacher> made;
  for (const Model* t : teachers) made.push_back(distill::make_teacher(*t, student, kDims, standard_types));
  distill::Wiring wiring = distill::wire(student, std::move(made), kDims, settings, standard_types);
  const auto judge = reference_backend();
  PassContext context;
  context.judge = judge.get();
  context.standard_types = standard_types;
  for (distill::Teacher& t : wiring.teachers) distill::tap(t, context);
  return wiring;
}

struct Found {
  double loss = 0;
  std::vector<double> gradient;  ///< of w2
  std::vector<std::string> parameters;
};

Found found(const Model& student, const distill::Wiring& wiring, const distill::Settings& settings, bool fast,
            std::vector<Datum> cached = {}) {
  train::Recipe r = recipe();
  const distill::ObjectiveSettings how{settings.hard, settings.temperature, 1, !cached.empty()};
  r.objective = [&](train::LossArgs& args) { return distill::objective(args, wiring, how); };
  const train::TrainingGraphs graphs = train::make_graphs(student, kDims, r, standard_types);
  CompileOptions options;
  options.state = graphs.state;
  options.updates = graphs.gradient_updates;
  const auto backend = fast ? cpu_with_fallback() : reference_backend();
  std::vector<Datum> inputs = {uniform({4, 4}, -1, 1)};
  for (Datum& x : cached) inputs.push_back(std::move(x));
  if (!graphs.labels.empty()) inputs.emplace_back(tensor({4}, {0, 1, 2, 1}, DType::kI64));
  const auto outputs = backend->compile(graphs.gradients, options)->run(inputs);
  return {number_at(outputs.back().tensor(), 0), to_doubles(graphs.state->at("w2/gradient")), graphs.parameters};
}

std::vector<double> outputs_of(const Model& model) {
  const std::vector<Datum> inputs = {uniform({4, 4}, -1, 1)};
  return to_doubles(reference_backend()->compile(model, {})->run(inputs)[0].tensor());
}

double share(const double* row, int k, double temperature) {
  double sum = 0;
  for (int j = 0; j < 3; ++j) sum += std::exp(row[j] / temperature);
  return std::exp(row[k] / temperature) / sum;
}

/// alpha T^2 KL(teacher | student) + (1 - alpha) cross-entropy, the divergence averaged over the teachers.
double by_hand(const Model& student, const std::vector<const Model*>& teachers, double alpha) {
  constexpr double kT = 4;
  const int labels[] = {0, 1, 2, 1};
  const std::vector<double> own = outputs_of(student);
  double loss = 0;
  for (const Model* teacher : teachers) {
    const std::vector<double> theirs = outputs_of(*teacher);
    for (size_t i = 0; i < 12; ++i) {
      const double *p = &theirs[i - i % 3], *q = &own[i - i % 3];
      const int k = static_cast<int>(i % 3);
      loss += alpha * kT * kT / 4 / static_cast<double>(teachers.size()) * share(p, k, kT) *
              std::log(share(p, k, kT) / share(q, k, kT));
    }
  }
  for (size_t i = 0; i < 4; ++i) loss -= (1 - alpha) / 4 * std::log(share(&own[3 * i], labels[i], 1));
  return loss;
}

}  // namespace

TEST_CASE("the loss is the weighted sum of what the teachers and the labels say") {
  const Net student = classifier(2, 1), teacher = classifier(6, 5), other = classifier(3, 9);
  for (const std::vector<const Model*>& teachers :
       {std::vector{&teacher.model}, std::vector{&teacher.model, &other.model}}) {
    const distill::Wiring wiring = wired(student.model, teachers, usual());
    const Found plain = found(student.model, wiring, usual(), false),
                fast = found(student.model, wiring, usual(), true);
    const double expected = by_hand(student.model, teachers, 0.75);
    CHECK(plain.loss == Approx(expected).epsilon(1e-5));
    CHECK(fast.loss == Approx(expected).epsilon(1e-5));
    CHECK(plain.parameters.size() == 2);  // the student's, none of the teachers'
    for (size_t i = 0; i < 6; ++i) {
      Net moved = classifier(2, 1);
      Tensor& w = *moved.graph().find("w2")->constant;
      const auto at = [&](double step) {
        w = uniform({2, 3}, -1, 1, DType::kF32, 2);
        w.mutable_data<float>()[i] += static_cast<float>(step);
        return by_hand(moved.model, teachers, 0.75);
      };
      const double numeric = (at(1e-2) - at(-1e-2)) / 2e-2;
      CHECK(plain.gradient[i] == Approx(numeric).epsilon(1e-3).margin(1e-4));
      CHECK(fast.gradient[i] == Approx(plain.gradient[i]).epsilon(1e-4).margin(1e-6));
    }
  }
}

TEST_CASE("without labels, and from what was kept of the teacher, the loss is the same") {
  const Net student = classifier(2, 1), teacher = classifier(6, 5);
  distill::Settings settings = usual();
  settings.hard = nullptr;
  settings.alpha = 1;
  const distill::Wiring wiring = wired(student.model, {&teacher.model}, settings);
  const Found live = found(student.model, wiring, settings, false);
  CHECK(live.loss == Approx(by_hand(student.model, {&teacher.model}, 1)).epsilon(1e-5));
  const std::vector<double> kept = outputs_of(teacher.model);
  const Found cached = found(student.model, wiring, settings, false, {tensor({4, 3}, kept)});
  CHECK(cached.loss == Approx(live.loss).epsilon(1e-6));
  for (size_t i = 0; i < 6; ++i) CHECK(cached.gradient[i] == Approx(live.gradient[i]).epsilon(1e-5));
}

TEST_CASE("named tensors follow through layers that are learned and left behind") {
  Net student = classifier(2, 1);
  const Net teacher = classifier(6, 5);
  distill::Settings settings = usual();
  settings.matches = {distill::parse_match("t=h,loss=hint,w=0.5")};
  const distill::Wiring wiring = wired(student.model, {&teacher.model}, settings);
  CHECK(distill::in_words(wiring) == "hint 0.5 + kl 0.75 + hard 0.25");
  const Found f = found(student.model, wiring, settings, false);
  CHECK(f.loss > by_hand(student.model, {&teacher.model}, 0.75));
  CHECK(f.parameters == std::vector<std::string>{"w1", "w2", "distill/projection"});
}

TEST_CASE("a pair that does not fit is called by the names that the models have") {
  const Net student = classifier(2, 1), teacher = classifier(6, 5);
  distill::Settings settings = usual();
  settings.matches = {distill::parse_match("t=h,loss=mse")};
  const distill::Wiring wiring = wired(student.model, {&teacher.model}, settings);
  const Error error = thrown_by([&] { found(student.model, wiring, settings, false); });
  INFO(error.where);
  CHECK(error.where == "'h' and the teacher's 'h'");
}

TEST_CASE("a teacher normalizes by its running statistics while the student does by its batch") {
  const auto normalized = [](uint64_t seed) {
    Net net;
    Graph& graph = net.graph();
    const auto weights = [&](const char* name, Dims dims, double low) {
      return graph.add_constant(name, uniform(dims, low, 1, DType::kF32, seed));
    };
    Value* x = net.op("Gemm", {net.input({4, 4}), weights("w1", {4, 3}, -1), weights("b", {3}, -1)});
    x = net.op("BatchNormalization", {x, weights("scale", {3}, 0.5), weights("bias", {3}, -1), weights("mean", {3}, -1),
                                      weights("var", {3}, 0.5)});
    net.output(net.op("MatMul", {x, weights("w2", {3, 3}, -1)}));
    infer(net.model, standard_types);
    return net;
  };
  const Net student = normalized(1), teacher = normalized(2);
  distill::Settings settings;
  const distill::Wiring wiring = wired(student.model, {&teacher.model}, settings);
  CHECK(listed_ops(wiring.teachers[0].model).find("BatchNormalization") == std::string::npos);  // folded
  const Found live = found(student.model, wiring, settings, false);
  const Found cached = found(student.model, wiring, settings, false, {tensor({4, 3}, outputs_of(teacher.model))});
  CHECK(live.loss == Approx(cached.loss).epsilon(1e-5));
  CHECK(live.loss > 1e-3);
}

}  // namespace mlopt::test
