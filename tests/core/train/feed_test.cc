#include "core/train/feed.h"

#include <set>

#include "tests/support/catch.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

/// Sample i is the number i, its class i modulo 3.
MemoryData numbers(int64_t count) {
  Tensor x(DType::kF32, {count, 1}), labels(DType::kI64, {count});
  for (int64_t i = 0; i < count; ++i) {
    x.mutable_data<float>()[i] = static_cast<float>(i);
    labels.mutable_data<int64_t>()[i] = i % 3;
  }
  return {x, labels};
}

train::FeedSettings settings(int64_t batch, uint64_t seed = 1) {
  return {batch, Type::tensor(DType::kI64, Dims{batch}), 3, seed};
}

std::vector<float> take(train::Feed& feed, int64_t batches) {
  std::vector<float> all;
  for (int64_t k = 0; k < batches; ++k) {
    const std::vector<Datum> batch = feed.next();
    const auto x = batch.at(0).tensor().span<float>();
    const auto labels = batch.at(1).tensor().span<int64_t>();
    for (size_t i = 0; i < x.size(); ++i) CHECK(labels[i] == static_cast<int64_t>(x[i]) % 3);
    all.insert(all.end(), x.begin(), x.end());
  }
  return all;
}

}  // namespace

TEST_CASE("an epoch gives every sample once, in an order of its own") {
  const MemoryData data = numbers(12);
  train::Feed feed(data, settings(4));
  REQUIRE(feed.batches_in_epoch() == 3);
  const std::vector<float> first = take(feed, 3), second = take(feed, 3);
  CHECK(std::set<float>(first.begin(), first.end()).size() == 12);
  CHECK(std::set<float>(second.begin(), second.end()).size() == 12);
  CHECK(first != second);
  CHECK(!std::is_sorted(first.begin(), first.end()));
}

TEST_CASE("the order depends on the seed alone, and a training goes on in its middle") {
  const MemoryData data = numbers(11);
  train::Feed feed(data, settings(4)), again(data, settings(4)), other(data, settings(4, 2)),
      later(data, settings(4), 3);
  const std::vector<float> all = take(feed, 5);
  CHECK(take(again, 5) == all);
  CHECK(take(other, 5) != all);
  CHECK(take(later, 2) == std::vector<float>(all.begin() + 12, all.end()));
}

TEST_CASE("without labels there are the inputs alone, also of data that have none") {
  train::FeedSettings without = settings(2);
  without.labels = std::nullopt;
  const MemoryData data = numbers(6), bare(Tensor::zeros(DType::kF32, {6, 1}), std::nullopt);
  CHECK(train::Feed(data, without).next().size() == 1);
  CHECK(train::Feed(bare, without).next().size() == 1);
}

TEST_CASE("ranks feed the parts of the batch that one process feeds") {
  const MemoryData data = numbers(12);
  train::Feed whole(data, settings(4));
  const std::vector<float> all = take(whole, 4);
  for (int rank = 0; rank < 2; ++rank) {
    train::FeedSettings part = settings(4);
    part.labels = Type::tensor(DType::kI64, Dims{2});
    part.rank = rank;
    part.ranks = 2;
    train::Feed feed(data, part);
    CHECK(feed.batches_in_epoch() == 3);
    const std::vector<float> fed = take(feed, 4);
    for (size_t b = 0; b < 4; ++b)
      for (size_t i = 0; i < 2; ++i) CHECK(fed[2 * b + i] == all[4 * b + 2 * static_cast<size_t>(rank) + i]);
  }
}

TEST_CASE("data that do not fit the training are refused") {
  const MemoryData data = numbers(6);
  const MemoryData bare(Tensor::zeros(DType::kF32, {6, 1}), std::nullopt);
  CHECK(says(thrown_by([&] { train::Feed(data, settings(8)); }), "6 samples are no batch of 8"));
  CHECK(says(thrown_by([&] { train::Feed(bare, settings(2)); }), "the data have no labels"));
  train::FeedSettings two = settings(6);
  two.classes = 2;
  const Error error = thrown_by([&] { train::Feed(data, two).next(); });
  CHECK(says(error, "the label 2 is none of 2 classes"));
  CHECK((error.where == "sample 2" || error.where == "sample 5"));
  train::FeedSettings wide = settings(6);
  wide.labels = Type::tensor(DType::kF32, Dims{6, 4});
  CHECK(says(thrown_by([&] { train::Feed(data, wide).next(); }), "labels of shape 6"));
}

}  // namespace mlopt::test
