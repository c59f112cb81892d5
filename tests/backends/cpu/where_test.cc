#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {

TEST_CASE("elements of any size are chosen, whatever repeats") {
  const Dims shapes[][3] = {{{2, 3, 4}, {2, 3, 4}, {2, 3, 4}},  {{2, 1, 4}, {3, 1}, {2, 3, 4}}, {{1}, {2, 3}, {3}},
                            {{2, 3, 1}, {}, {1, 1, 5}},         {{4}, {2, 1, 1}, {1, 3, 1}},    {{}, {}, {}},
                            {{1, 1, 7}, {1, 90, 7}, {80, 1, 7}}};
  for (const DType type : {DType::kF32, DType::kF64, DType::kI64, DType::kU8, DType::kF16, DType::kC128})
    for (const auto& [condition, yes, no] : shapes) {
      INFO(name(type) << ": " << to_string(condition) << ", " << to_string(yes) << ", " << to_string(no));
      require_as_reference(
          "Where",
          {uniform(condition, 0, 2, DType::kBool), uniform(yes, 0, 100, type, 2), uniform(no, 0, 100, type, 3)}, {}, 0);
    }
}

}  // namespace mlopt::test
