#include "quantize/check_spec.h"

#include "core/base/error.h"
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

TEST_CASE("parts that must not be together are refused, with what would do") {
  for (const Case& c : {Case{"codebook8v4:method=gptq", "codes of single numbers"},
                        Case{"bf16:outliers=1%", "has room for large numbers"},
                        Case{"fp16:rotate", "has room for large numbers"},
                        Case{"w8a8:outliers=1%;require_integer", "multiplied in float"},
                        Case{"w8a8:sparse_outliers=1%", "no numbers beside"},
                        Case{"fp16:sparse_outliers=1%", "no numbers beside"},
                        Case{"w4:sparse_outliers=60%", "at most 50%"},
                        Case{"mixed:bits=4;sparse_outliers=1%", "mixed:size="},
                        Case{"w4:method=brecq;sparse_outliers=1%", "all numbers of a block"},
                        Case{"fp16:equalize", "keeps what integers would lose"},
                        Case{"w8:calibration=mse", "w8 calibrates nothing"},
                        Case{"w8a8-dynamic:calibration=entropy", "w8a8-dynamic calibrates nothing"},
                        Case{"bf16:calibration=mse", "calibrates nothing"},
                        Case{"fp16:per_tensor", "fp16 has no scales"},
                        Case{"fp16:symmetric", "no choice of a zero point"},
                        Case{"w8a8-dynamic:symmetric", "no choice of a zero point"},
                        Case{"nf4:symmetric", "no choice of a zero point"},
                        Case{"ternary:symmetric", "no choice of a zero point"},
                        Case{"fp16:emit=qdq", "qdq is a form of codes"},
                        Case{"bf16:emit=qoperator", "bf16 has none"},
                        Case{"mixed:bits=5;size=40%", "'size=40%' is a second budget beside bits=5"}}) {
    INFO(c.text);
    CHECK(test::contains(test::error_of([&] { parse_spec(c.text); }), c.part));
  }
  quantize::Spec spec;
  CHECK_NOTHROW(quantize::check_spec(spec));
  spec.accuracy_level = 4;
  CHECK_THROWS_AS(quantize::check_spec(spec), Error);
}

TEST_CASE("a target that cannot compute with a format refuses it") {
  CHECK(parse_spec("w8a8:target=tensorrt").symmetric);
  CHECK_NOTHROW(parse_spec("fp16:target=tensorrt"));
  CHECK(to_string(parse_spec("w4g32:target=tensorrt:sm_86")) == "w4g32:symmetric;target=tensorrt:sm_86");
  for (const Case& c :
       {Case{"w4a8:target=tensorrt", "TensorRT does not compute with w4a8"}, Case{"w3:target=tensorrt", "choose w8a8"},
        Case{"nf4:target=tensorrt", "TensorRT"}, Case{"w8a8-dynamic:target=tensorrt", "TensorRT"},
        Case{"mixed:bits=4;target=tensorrt", "TensorRT"}, Case{"fp8e4m3:target=tensorrt:sm_86", "sm_89"},
        Case{"w8a8:emit=qoperator;target=openvino", "does not run qoperator"},
        Case{"w4g32:emit=matmulnbits;target=openvino:x86-amx", "does not run matmulnbits"},
        Case{"w4:require_integer", "leaves activations in floats"}}) {
    INFO(c.text);
    CHECK(test::contains(test::error_of([&] { parse_spec(c.text); }), c.part));
  }
  CHECK_NOTHROW(parse_spec("fp8e4m3:target=tensorrt:sm_89"));
}
