#include "core/base/error.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

Attr integer(const char* name, int64_t x) { return {name, x, ""}; }

Tensor numbers(const Dims& dims, uint64_t seed) { return uniform(dims, -2, 2, DType::kF32, seed); }

Tensor positions(const Dims& dims, int64_t below) {
  return uniform(dims, 0, static_cast<double>(below), DType::kI64, 7);
}

constexpr double kRounding = 1e-6;  // of two products and a sum

}  // namespace

TEST_CASE("pairs turn by tables with positions and without, all of a head or its beginning") {
  for (const int64_t interleaved : {0, 1})
    for (const int64_t half : {1, 3, 8, 17}) {
      INFO("interleaved " << interleaved << ", " << half << " pairs");
      const std::vector<Attr> whole{integer("interleaved", interleaved), integer("num_heads", 3)};
      const int64_t size = 2 * half;
      const Tensor c = numbers({11, half}, 2), s = numbers({11, half}, 3);
      require_as_reference("RotaryEmbedding", {numbers({2, 3, 5, size}, 1), c, s, positions({2, 5}, 11)},
                           {.attrs = whole}, kRounding);
      require_as_reference("RotaryEmbedding", {numbers({2, 5, 3 * size}, 1), c, s, positions({2, 5}, 11)},
                           {.attrs = whole}, kRounding);
      const Tensor rows = numbers({2, 5, half}, 4), others = numbers({2, 5, half}, 5);
      require_as_reference("RotaryEmbedding", {numbers({2, 3, 5, size}, 1), rows, others}, {.attrs = whole}, kRounding);
      require_as_reference("RotaryEmbedding", {numbers({2, 5, 3 * size}, 1), rows, others}, {.attrs = whole},
                           kRounding);
      const Tensor shared = numbers({1, 5, half}, 6);
      require_as_reference("RotaryEmbedding", {numbers({2, 3, 5, size}, 1), shared, shared}, {.attrs = whole},
                           kRounding);
      std::vector<Attr> part = whole;
      part.push_back(integer("rotary_embedding_dim", size));
      require_as_reference("RotaryEmbedding", {numbers({2, 3, 5, size + 5}, 1), c, s, positions({2, 5}, 11)},
                           {.attrs = part}, kRounding);
      require_as_reference("RotaryEmbedding", {numbers({2, 5, 3 * (size + 1)}, 1), rows, others}, {.attrs = part},
                           kRounding);
    }
}

TEST_CASE("com.microsoft's positions are those of all rows or that of the first") {
  const Tensor c = numbers({9, 2}, 2), s = numbers({9, 2}, 3), first = tensor({1}, {4}, DType::kI64);
  for (const int64_t interleaved : {0, 1}) {
    const OpOptions options{.attrs = {integer("interleaved", interleaved)}, .domain = "com.microsoft"};
    require_as_reference("RotaryEmbedding", {numbers({2, 3, 5, 4}, 1), positions({2, 5}, 9), c, s}, options, kRounding);
    require_as_reference("RotaryEmbedding", {numbers({2, 5, 12}, 1), positions({2, 5}, 9), c, s}, options, kRounding);
    require_as_reference("RotaryEmbedding", {numbers({2, 3, 5, 4}, 1), first, c, s}, options, kRounding);
    require_as_reference("RotaryEmbedding", {numbers({1, 3, 1, 4}, 1), first, c, s}, options, kRounding);
  }
}

TEST_CASE("many rows are shared among threads") {
  require_as_reference(
      "RotaryEmbedding",
      {numbers({2, 12, 130, 64}, 1), numbers({200, 32}, 2), numbers({200, 32}, 3), positions({2, 130}, 200)}, {},
      kRounding);
}

TEST_CASE("a position that the table has not is an error") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  OpOptions options;
  options.backend = cpu.get();
  const Tensor x = numbers({1, 2, 2, 4}, 1), table = numbers({3, 2}, 2);
  for (const double place : {-1.0, 3.0})
    CHECK_THROWS_AS(run_op("RotaryEmbedding", {x, table, table, tensor({1, 2}, {0, place}, DType::kI64)}, options),
                    Error);
}

}  // namespace mlopt::test
