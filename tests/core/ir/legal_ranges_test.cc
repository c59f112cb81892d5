#include "core/ir/legal_ranges.h"

#include "core/onnx/io.h"
#include "tests/support/catch.h"

namespace mlopt {
namespace {

/// The range of input `x` of a graph in ONNX's text form.
std::optional<ValueRange> range_of(const std::string& graph) {
  const Model model = parse_text("<ir_version: 8, opset_import: [\"\" : 17]>\n" + graph);
  return legal_range(*model.graph->inputs()[0]);
}

void check(const std::optional<ValueRange>& range, double low, double high) {
  REQUIRE(range.has_value());
  CHECK(range->low == low);
  CHECK(range->high == high);
}

}  // namespace

TEST_CASE("token ids lie in the table they index, also behind casts, shapes and offsets") {
  check(range_of("g (int64[N,8] x, float[50,4] table) => (float[N,8,4] y) { y = Gather(table, x) }"), 0, 49);
  check(range_of("g (int64[N,8] x, float[4,50] table) => (float[4,N,8] y) { y = Gather<axis = -1>(table, x) }"), 0, 49);
  check(range_of("g (int32[N,8] x, float[50,4] table) => (float[N,8,4] y) { i = Cast<to = 7>(x) u = Identity(i) "
                 "y = Gather(table, u) }"),
        0, 49);
  check(range_of("g (int64[N] x, float[50,4] table) => (float[N,4] y) <int64 two = {2}> { i = Add(x, two) y = "
                 "Gather(table, i) }"),
        0, 47);
  check(
      range_of(
          "g (int64[N] x, float[50,4] table, float[9,4] small) => (float[N,4] y, float[N,4] z) { y = Gather(table, x) "
          "z = Gather(small, x) }"),
      0, 8);
}

TEST_CASE("lengths, masks, bytes and flags") {
  for (const char* data : {"T,B,3] s) => (float[T,1,B,2] y) { y = LSTM<layout = 0",
                           "B,T,3] s) => (float[B,T,1,2] y) { y = LSTM<layout = 1"}) {
    const auto length = range_of(std::string("g (int32[B] x, float[1,8,3] w, float[1,8,2] r, float[") + data +
                                 ", hidden_size = 2>(s, w, r, , x) }");
    REQUIRE(length.has_value());
    CHECK(length->low == 1);
    CHECK(length->high_dim == Dim::symbol("T"));
  }
  const auto named = range_of("g (int64[B] input_lengths, float[B,T,3] s) => (int64[B] y) { y = Neg(input_lengths) }");
  REQUIRE(named.has_value());
  CHECK(named->high_dim == Dim::symbol("T"));
  check(range_of("g (float[N,8] attention_mask) => (float[N,8] y) { y = Neg(attention_mask) }"), 0, 1);
  check(range_of("g (bool[N] x) => (bool[N] y) { y = Not(x) }"), 0, 1);
  check(range_of("g (uint8[N,3] x) => (float[N,3] y) { y = Cast<to = 1>(x) }"), 0, 255);
  check(range_of("g (int8[N,3] x) => (float[N,3] y) { y = Cast<to = 1>(x) }"), -128, 127);
}

TEST_CASE("arguments stay in the domain of their operator; others are free") {
  check(range_of("g (float[N] x) => (float[N] y) { y = Log(x) }"), 0.1, 4);
  check(range_of("g (float[N] x) => (float[N] y) { a = Identity(x) y = Acos(a) }"), -1, 1);
  CHECK(!range_of("g (float[N] x) => (float[N] y) { y = Relu(x) }"));
  CHECK(!range_of("g (int64[N] x) => (int64[N] y) { y = Neg(x) }"));
}

}  // namespace mlopt
