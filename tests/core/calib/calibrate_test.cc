#include "core/calib/calibrate.h"

#include <limits>
#include <memory>

#include "backends/reference/backend.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/thrown.h"

namespace mlopt {
namespace {

constexpr const char* kModel = R"(
<ir_version: 10, opset_import: ["" : 21]>
two_steps (float[N,2] x) => (float[N,2] y)
{
  one = Constant <value = float {1}> ()
  doubled = Add (x, x)
  y = Sub (doubled, one)
})";

/// Sample i is {i, -i}; a sample that is bad holds NaN. Batches are views, so that the test sees when they are freed.
class Numbers final : public Dataset {
 public:
  explicit Numbers(int64_t size, int64_t batch = 0, int64_t bad = -1) : size_(size), batch_(batch), bad_(bad) {}
  int64_t size() const override { return size_; }
  int64_t batch_size() const override { return batch_; }
  bool labelled() const override { return false; }
  std::string name_of(int64_t i) const override { return "sample " + std::to_string(i); }
  Batch batch(int64_t first, int64_t count) const override {
    REQUIRE(count > 0);
    REQUIRE(first + count <= size_);
    if (batch_ > 0) REQUIRE(count == batch_);
    auto numbers = std::make_shared<std::vector<float>>();
    for (int64_t i = first; i < first + count; ++i) {
      seen.push_back(i);
      const auto v = i == bad_ ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(i);
      numbers->insert(numbers->end(), {v, -v});
    }
    for (const auto& given : given_) alive = std::max(alive, static_cast<int>(!given.expired()));
    given_.push_back(numbers);
    const auto bytes = std::as_bytes(std::span<const float>(*numbers));
    return {.inputs = {Datum(Tensor::view(DType::kF32, {count, 2}, bytes, numbers))}, .labels = {}, .count = count};
  }

  mutable std::vector<int64_t> seen;
  mutable int alive = 0;  ///< batches that were still held when the next was asked for

 private:
  int64_t size_, batch_, bad_;
  mutable std::vector<std::weak_ptr<std::vector<float>>> given_;
};

Calibration run(const Dataset& data, CalibrationLimits limits, const std::vector<std::string>& values = {"doubled"}) {
  const std::unique_ptr<Backend> backend = reference_backend();
  return calibrate(*backend, parse_text(kModel), values, data, limits, 1);
}

}  // namespace

TEST_CASE("inputs, inner values and outputs are observed over all samples") {
  const std::unique_ptr<Backend> backends[] = {reference_backend(), test::cpu_with_fallback()};
  for (const auto& backend : backends) {
    const Numbers data(10);
    int64_t last = 0;
    const Calibration found = calibrate(*backend, parse_text(kModel), {"x", "doubled", "y", "one"}, data, {100, 4}, 1,
                                        [&](int64_t done, int64_t total) {
                                          CHECK(total == 10);
                                          last = done;
                                        });
    REQUIRE(found.samples == 10);
    REQUIRE(last == 10);
    REQUIRE(found.values.at("x").count() == 20);
    CHECK(found.values.at("x").min() == -9);
    CHECK(found.values.at("doubled").max() == 18);
    CHECK(found.values.at("y").min() == -19);
    CHECK(found.values.at("y").max() == 17);
    CHECK(!found.values.contains("one"));  // a constant is never computed
  }
}

TEST_CASE("each batch is freed before the next is read") {
  const Numbers data(64);
  const Calibration found = run(data, {64, 4}, {"x", "doubled", "y"});
  REQUIRE(found.samples == 64);
  REQUIRE(data.alive == 0);
}

TEST_CASE("at most the wanted samples are read, each once") {
  for (const auto& [size, batch, limit, chunk, expected] :
       std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t, std::vector<int64_t>>>{
           {5, 0, 256, 8, {0, 1, 2, 3, 4}},
           {9, 0, 9, 4, {0, 1, 2, 3, 4, 5, 6, 7, 8}},
           {100, 0, 3, 2, {0, 1, 2}},
           {101, 1, 3, 8, {0, 1, 2}},
           {10, 4, 100, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
           {10, 4, 2, 8, {0, 1, 2, 3}},
           {3, 3, 100, 1, {0, 1, 2}}}) {
    INFO(size << " samples, " << batch << " at once, at most " << limit);
    const Numbers data(size, batch);
    const Calibration found = run(data, {limit, chunk});
    CHECK(data.seen == expected);
    CHECK(found.samples == static_cast<int64_t>(expected.size()));
    CHECK(found.values.at("doubled").count() == 2 * found.samples);
  }
}

TEST_CASE("a sample that is not finite is named") {
  for (const int64_t batch : {0, 1}) {
    const Error error = test::thrown_by([&] { run(Numbers(10, batch, 6), {256, 4}); });
    CHECK(error.code == Code::kBadInput);
    CHECK(test::says(error, "sample 6"));
    CHECK(test::says(error, "'x'"));
  }
}

TEST_CASE("too few samples are an error") {
  CHECK(test::says(test::thrown_by([] { run(Numbers(0), {256, 4}); }), "no calibration samples"));
  CHECK(test::says(test::thrown_by([] { run(Numbers(4), {0, 4}); }), "no calibration samples"));
  CHECK(test::says(test::thrown_by([] { run(Numbers(3, 4), {256, 4}); }), "fewer than the 4"));
}

}  // namespace mlopt
