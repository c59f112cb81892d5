#include "backends/reference/backend.h"
#include "core/rewrite/lower/passes.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// What the call gives where it has been replaced.
std::vector<double> drawn(const std::string& call, const std::string& name = "y", float given = 0) {
  Model model = test::fixture("g (float[50,80] x) => (float[50,80] " + name + ") { " + name + " = " + call + " }", 17);
  infer(model);
  PassContext context;
  context.target = Target::kKernels;
  model.set_opset("mlopt", 1);
  REQUIRE(run_pass(model, lower::random, context).applied == 1);
  const std::vector<Datum> inputs{Tensor::of(Dims{50, 80}, std::vector<float>(4000, given))};
  return to_doubles(reference_backend()->compile(model, {})->run(inputs)[0].tensor());
}

std::pair<double, double> moments(const std::vector<double>& numbers) {
  double sum = 0, squares = 0;
  for (const double x : numbers) sum += x, squares += x * x;
  const double mean = sum / static_cast<double>(numbers.size());
  return {mean, squares / static_cast<double>(numbers.size()) - mean * mean};
}

}  // namespace

TEST_CASE("random numbers have the distribution that is asked for") {
  const auto [mean, variance] = moments(drawn("RandomNormalLike <mean = 3.0, scale = 2.0, seed = 5.0> (x)"));
  CHECK(mean == Approx(3).margin(0.15));
  CHECK(variance == Approx(4).margin(0.4));
  const std::vector<double> numbers = drawn("RandomUniform <shape = [50, 80], low = -1.0, high = 3.0>()");
  CHECK(moments(numbers).first == Approx(1).margin(0.1));
  CHECK(moments(numbers).second == Approx(16.0 / 12).margin(0.1));
  CHECK(*std::min_element(numbers.begin(), numbers.end()) >= -1);
  CHECK(*std::max_element(numbers.begin(), numbers.end()) < 3);
}

TEST_CASE("Bernoulli gives one with the probability that it reads") {
  CHECK(moments(drawn("Bernoulli <seed = 5.0> (x)", "y", 0.9f)).first == Approx(0.9).margin(0.03));
  CHECK(moments(drawn("Bernoulli <seed = 5.0> (x)", "y", 0)).first == 0);
  CHECK(moments(drawn("Bernoulli <seed = 5.0> (x)", "y", 1)).first == 1);
}

TEST_CASE("random numbers follow from the seed, or from the name") {
  const std::string seeded = "RandomUniformLike <seed = 5.0> (x)", plain = "RandomUniformLike (x)";
  CHECK(drawn(seeded) == drawn(seeded, "z"));
  CHECK(drawn(seeded) != drawn("RandomUniformLike <seed = 6.0> (x)"));
  CHECK(drawn(plain) == drawn(plain));
  CHECK(drawn(plain) != drawn(plain, "z"));
}
