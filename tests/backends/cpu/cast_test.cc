#include <bit>
#include <cmath>
#include <numeric>

#include "core/tensor/halves.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {

TEST_CASE("numbers are cast between all types as the reference does") {
  constexpr DType kTypes[] = {DType::kF32, DType::kF64, DType::kI64, DType::kI32, DType::kI8, DType::kU8, DType::kBool};
  for (const DType from : kTypes)
    for (const DType to : kTypes) {
      INFO(name(from) << " to " << name(to));
      const OpOptions options{.attrs = {{"to", static_cast<int64_t>(to), ""}}};
      require_as_reference("Cast", {uniform({3, 50}, is_signed(from) ? -300 : 0, 300, from)}, options, 0);
      require_as_reference("Cast", {tensor({5}, {0, 1, 2.7, 255, 0.4}, from)}, options, 0);
    }
}

TEST_CASE("some of many floats do not fit") {
  for (const double odd : {2147483647.0, 2147483648.0, -2147483648.0, -2147483649.0, 1e20, std::nan("")})
    for (const DType from : {DType::kF32, DType::kF64})
      for (const DType to : {DType::kI64, DType::kI32, DType::kI8, DType::kU8}) {
        INFO(odd << " as " << name(from) << " to " << name(to));
        Tensor x = uniform({1000}, -1e9, 1e9, DType::kF64);
        x.mutable_data<double>()[300] = odd;
        require_as_reference("Cast", {cast(x, from)}, {.attrs = {{"to", static_cast<int64_t>(to), ""}}}, 0);
      }
}

TEST_CASE("floats that no integer holds, and short floats") {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor odd = tensor({8}, {inf, -inf, std::nan(""), 1e30, -1e30, -0.0, 3e9, 65519});
  for (const DType to : {DType::kI64, DType::kI32, DType::kU8, DType::kBool, DType::kF64, DType::kF16, DType::kBF16})
    require_as_reference("Cast", {odd}, {.attrs = {{"to", static_cast<int64_t>(to), ""}}}, 0);
  for (const DType type : {DType::kF16, DType::kBF16}) {
    require_as_reference("Cast", {uniform({3, 70}, -9, 9, type)}, {.attrs = {{"to", int64_t{1}, ""}}}, 0);
    require_as_reference("Cast", {uniform({31}, -70000, 70000)}, {.attrs = {{"to", static_cast<int64_t>(type), ""}}},
                         0);
  }
}

TEST_CASE("all 16 bit patterns become floats, and those the same patterns") {
  std::vector<uint16_t> all(65536);
  std::iota(all.begin(), all.end(), uint16_t{0});
  std::vector<float> wide(all.size());
  const auto require_all = [&](auto sample) {
    using T = decltype(sample);
    std::vector<T> back(all.size());
    widen(reinterpret_cast<const T*>(all.data()), wide.data(), 65536);
    narrow(wide.data(), back.data(), 65536);
    for (size_t i = 0; i < all.size(); ++i) {
      const float expected = to_float(T{all[i]});
      const bool same = std::isnan(expected) ? std::isnan(wide[i]) && std::isnan(to_float(back[i]))
                                             : wide[i] == expected && back[i].bits == all[i];
      if (!same) FAIL("pattern " << all[i]);
    }
  };
  require_all(Half());
  require_all(BFloat16());
}

TEST_CASE("floats between two short ones go to the nearest, ties to even") {
  const auto require_near = [](auto sample, int dropped) {
    using T = decltype(sample);
    for (uint32_t bits = 0x33000000; bits < 0x47ff0000; bits += 0x3ff) {  // about where float16 has numbers
      std::vector<float> in;
      for (const uint32_t rest : {0u, 1u, (1u << (dropped - 1)) - 1, 1u << (dropped - 1), (1u << (dropped - 1)) + 1})
        for (const uint32_t sign : {0u, 1u << 31})
          in.push_back(std::bit_cast<float>((bits >> dropped << dropped | rest) ^ sign));
      std::vector<T> out(in.size());
      narrow(in.data(), out.data(), static_cast<int64_t>(in.size()));
      for (size_t i = 0; i < in.size(); ++i) {
        T expected;
        if constexpr (std::is_same_v<T, Half>)
          expected = to_half(in[i]);
        else
          expected = to_bfloat16(in[i]);
        if (out[i].bits != expected.bits) FAIL(in[i]);
      }
    }
  };
  require_near(Half(), 13);
  require_near(BFloat16(), 16);
}

}  // namespace mlopt::test
