#include "quantize/spec.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/measure/machine.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"

using namespace mlopt;
using quantize::parse_spec;
using quantize::to_string;

namespace {

struct Case {
  const char *text, *part;
};

}  // namespace

TEST_CASE("a quantization spec is printed as it was parsed") {
  for (const char* text : {"w8a8:calibration=minmax",
                           "w8a8:calibration=percentile=99.9;per_tensor;skip=/head/*|fc",
                           "w8a8:calibration=entropy;emit=qoperator;symmetric;target=ort:x86-amx;only=a|b?",
                           "w8a8-dynamic",
                           "w8:per_tensor",
                           "fp16",
                           "bf16:skip=norm*",
                           "w4g32:emit=matmulnbits;symmetric",
                           "nf4:emit=matmulbnb4",
                           "codebook3g64:emit=gather;target=onnx;only=a",
                           "apot4:emit=fake",
                           "w1a8:calibration=minmax",
                           "w3a2:calibration=mse",
                           "w16a16:calibration=percentile=99.9",
                           "w8a8:calibration=minmax;per_tensor;equalize;correct_bias",
                           "w4:equalize",
                           "codebook8v4:rotate;outliers=0.5%",
                           "w4g32:opset=17;accuracy_level=4",
                           "w8a8:calibration=minmax;method=smoothquant",
                           "w8a8-dynamic:method=smoothquant",
                           "w4a8:calibration=minmax;method=adaround",
                           "w8a8:calibration=minmax;requantize;require_integer",
                           "w8a8:calibration=minmax;target=openvino:x86-amx",
                           "w8a8:calibration=minmax;symmetric;target=tensorrt"})
    CHECK(to_string(parse_spec(text)) == text);
}

TEST_CASE("names of nodes may hold what separates the parts of a spec") {
  quantize::Spec spec = parse_spec("w8:skip=plain");
  spec.skip.insert(spec.skip.end(), {"a;b", "c|d", "e\\f"});
  const quantize::Spec again = parse_spec(to_string(spec));
  CHECK(again.skip == spec.skip);
  CHECK(parse_spec("w8:").skip.empty());
  CHECK(parse_spec("w8:skip=").skip.empty());
  CHECK(parse_spec("w8:skip=a;skip=b").skip == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a spec keeps the formats of single layers") {
  const char* text = "w8:layers=nf4=/b|c\\;d;layers=w4g32=/a";
  const quantize::Spec spec = parse_spec(text);
  CHECK(to_string(spec) == text);
  REQUIRE(spec.plan.size() == 3);
  CHECK(to_string(spec.plan.at("/a")) == "w4g32");
  CHECK(to_string(spec.plan.at("c;d")) == "nf4");
  for (const char* wrong : {"w8:layers=/a", "w8:layers=w44=/a", "w8a8:layers=w4=/a", "mixed:size=40%;layers=w4=/a"})
    CHECK_THROWS_AS(parse_spec(wrong), Error);
}

TEST_CASE("every format has one name") {
  for (const std::string& format : quantize::format_names())
    if (format != "mixed") CHECK(quantize::name(parse_spec(format)) == format);
  const char* mixed = "mixed:size=40%;method=gptq;skip=/head/*";
  CHECK(to_string(parse_spec(mixed)) == mixed);
  CHECK_THROWS_AS(parse_spec("mixed"), Error);
  CHECK_THROWS_AS(parse_spec("w4:size=40%"), Error);
}

TEST_CASE("a mistake in a quantization spec is named, with what was meant") {
  for (const Case& c : {Case{"w8b8", "did you mean 'w8a8'"},
                        Case{"w8a8:calibraton=mse", "did you mean 'calibration'"},
                        Case{"w4:opse=17", "did you mean 'opset'"},
                        Case{"w4:accuracy_levels=4", "did you mean 'accuracy_level'"},
                        Case{"w8a8:emit=qop", "no form is called 'qop'"},
                        Case{"w8a8:emit=gather", "a form of weights alone"},
                        Case{"w4:emit=qoperator", "integers on both sides"},
                        Case{"w4:method=rt", "did you mean 'rtn'"},
                        Case{"w8a8:method=hqq", "hqq is for formats of weights alone"},
                        Case{"w8a8-dynamic:method=gptq", "gptq is for weights alone and"},
                        Case{"w4:outliers=1", "no share of the input"},
                        Case{"w4:outliers=60%", "at most 50%"},
                        Case{"w4:method=smoothquant", "formats of weights and activations"},
                        Case{"nf5", "did you mean 'nf4'"},
                        Case{"w4:opset=new", "'new' is no number"},
                        Case{"w4:accuracy_level=5", "from 0 to 4"},
                        Case{"w8a8:accuracy_level=4", "for weights alone in ONNX Runtime"},
                        Case{"w8a8:target=ort:x86-amxx", "did you mean 'ort:x86-amx'"},
                        Case{"w8a8:per_tensor=1", "'per_tensor=1' is no part"},
                        Case{"", "no format is called ''"}}) {
    INFO(c.text);
    const std::string said = test::error_of([&] { parse_spec(c.text); });
    CHECK(test::contains(said, c.part));
  }
}

TEST_CASE("only targets that are sure to have a dot product of bytes need no room for pairs") {
  CHECK(parse_spec("w8a8").pairs_saturate());
  CHECK(parse_spec("w8a8:target=ort:x86-avx2").pairs_saturate());
  CHECK_FALSE(parse_spec("w8a8:target=ort:x86-amx").pairs_saturate());
  CHECK_FALSE(parse_spec("w8a8:target=ort:arm-dot").pairs_saturate());
  CHECK(parse_spec("w8a8:target=openvino").pairs_saturate());
  CHECK_FALSE(parse_spec("w8a8:target=openvino:x86-amx").pairs_saturate());
  CHECK_FALSE(parse_spec("w8a8:target=tensorrt").pairs_saturate());
}

TEST_CASE("the target of this machine is kept by its name") {
  const std::string printed = to_string(parse_spec("w8a8:target=ort:native"));
  CHECK_FALSE(test::contains(printed, "native"));
  CHECK(to_string(parse_spec(printed)) == printed);
  const std::vector<std::string> features = describe_machine().features;
  const bool adds_in_32_bits = std::any_of(features.begin(), features.end(), [](const std::string& f) {
    return f == "avx512_vnni" || f == "avx_vnni" || f == "amx_int8" || f == "asimddp";
  });
  if (!adds_in_32_bits) CHECK(parse_spec("w8a8:target=ort:native").pairs_saturate());
}
