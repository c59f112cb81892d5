#include "core/train/feed.h"

#include <cmath>
#include <set>

#include "core/train/mixup.h"
#include "tests/support/cases.h"
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

TEST_CASE("portions of a batch are what the whole batch is, in each epoch") {
  const MemoryData data = numbers(14);  // one batch of 8, or three portions of 4
  train::FeedSettings half = settings(4);
  half.portions = 2;
  train::Feed whole(data, settings(8)), portions(data, half);
  CHECK(portions.batches_in_epoch() == 2);
  CHECK(take(portions, 6) == take(whole, 3));
}

TEST_CASE("without labels there are the inputs alone, also of data that have none") {
  train::FeedSettings without = settings(2);
  without.labels = std::nullopt;
  const MemoryData data = numbers(6), bare(Tensor::zeros(DType::kF32, {6, 1}), std::nullopt);
  CHECK(train::Feed(data, without).next().size() == 1);
  CHECK(train::Feed(bare, without).next().size() == 1);
}

TEST_CASE("an input that is fixed has to be the same in each batch") {
  const MemoryData data(tensor({4, 1}, {7, 7, 7, 8}), std::nullopt);
  train::FeedSettings fixed = settings(1);
  fixed.labels = std::nullopt;
  fixed.fixed.emplace(0, tensor({1, 1}, {7}));
  train::Feed feed(data, fixed);
  const Error error = thrown_by([&] {
    for (int i = 0; i < 4; ++i) feed.next();
  });
  CHECK(error.code == Code::kBadInput);
  CHECK(error.where == "sample 3");
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

namespace {

/// What batches give of mixed numbers, and of the shares of their classes.
struct Mixed {
  std::vector<float> x, labels;
};
Mixed take_mixed(const MemoryData& data, train::FeedSettings s, int64_t first, int64_t batches) {
  s.augmentation.mixup = 0.6;
  s.labels = Type::tensor(DType::kF32, Dims{s.batch / s.ranks, 3});
  train::Feed feed(data, s, first);
  Mixed all;
  for (int64_t k = 0; k < batches; ++k) {
    const std::vector<Datum> batch = feed.next();
    const auto x = batch.at(0).tensor().span<float>(), labels = batch.at(1).tensor().span<float>();
    CHECK(batch[1].tensor().dims() == Dims{s.batch / s.ranks, 3});
    all.x.insert(all.x.end(), x.begin(), x.end());
    all.labels.insert(all.labels.end(), labels.begin(), labels.end());
  }
  return all;
}

}  // namespace

TEST_CASE("mixed samples are their share and the next one's rest, their labels too") {
  const MemoryData data = numbers(10);
  train::Feed plain(data, settings(5));
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    const std::vector<float> order = take(plain, 2);
    const Mixed mixed = take_mixed(data, settings(5), 2 * epoch, 2);
    REQUIRE(mixed.x.size() == 10);
    for (size_t i = 0; i < 10; ++i) {
      const auto own = static_cast<int64_t>(order[i]), other = static_cast<int64_t>(order[(i + 1) % 10]);
      const double share = train::mixup_shares(0.6, std::vector{own}, epoch, 1)[0];
      CHECK(mixed.x[i] == Approx(share * static_cast<double>(own) + (1 - share) * static_cast<double>(other)));
      for (int64_t c = 0; c < 3; ++c)
        CHECK(mixed.labels[3 * i + static_cast<size_t>(c)] ==
              Approx(share * (own % 3 == c) + (1 - share) * (other % 3 == c)).margin(1e-6));
    }
  }
}

TEST_CASE("what a sample is mixed with does not depend on rank and portion") {
  const MemoryData data = numbers(12);
  const Mixed all = take_mixed(data, settings(4), 0, 6), later = take_mixed(data, settings(4), 4, 2),
              portions = take_mixed(data, settings(2), 0, 12);
  CHECK(portions.x == all.x);
  CHECK(portions.labels == all.labels);
  CHECK(later.x == std::vector<float>(all.x.begin() + 16, all.x.end()));
  for (int rank = 0; rank < 2; ++rank) {
    train::FeedSettings part = settings(4);
    part.rank = rank;
    part.ranks = 2;
    const Mixed fed = take_mixed(data, part, 0, 6);
    for (size_t b = 0; b < 6; ++b)
      for (size_t i = 0; i < 2; ++i) CHECK(fed.x[2 * b + i] == all.x[4 * b + 2 * static_cast<size_t>(rank) + i]);
  }
}

TEST_CASE("targets of other losses are mixed themselves, integers that a model takes are refused") {
  const Tensor x = uniform({6, 2}, -1, 1);
  train::FeedSettings s{3, Type::tensor(DType::kF32, Dims{3, 2}), 0, 1};
  s.augmentation.mixup = 1;
  const MemoryData data(x, x);
  const std::vector<Datum> batch = train::Feed(data, s).next();
  require_close(batch.at(1).tensor(), batch.at(0).tensor());
  const MemoryData tokens(tensor({6, 2}, std::vector<double>(12, 1), DType::kI64), x);
  CHECK(says(thrown_by([&] { train::Feed(tokens, s).next(); }), "int64 4x2 cannot be mixed"));
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
  const MemoryData halves(Tensor::zeros(DType::kF32, {6, 1}), tensor({6}, {0, 1, 2, 1.5, 1, 0}));
  const Error broken = thrown_by([&] { train::Feed(halves, settings(6)).next(); });
  CHECK(says(broken, "the label 1.5 is none of 3 classes"));
  CHECK(broken.where == "sample 3");
  train::FeedSettings wide = settings(6);
  wide.labels = Type::tensor(DType::kF32, Dims{6, 4});
  CHECK(says(thrown_by([&] { train::Feed(data, wide).next(); }), "labels of shape 6"));
}

TEST_CASE("labels have the axes that the loss takes, or none") {
  const auto taken_as = [](const Dims& labels, const Dims& taken) {
    const MemoryData data(Tensor::zeros(DType::kF32, {2, 1}), Tensor::zeros(DType::kF32, labels));
    train::Feed(data, {2, Type::tensor(DType::kF32, taken)}).next();
  };
  for (const Dims& labels : {Dims{2, 3, 4}, Dims{2, 12}, Dims{2, 3, 1, 4}}) taken_as(labels, {2, 3, 4});
  taken_as({2, 4, 1}, {2, 1, 4});
  taken_as({2, 3, 4}, {24});  // the output has a row for each position
  for (const Dims& labels : {Dims{2, 4, 3}, Dims{2, 2, 6}})
    CHECK(says(thrown_by([&] { taken_as(labels, {2, 3, 4}); }), "labels of shape 2x"));
  CHECK(says(thrown_by([&] { taken_as({2, 2, 3}, {2, 6}); }), "where the loss takes"));
}

TEST_CASE("labels that are shares lie between 0 and 1") {
  train::FeedSettings shares{2, Type::tensor(DType::kF32, Dims{2, 2})};
  shares.within_one = true;
  const auto take = [&](double label) {
    const MemoryData data(Tensor::zeros(DType::kF32, {2, 1}), tensor({2, 2}, {0, 1, 0.5, label}));
    train::Feed(data, shares).next();
  };
  take(1);
  for (const double label : {5.0, -0.1, std::nan("")})
    CHECK(says(thrown_by([&] { take(label); }), "is not from 0 to 1"));
}

}  // namespace mlopt::test
