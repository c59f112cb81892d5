#include "backends/gpu/ranks.h"

#include <dlfcn.h>

#include <filesystem>

#include "backends/gpu/interface.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/line_fit.h"
#include "tests/support/paths.h"
#include "tests/support/ranks.h"

namespace mlopt::test {
namespace {

/// What so many ranks have learned after five updates, each on a GPU.
struct Learned {
  std::vector<std::vector<double>> weights;
  int64_t payload = 0;  ///< of rank 0, in all
  std::string name;
};

Learned learn(int count, int64_t accumulate, bool on_gpu) {
  const MemoryData data = line();
  Learned found;
  found.weights.resize(static_cast<size_t>(count));
  with_ranks(count, [&](train::Communicator& threads) {
    std::shared_ptr<train::Communicator> ranks(&threads, [](train::Communicator*) {});
    if (on_gpu) ranks = gpu_communicator(ranks, gpu::gpu_interface(), 0);
    const Net net = linear();
    train::Recipe r = recipe("adamw");
    r.accumulate = accumulate > 1;
    const train::TrainingGraphs graphs =
        train::make_graphs(net.model, {{8 / count / accumulate, 3}}, r, standard_types);
    train::LoopSettings l = loop(0.1, 8);
    l.ranks = ranks;
    l.accumulate = accumulate;
    const auto backend = gpu_on_host();
    train::Trainer trainer(graphs, data, *backend, {}, l);
    for (int i = 0; i < 5; ++i) trainer.step();
    found.weights[static_cast<size_t>(threads.rank())] = weights(graphs);
    if (threads.rank() > 0) return;
    found.payload = ranks->traffic().payload;
    found.name = ranks->name();
  });
  return found;
}

}  // namespace

// A library of the name that is asked for is in the process already, so no other one is looked for.
TEST_CASE("ranks with a GPU each add up their gradients there, by a library that stands for NCCL") {
  const Learned one = learn(1, 1, false);
  const auto library = binary_dir() / "libmlopt_fake_nccl.so";
  if (!std::filesystem::exists(library)) return skip("these tests were packed without libmlopt_fake_nccl.so");
  void* fake = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(fake);
  CHECK(gpu::gpu_interface().ring_version() == 22703);
  for (const auto& [count, accumulate] : {std::pair{2, 1}, {4, 1}, {2, 2}}) {
    const Learned many = learn(count, accumulate, true);
    CHECK(many.name == "NCCL 2.27.3, threads");
    CHECK(many.payload >= 5 * 3 * 4);
    for (const std::vector<double>& w : many.weights) {
      CHECK(w == many.weights[0]);
      for (size_t k = 0; k < 3; ++k) CHECK(w[k] == Approx(one.weights[0][k]).epsilon(1e-4));
    }
  }
}

TEST_CASE("one rank needs no ring") {
  std::shared_ptr<train::Communicator> ranks = train::single_communicator();
  CHECK(gpu_communicator(ranks, gpu::gpu_interface(), 0) == ranks);
  CHECK_FALSE(ranks->adds_up_state());
}

}  // namespace mlopt::test
