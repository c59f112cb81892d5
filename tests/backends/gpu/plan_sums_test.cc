#include "backends/gpu/plan_sums.h"

#include <dlfcn.h>

#include <filesystem>
#include <functional>

#include "backends/gpu/backend.h"
#include "backends/reference/kernels.h"
#include "tests/support/catch.h"
#include "tests/support/line_fit.h"
#include "tests/support/paths.h"
#include "tests/support/ranks.h"

namespace mlopt::test {
namespace {

/// What a rank's thread put in queues, in order. Where `late`, sums wait until another queue waits for theirs: what a
/// step does to them meanwhile is then in them, and what it reads of them is not.
struct Trace {
  enum class What { kStep, kSum, kJoin };
  struct Event {
    What what;
    int64_t number = 0;  ///< of the step
    std::vector<const void*> parts = {};
  };
  std::vector<Event> events;
  bool late = false;
  gpu::Queue* summing = nullptr;
  std::vector<std::function<void()>> waiting;
};
thread_local Trace trace;

void begin_step(gpu::Queue* queue, int64_t step) {
  trace.events.push_back({Trace::What::kStep, step});
  gpu::gpu_interface().begin_step(queue, step);
}

gpu::Status add_up(gpu::Ring* ring, gpu::Queue* queue, const gpu::RingPart* parts, int64_t count) {
  trace.summing = queue;
  Trace::Event event{Trace::What::kSum};
  const std::vector<gpu::RingPart> kept(parts, parts + count);
  for (const gpu::RingPart& part : kept) event.parts.push_back(part.values);
  trace.events.push_back(std::move(event));
  const auto sum = [=] { gpu::gpu_interface().add_up(ring, queue, kept.data(), count); };
  if (!trace.late) return gpu::gpu_interface().add_up(ring, queue, parts, count);
  trace.waiting.emplace_back(sum);
  return nullptr;
}

gpu::Status follow(gpu::Queue* queue, gpu::Queue* other) {
  if (!trace.summing || other != trace.summing || queue == other) return nullptr;
  trace.events.push_back({Trace::What::kJoin});
  for (const auto& sum : trace.waiting) sum();
  trace.waiting.clear();
  return nullptr;
}

const GpuInterface& watched() {
  static const GpuInterface made = [] {
    GpuInterface api = gpu::gpu_interface();
    api.begin_step = begin_step;
    api.add_up = add_up;
    api.follow = follow;
    return api;
  }();
  return made;
}

/// Four layers, the first three with biases: y = tanh(... x v0 + b0 ...) v3.
Net layers() {
  Net net;
  Value* y = net.input({4, 3});
  const Dims sizes = {3, 16, 16, 16, 1};
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    const auto weights = [&](const char* name, Dims dims) {
      return net.graph().add_constant(name + std::to_string(i), uniform(std::move(dims), -1, 1, DType::kF32, i + 1));
    };
    y = net.op("MatMul", {y, weights("v", {sizes[i], sizes[i + 1]})});
    if (i + 2 < sizes.size()) y = net.op("Tanh", {net.op("Add", {y, weights("b", {sizes[i + 1]})})});
  }
  net.output(y);
  infer(net.model, standard_types);
  return net;
}

struct Learned {
  std::vector<double> weights;
  Trace trace;                              ///< of rank 0's last update
  int64_t payload = 0, gradient_bytes = 0;  ///< of rank 0, in all; of an update
};

Learned learn(int count, int64_t accumulate, int64_t bucket_bytes, bool late) {
  const MemoryData data = line();
  Learned found;
  with_ranks(count, [&](train::Communicator& threads) {
    trace = {};
    trace.late = late;
    std::shared_ptr<train::Communicator> ranks(&threads, [](train::Communicator*) {});
    ranks = gpu_communicator(ranks, watched(), 0);
    train::Recipe r = recipe("adamw");
    r.accumulate = accumulate > 1;
    const train::TrainingGraphs graphs =
        train::make_graphs(layers().model, {{8 / count / accumulate, 3}}, r, standard_types);
    train::LoopSettings l = loop(0.01, 8);
    l.ranks = ranks;
    l.accumulate = accumulate;
    l.bucket_bytes = bucket_bytes;
    const auto backend = gpu_backend(watched(), 0, {reference::all_kernels(), false, standard_types});
    train::Trainer trainer(graphs, data, *backend, {}, l);
    for (int i = 0; i < 5; ++i) {
      trace.events.clear();
      trainer.step();
    }
    if (threads.rank() > 0) return;
    for (const std::string& name : graphs.parameters)
      for (const double number : to_doubles(graphs.state->at(name))) found.weights.push_back(number);
    found.trace = trace;
    found.payload = ranks->traffic().payload;
    found.gradient_bytes = 4 * graphs.trained;
  });
  return found;
}

/// Events of one kind.
std::vector<size_t> places_of(const Trace& trace, Trace::What what) {
  std::vector<size_t> places;
  for (size_t i = 0; i < trace.events.size(); ++i)
    if (trace.events[i].what == what) places.push_back(i);
  return places;
}

}  // namespace

TEST_CASE("gradients are added up while the backward pass goes on, each when nothing touches it any more") {
  const auto library = binary_dir() / "libmlopt_fake_nccl.so";
  if (!std::filesystem::exists(library)) return skip("these tests were packed without libmlopt_fake_nccl.so");
  REQUIRE(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  const Learned one = learn(1, 1, 1, false);
  CHECK(places_of(one.trace, Trace::What::kSum).empty());
  REQUIRE(one.weights.size() == 3 * 16 + 16 + 2 * (16 * 16 + 16) + 16);
  for (const auto& [count, accumulate] : {std::pair{2, 1}, {4, 1}, {2, 2}}) {
    INFO(count << " ranks, " << accumulate << " portions");
    const Learned each = learn(count, accumulate, 1, false);
    for (size_t k = 0; k < one.weights.size(); ++k)
      CHECK(each.weights[k] == Approx(one.weights[k]).epsilon(1e-3).margin(1e-5));

    // Every gradient is a bucket of its own here. Some are on their way before the last step of the backward pass, each
    // once, and the update begins behind the join.
    const std::vector<size_t> sums = places_of(each.trace, Trace::What::kSum),
                              joins = places_of(each.trace, Trace::What::kJoin);
    REQUIRE(sums.size() == 7);
    REQUIRE(joins.size() == 1);
    CHECK(each.payload >= 5 * each.gradient_bytes);
    CHECK(each.payload < 6 * each.gradient_bytes);  // and losses
    CHECK(sums.back() < joins[0]);
    size_t last_step = 0;
    for (size_t i = 0; i < joins[0]; ++i)
      if (each.trace.events[i].what == Trace::What::kStep) last_step = i;
    CHECK(sums[4] < last_step);
    CHECK(joins[0] + 1 < each.trace.events.size());
    CHECK(each.trace.events[joins[0] + 1].number == 1);

    // Sums that wait until the end see gradients as they are then, and no step sees sums: with the same bytes, no step
    // behind the begin of a sum writes or reads what is added up.
    CHECK(learn(count, accumulate, 1, true).weights == each.weights);
    // So do buckets of several, and one of all.
    for (const int64_t bytes : {1500, 1 << 20}) {
      const Learned some = learn(count, accumulate, bytes, false);
      CHECK(places_of(some.trace, Trace::What::kSum).size() == (bytes == 1500 ? 2u : 1u));
      CHECK(some.weights == each.weights);
    }
  }
}

}  // namespace mlopt::test
