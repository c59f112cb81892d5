#include "core/calib/score.h"

#include "tests/support/catch.h"
#include "tests/support/thrown.h"

namespace mlopt {
namespace {

/// Gives its input back, but sees that batches have the size it takes.
class Echo final : public Executable {
 public:
  std::vector<Datum> run(std::span<const Datum> inputs, const RunHooks&) override {
    batches.push_back(inputs[0].tensor().dim(0));
    return {Datum(), inputs[0]};
  }
  const std::vector<std::string>& input_names() const override { return names_; }
  const std::vector<std::string>& output_names() const override { return outputs_; }
  const std::vector<std::string>& fallback_nodes() const override { return none_; }
  std::vector<StepProfile> profile() const override { return {}; }

  std::vector<int64_t> batches;

 private:
  std::vector<std::string> names_ = {"x"}, outputs_ = {"nothing", "scores"}, none_;
};

/// Sample i has its arg-max at i % 3; every fourth label is wrong.
class Samples : public Dataset {
 public:
  Samples(int64_t size, int64_t batch, bool labels = true) : size_(size), batch_(batch), labels_(labels) {}
  int64_t size() const override { return size_; }
  int64_t batch_size() const override { return batch_; }
  bool labelled() const override { return labels_; }
  std::string name_of(int64_t i) const override { return "sample " + std::to_string(i); }
  Batch batch(int64_t first, int64_t count) const override {
    REQUIRE(first + count <= size_);
    Tensor scores = Tensor::zeros(DType::kF32, {count, 3}), labels(DType::kI64, {count});
    for (int64_t i = 0; i < count; ++i) {
      const int64_t c = (first + i) % 3;
      scores.mutable_data<float>()[i * 3 + c] = 1;
      labels.mutable_data<int64_t>()[i] = (first + i) % 4 == 3 ? (c + 1) % 3 : c;
    }
    return {.inputs = {Datum(scores)}, .labels = labels, .count = count};
  }

 private:
  int64_t size_, batch_;
  bool labels_;
};

}  // namespace

TEST_CASE("all samples are scored once, whatever the batch") {
  for (const auto& [fixed, asked, batches] : std::vector<std::tuple<int64_t, int64_t, std::vector<int64_t>>>{
           {0, 4, {4, 4, 2}}, {0, 0, {10}}, {1, 4, std::vector<int64_t>(10, 1)}, {4, 0, {4, 4, 4}}, {10, 0, {10}}}) {
    Echo plan;
    int64_t last = 0;
    const Score score = score_model(
        plan, Samples(10, fixed),
        {.metric = "top1", .output = "scores", .batch = asked, .progress = [&](int64_t done) { last = done; }});
    CHECK(score.value == Approx(0.8));
    CHECK(score.samples == 10);
    CHECK(plan.batches == batches);
    CHECK(last == 10);
  }
}

TEST_CASE("parts of the batches together count all samples once") {
  for (const int64_t fixed : {0, 4}) {
    for (const int parts : {2, 3, 5}) {
      Tally all;
      const auto combine = [&](const Tally& mine) {
        add(all, mine);
        return all;
      };
      Score score;
      for (int part = 0; part < parts; ++part) {
        Echo plan;
        score = score_model(plan, Samples(10, fixed),
                            {.metric = "top1",
                             .output = "scores",
                             .batch = 4,
                             .progress = {},
                             .part = part,
                             .parts = parts,
                             .combine = combine});
      }
      CHECK(score.value == Approx(0.8));
      CHECK(all.weight == 10);
    }
  }
}

TEST_CASE("what cannot be scored is refused") {
  Echo plan;
  const auto refused = [&](const Dataset& data, const std::string& metric, const std::string& output) {
    return test::thrown_by(
        [&] { score_model(plan, data, {.metric = metric, .output = output, .batch = 0, .progress = {}}); });
  };
  CHECK(test::says(refused(Samples(4, 0, false), "top1", "scores"), "no labels, which top1 needs: sample 0"));
  CHECK(test::says(refused(Samples(4, 0), "top1", "score"), "did you mean 'scores'"));
  CHECK(test::says(refused(Samples(4, 0), "top1", ""), "'nothing' is not a tensor"));
  CHECK(test::says(refused(Samples(4, 0), "topp1", "scores"), "did you mean 'top1'"));
}

TEST_CASE("the sample at fault is named, whatever the batch") {
  class OneWrong final : public Samples {
   public:
    using Samples::Samples;
    Batch batch(int64_t first, int64_t count) const override {
      Batch batch = Samples::batch(first, count);
      if (first <= 5 && 5 < first + count) batch.labels->mutable_data<int64_t>()[5 - first] = 99;
      return batch;
    }
  };
  for (const int64_t fixed : {0, 1, 4, 10}) {
    Echo plan;
    const Error error = test::thrown_by([&] {
      score_model(plan, OneWrong(10, fixed), {.metric = "top1", .output = "scores", .batch = 8, .progress = {}});
    });
    CHECK(error.where == "sample 5");
    CHECK(test::says(error, "the label 99"));
  }
}

TEST_CASE("a score in words") {
  CHECK(in_words({.metric = "top1", .value = 0.57, .samples = 100, .seconds = 1}) == "57.00 % (57 of 100)");
  CHECK(in_words({.metric = "top1", .value = 0.5001, .samples = 100, .seconds = 1}) == "50.01 %");
  CHECK(in_words({.metric = "ppl", .value = 4.90312, .samples = 100, .seconds = 1}) == "4.9031");
}

}  // namespace mlopt
