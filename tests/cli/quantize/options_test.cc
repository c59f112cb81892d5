#include "cli/quantize/options.h"

#include "core/base/error.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"

using namespace mlopt;
using namespace mlopt::cli;

TEST_CASE("options add to the spec that --to holds") {
  QuantizeOptions o;
  o.method = "hqq";
  o.per_tensor = true;
  o.outliers = "1%";
  o.opset = 21;
  o.skip = {"/head/*,last"};
  const quantize::Spec spec = spec_of(o, "w4g32:symmetric");
  CHECK(to_string(spec) == "w4g32:method=hqq;per_tensor;symmetric;outliers=1%;opset=21;skip=/head/*|last");
  CHECK(quantize::parse_spec(to_string(spec)).skip == spec.skip);
  QuantizeOptions tokens;
  tokens.per_token = true;
  CHECK(to_string(spec_of(tokens, "w8a8-dynamic")) == "w8a8-dynamic:per_token");
}

TEST_CASE("options that the format has no use for are refused") {
  QuantizeOptions o;
  o.per_token = true;
  CHECK(test::contains(test::error_of([&] { spec_of(o, "w8a8"); }), "choose w8a8-dynamic"));
  QuantizeOptions share;
  share.sparse_outliers = "much";
  CHECK(test::contains(test::error_of([&] { spec_of(share, "w4"); }), "'much' is no share of the numbers"));
}

TEST_CASE("among several formats an option is for those that leave it something to choose") {
  QuantizeOptions o;
  o.calibration = "entropy";
  o.symmetric = o.per_tensor = true;
  o.emit = "qdq";
  CHECK(to_string(spec_among(o, "w8a8")) == "w8a8:calibration=entropy;per_tensor;symmetric");
  CHECK(to_string(spec_among(o, "w8a8-dynamic")) == "w8a8-dynamic:per_tensor");
  CHECK(to_string(spec_among(o, "w4")) == "w4:emit=qdq;per_tensor;symmetric");
  CHECK(to_string(spec_among(o, "nf4")) == "nf4:emit=qdq;per_tensor");
  CHECK(to_string(spec_among(o, "fp16")) == "fp16");
  for (const char* format : {"w8a8-dynamic", "w4", "nf4", "fp16"}) CHECK_THROWS_AS(spec_of(o, format), Error);
  o.calibration = "best";
  CHECK_THROWS_AS(spec_among(o, "fp16"), Error);
}
