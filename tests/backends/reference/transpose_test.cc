#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

TEST_CASE("Transpose moves axes in every width") {
  for (const DType type : {DType::kU4, DType::kI8, DType::kF16, DType::kF32, DType::kF64}) {
    check_cases({
        {"Transpose", {counting({2, 3}, type)}, {}, {tensor({3, 2}, {0, 3, 1, 4, 2, 5}, type)}},
        {"Transpose", {counting({1, 2, 3}, type)}, {{attr("perm", Ints{1, 0, 2})}}, {counting({2, 1, 3}, type)}},
        {"Transpose",
         {counting({2, 2, 2}, type)},
         {{attr("perm", Ints{0, 2, 1})}},
         {tensor({2, 2, 2}, {0, 2, 1, 3, 4, 6, 5, 7}, type)}},
    });
  }
  check_cases({
      {"Transpose", {counting({})}, {}, {counting({})}},
      {"Transpose", {Tensor(DType::kF32, {0, 3})}, {}, {Tensor(DType::kF32, {3, 0})}},
      {"Transpose", {Tensor::of_strings({2, 1}, {"a", "b"})}, {}, {Tensor::of_strings({1, 2}, {"a", "b"})}},
  });
  check_errors({
      {"Transpose", {counting({2, 3})}, {{attr("perm", Ints{0, 0})}}, "named twice"},
      {"Transpose", {counting({2, 3})}, {{attr("perm", Ints{0})}}, "1 axes of 2"},
      {"Transpose", {counting({2, 3})}, {{attr("perm", Ints{0, 2})}}, "axis 2"},
  });
}

TEST_CASE("a large Transpose agrees with the definition") {
  const Dims dims{3, 70, 5, 41};  // larger than a block, and no multiple of it
  const Tensor out = run_op("Transpose", {counting(dims, DType::kI32)}, {{attr("perm", Ints{0, 3, 2, 1})}});
  REQUIRE(out.dims() == Dims{3, 41, 5, 70});
  int64_t wrong = 0;
  const int32_t* cell = out.data<int32_t>();
  for (int32_t a = 0; a < 3; ++a)
    for (int32_t d = 0; d < 41; ++d)
      for (int32_t c = 0; c < 5; ++c)
        for (int32_t b = 0; b < 70; ++b) wrong += *cell++ != ((a * 70 + b) * 5 + c) * 41 + d;
  REQUIRE(wrong == 0);
}

TEST_CASE("DepthToSpace and SpaceToDepth undo one another") {
  const Tensor deep = counting({1, 8, 1, 2});
  const Tensor dcr = tensor({1, 2, 2, 4}, {0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15});
  const Tensor crd = tensor({1, 2, 2, 4}, {0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15});
  const Attr two = attr("blocksize", 2);
  check_cases({
      {"DepthToSpace", {deep}, {{two}}, {dcr}},
      {"DepthToSpace", {deep}, {{two, attr("mode", "CRD")}}, {crd}},
      {"SpaceToDepth", {dcr}, {{two}}, {deep}},
      {"SpaceToDepth", {crd}, {{two, attr("mode", "CRD")}, 28}, {deep}},
  });
  check_errors({
      {"DepthToSpace", {counting({1, 6, 1, 1})}, {{two}}, "no multiple"},
      {"SpaceToDepth", {counting({1, 1, 3, 2})}, {{two}}, "no multiples"},
      {"SpaceToDepth", {counting({1, 1, 2, 2})}, {{attr("blocksize", 0)}}, "positive"},
  });
}

TEST_CASE("ReverseSequence turns the first steps of each sequence") {
  const Tensor data = counting({3, 2}), lengths = Tensor::ints({2, 3});
  check_cases({
      {"ReverseSequence", {data, lengths}, {}, {tensor({3, 2}, {2, 5, 0, 3, 4, 1})}},
      {"ReverseSequence",
       {counting({2, 3}), Tensor::ints({0, 2})},
       {{attr("batch_axis", 0), attr("time_axis", 1)}},
       {tensor({2, 3}, {0, 1, 2, 4, 3, 5})}},
  });
  check_errors({
      {"ReverseSequence", {data, Tensor::ints({1, 4})}, {}, "outside the time axis"},
      {"ReverseSequence", {data, Tensor::ints({1})}, {}, "one length"},
  });
}

}  // namespace
}  // namespace mlopt::test
