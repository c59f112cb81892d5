#include "core/measure/side_by_side.h"

#include <chrono>
#include <thread>

#include "tests/support/catch.h"

namespace mlopt {
namespace {

/// Takes so many milliseconds.
class Sleeper final : public Executable {
 public:
  explicit Sleeper(double ms) : ms_(ms) {}
  std::vector<Datum> run(std::span<const Datum> inputs, const RunHooks&) override {
    CHECK(inputs.size() == 1);
    ++runs;
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms_));
    return {};
  }
  const std::vector<std::string>& input_names() const override { return none_; }
  const std::vector<std::string>& output_names() const override { return none_; }
  const std::vector<std::string>& fallback_nodes() const override { return none_; }
  std::vector<StepProfile> profile() const override { return {}; }

  int runs = 0;

 private:
  double ms_;
  std::vector<std::string> none_;
};

}  // namespace

TEST_CASE("two plans are compared in about the time that was asked for") {
  Sleeper slow(8), fast(2);
  const std::vector<Datum> inputs(1);
  const SideBySide both = measure_side_by_side(slow, inputs, fast, inputs, 0.3, 1);
  CHECK(both.left_out.empty());
  CHECK(both.source.p50 >= 8);
  CHECK(both.result.p50 >= 2);
  CHECK(both.ratio.median > 1.5);
  CHECK(both.ratio.blocks >= 5);
  CHECK(slow.runs < 60);
}

TEST_CASE("long runs are each a block, and all but the trial runs count") {
  Sleeper slow(20), fast(10);
  const std::vector<Datum> inputs(1);
  const SideBySide both = measure_side_by_side(slow, inputs, fast, inputs, 0.15, 1);
  CHECK(both.left_out.empty());
  CHECK(both.ratio.blocks >= 4);
  CHECK(static_cast<size_t>(slow.runs) == both.ratio.blocks + 2);
  CHECK(both.ratio.median > 1.2);
}

TEST_CASE("a run that takes too long is not measured, and the reason is given") {
  Sleeper slow(30), fast(1);
  const std::vector<Datum> inputs(1);
  const SideBySide both = measure_side_by_side(fast, inputs, slow, inputs, 0.01, 1);
  CHECK(both.left_out.find("too long for a measurement of 0.01 s") != std::string::npos);
  CHECK(slow.runs <= 1);  // none where the other took long already, as it may on a busy machine
}

}  // namespace mlopt
