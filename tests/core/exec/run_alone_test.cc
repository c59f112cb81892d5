#include "core/exec/run_alone.h"

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("a step runs on loose memory, with scratch, omitted inputs and several outputs") {
  PlannedStep step{.out = {{DType::kF32, {2}}, {DType::kF32, {1}}}};
  step.scratch_bytes = 8;
  step.run = [](const Buffers& b) {
    auto* sums = reinterpret_cast<float*>(b.scratch);
    for (int i = 0; i < 2; ++i) sums[i] = b.in<float>(0)[i] + b.in<float>(2)[i];
    std::copy_n(sums, 2, b.out<float>(0));
    b.out<float>(1)[0] = b.in<float>(1) ? 1.0f : 2.0f;
  };
  const float x[] = {1, 2}, z[] = {10, 20};
  float y[2] = {}, given[1] = {};
  const std::byte* const in[] = {reinterpret_cast<const std::byte*>(x), nullptr, reinterpret_cast<const std::byte*>(z)};
  std::byte* const out[] = {reinterpret_cast<std::byte*>(y), reinterpret_cast<std::byte*>(given)};
  run_alone(step, in, out);
  CHECK(y[0] == 11);
  CHECK(y[1] == 22);
  CHECK(given[0] == 2);
}

TEST_CASE("several views become copies, one behind the other") {
  PlannedStep step{.out = {{DType::kF32, {1}}, {DType::kF32, {2}}}};
  step.view_of = 0;
  const float x[] = {1, 2, 3};
  float y[1] = {}, z[2] = {};
  const std::byte* const in[] = {reinterpret_cast<const std::byte*>(x)};
  std::byte* const out[] = {reinterpret_cast<std::byte*>(y), reinterpret_cast<std::byte*>(z)};
  run_alone(step, in, out);
  CHECK(y[0] == 1);
  CHECK(z[0] == 2);
  CHECK(z[1] == 3);
}

TEST_CASE("a view becomes a copy") {
  PlannedStep step{.out = {{DType::kF32, {2}}}};
  step.view_of = 0;
  step.view_offset = sizeof(float);
  const float x[] = {1, 2, 3};
  float y[2] = {};
  const std::byte* const in[] = {reinterpret_cast<const std::byte*>(x)};
  std::byte* const out[] = {reinterpret_cast<std::byte*>(y)};
  run_alone(step, in, out);
  CHECK(y[0] == 2);
  CHECK(y[1] == 3);
}
