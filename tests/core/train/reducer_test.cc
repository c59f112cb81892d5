#include "core/train/reducer.h"

#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/ranks.h"

namespace mlopt::test {
namespace {

/// Three values; those of rank r are r + 1 times those of rank 0.
StateStore values_of(int rank) {
  StateStore state;
  const double factor = rank + 1;
  state.add("a", tensor({2, 2}, {factor, 2 * factor, 3 * factor, 4 * factor}));
  state.add("b", tensor({}, {-factor}, DType::kF16));
  state.add("c", tensor({3}, {5 * factor, 6 * factor, 7 * factor}));
  return state;
}

std::vector<double> numbers(const StateStore& state) {
  std::vector<double> all;
  for (const char* name : {"a", "b", "c"})
    for (const double number : to_doubles(state.at(name))) all.push_back(number);
  return all;
}

}  // namespace

TEST_CASE("values are added up over the ranks, whatever the buckets and the order in which they get ready") {
  const std::vector<std::string> names = {"a", "b", "c"};
  for (const int64_t bucket_bytes : {1, 13, 1000}) {
    std::vector<std::vector<double>> found(3);
    std::vector<float> more(3);
    with_ranks(3, [&](train::Communicator& ranks) {
      const auto rank = static_cast<size_t>(ranks.rank());
      StateStore state = values_of(ranks.rank());
      train::Reducer reducer(ranks, state, names, bucket_bytes);
      for (int round = 0; round < 3; ++round) {
        const StateStore before = values_of(ranks.rank());
        for (const std::string& name : names) state.set(name, before.at(name));
        // Ranks may differ in what gets ready when.
        if (round > 0) reducer.ready(names[(rank + 1) % 3], before.at(names[(rank + 1) % 3]));
        if (round > 1) reducer.ready("c", before.at("c"));
        more[rank] = 10;
        reducer.finish({&more[rank], 1});
      }
      found[rank] = numbers(state);
    });
    for (size_t rank = 0; rank < 3; ++rank) {
      CHECK(found[rank] == std::vector<double>{6, 12, 18, 24, -6, 30, 36, 42});
      CHECK(more[rank] == 30);
    }
  }
}

TEST_CASE("what compression loses of a gradient comes with the next ones") {
  // The same gradients again and again: the mean of the sums that arrive tends to the sum of the gradients.
  constexpr int64_t kCount = 1200;
  constexpr int kRounds = 200;
  for (const char* spec : {"fp16", "bf16", "topk:5%", "1bit"}) {
    std::vector<std::vector<double>> mean(2, std::vector<double>(kCount));
    std::vector<Tensor> gradients = {uniform({kCount}, -1, 1, DType::kF32, 1),
                                     uniform({kCount}, -1, 1, DType::kF32, 2)};
    with_ranks(2, [&](train::Communicator& ranks) {
      const auto rank = static_cast<size_t>(ranks.rank());
      StateStore state;
      state.add("g", gradients[rank]);
      train::Reducer reducer(ranks, state, {"g"}, 1000, train::parse_compression(spec));
      for (int round = 0; round < kRounds; ++round) {
        state.set("g", gradients[rank]);
        reducer.finish();
        const auto sum = state.at("g").span<float>();
        for (size_t i = 0; i < kCount; ++i) mean[rank][i] += static_cast<double>(sum[i]) / kRounds;
      }
    });
    CHECK(mean[0] == mean[1]);
    double worst = 0;
    for (size_t i = 0; i < kCount; ++i) {
      const double exact =
          number_at(gradients[0], static_cast<int64_t>(i)) + number_at(gradients[1], static_cast<int64_t>(i));
      worst = std::max(worst, std::abs(mean[0][i] - exact));
    }
    INFO(spec);
    // What is still owed of each is bounded, and so shrinks as 1 / rounds; of 20 numbers topk sends one at a time.
    CHECK(worst < 40.0 / kRounds);
    CHECK(worst > 0);
  }
}

namespace {

/// Gradients of update `round` of a rank.
Tensor gradient(size_t rank, int round, int64_t count) {
  return uniform({count}, -1, 1, DType::kF32, 100 * static_cast<uint64_t>(round) + rank);
}

/// The sums of four updates. After the second, `stop` puts another reducer in the place of the first.
std::vector<double> sums_of_four(const char* spec, bool stop) {
  std::vector<double> sums;
  with_ranks(2, [&](train::Communicator& ranks) {
    const auto rank = static_cast<size_t>(ranks.rank());
    StateStore state;
    state.add("a", gradient(rank, 0, 700));
    state.add("b", gradient(rank, 0, 90));
    const auto make = [&] {
      return std::make_unique<train::Reducer>(ranks, state, std::vector<std::string>{"a", "b"}, 1000,
                                              train::parse_compression(spec));
    };
    auto reducer = make();
    CHECK(reducer->residuals().empty());
    for (int round = 0; round < 4; ++round) {
      state.set("a", gradient(rank, round, 700));
      state.set("b", gradient(rank, round + 10, 90));
      reducer->ready("a", state.at("a"));  // a comes first, in the order that the buckets take
      reducer->finish();
      for (const char* name : {"a", "b"})
        for (const double sum : to_doubles(state.at(name)))
          if (rank == 0) sums.push_back(sum);
      if (round != 1 || !stop) continue;
      const NamedTensors left = reducer->residuals();
      REQUIRE(left.size() == 2);
      reducer = make();
      reducer->set_residuals(left);
    }
  });
  return sums;
}

}  // namespace

TEST_CASE("a reducer goes on from what another one's codes left over") {
  for (const char* spec : {"fp16", "topk:5%", "1bit"}) CHECK(sums_of_four(spec, true) == sums_of_four(spec, false));
}

TEST_CASE("in the middle of an update, what is left over is that of the one before") {
  with_ranks(2, [&](train::Communicator& ranks) {
    const auto rank = static_cast<size_t>(ranks.rank());
    StateStore state;
    state.add("a", gradient(rank, 0, 50));
    state.add("b", gradient(rank, 0, 50));
    train::Reducer reducer(ranks, state, {"a", "b"}, 1, train::parse_compression("topk:10%"));
    for (int round = 0; round < 2; ++round) {
      state.set("a", gradient(rank, round, 50));
      state.set("b", gradient(rank, round + 10, 50));
      reducer.finish();
    }
    const NamedTensors before = reducer.residuals();
    reducer.ready(before[0].first, gradient(rank, 5, 50));  // its bucket is under way
    const NamedTensors now = reducer.residuals();
    reducer.finish();
    const NamedTensors after = reducer.residuals();
    for (size_t i = 0; i < 2; ++i) {
      CHECK(to_doubles(now[i].second) == to_doubles(before[i].second));
      CHECK(to_doubles(after[i].second) != to_doubles(before[i].second));
    }
  });
}

}  // namespace mlopt::test
