#include "samples/llm/decoder.h"

#include <algorithm>

#include "backends/reference/backend.h"
#include "core/ir/verify.h"
#include "core/tensor/compare.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {

TEST_CASE("stories are the same for the same seed, and end with what is left") {
  const std::string some = stories::text(50, 1);
  CHECK(some == stories::text(50, 1));
  CHECK(some != stories::text(50, 2));
  CHECK(std::count(some.begin(), some.end(), '\n') == 50);
  CHECK(some.find(" has no ") != std::string::npos);
  CHECK(some.find(" one apples") == std::string::npos);
}

TEST_CASE("the decoder looks back only, and at all of what was before") {
  const stories::Shape shape = {.length = 8, .width = 16, .heads = 2, .blocks = 1};
  const Model model = stories::decoder(shape, 3);
  CHECK(verify(model).empty());
  const auto compiled = reference_backend()->compile(model, {});
  const auto scores = [&](std::vector<int64_t> tokens) {
    return compiled->run(std::vector<Datum>{Tensor::of<int64_t>({1, 8}, tokens)})[0].tensor();
  };
  const Tensor before = scores({1, 2, 3, 4, 5, 6, 7, 8}), after = scores({1, 2, 3, 9, 5, 6, 7, 8});
  const auto a = before.span<float>(), b = after.span<float>();
  CHECK(std::equal(a.begin(), a.begin() + 3 * 256, b.begin()));
  for (size_t i = 3; i < 8; ++i)
    CHECK_FALSE(std::equal(a.begin() + i * 256, a.begin() + (i + 1) * 256, b.begin() + i * 256));
}

}  // namespace mlopt::test
