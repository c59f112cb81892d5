#include "core/train/agreement.h"

#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/op.h"
#include "tests/support/ranks.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

train::TrainingGraphs graphs(double weight, const char* op = "Relu") {
  Net net;
  Value* w = net.graph().add_constant("w", tensor({2, 1}, {weight, 2}));
  net.output(net.op(op, {net.op("MatMul", {net.input({4, 2}), w})}));
  infer(net.model, standard_types);
  train::Recipe recipe;
  recipe.loss = train::find_loss("mse");
  recipe.optimizer = train::find_optimizer("adam");
  return train::make_graphs(net.model, {{4, 2}}, recipe, standard_types);
}

}  // namespace

TEST_CASE("a digest tells weights, operators and options apart") {
  const std::string digest = digest_of(graphs(1), "lr=1");
  CHECK(digest_of(graphs(1), "lr=1") == digest);
  CHECK(digest_of(graphs(1.5), "lr=1") != digest);
  CHECK(digest_of(graphs(1, "Sigmoid"), "lr=1") != digest);
  CHECK(digest_of(graphs(1), "lr=2") != digest);
}

TEST_CASE("ranks that disagree are refused by name") {
  const Error error = thrown_by([&] {
    with_ranks(4, [](train::Communicator& ranks) {
      require_agreement(ranks, ranks.rank() % 2 == 1 ? "other" : "same", "the models differ", "copy them");
    });
  });
  CHECK(error.code == Code::kBadInput);
  CHECK(says(error, "the models differ: ranks 1, 3 against rank 0"));
  with_ranks(3, [](train::Communicator& ranks) { require_agreement(ranks, "same", "", ""); });
}

TEST_CASE("all ranks go on from where rank 0 stands") {
  std::vector<std::vector<double>> weights(3), steps(3);
  with_ranks(3, [&](train::Communicator& ranks) {
    const auto rank = static_cast<size_t>(ranks.rank());
    const train::TrainingGraphs g = graphs(static_cast<double>(rank) + 5);
    train::Standing standing;
    if (rank == 0) standing = {17, 0.1, "recipe", {}, {0.5, 3}};
    share_standing(ranks, g, standing);
    weights[rank] = to_doubles(g.state->at("w"));
    steps[rank] = {static_cast<double>(standing.steps), standing.slower, standing.best.score.value_or(0),
                   static_cast<double>(standing.best.epochs_since)};
  });
  for (size_t rank = 0; rank < 3; ++rank) {
    CHECK(weights[rank] == std::vector<double>{5, 2});
    CHECK(steps[rank] == std::vector<double>{17, 0.1, 0.5, 3});
  }
}

}  // namespace mlopt::test
