#include "core/tensor/codes.h"

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("codes begin with the low bits of a byte") {
  constexpr uint8_t kBytes[] = {0x1b, 0xe4};
  const auto all = [&](int width) {
    std::vector<int> codes;
    for (int64_t i = 0; i < 16 / width; ++i) codes.push_back(code_at(kBytes, width, i));
    return codes;
  };
  CHECK(all(2) == std::vector<int>{3, 2, 1, 0, 0, 1, 2, 3});
  CHECK(all(4) == std::vector<int>{11, 1, 4, 14});
  CHECK(all(8) == std::vector<int>{0x1b, 0xe4});
}
