#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

/// y = x normalized over `axes`: the mean of the square of d, and what is made of it and d.
std::string graph(const std::string& end, const std::string& start = "m = ReduceMean (x, last)  d = Sub (x, m)",
                  const std::string& square = "Pow (d, two)") {
  return "g (double[N,M,6] x) => (double[N,M,6] y) <double two = {2}, double one = {1}, double e = {0.00001}, "
         "double half = {0.5}, double neg = {-0.5}, int64[1] last = {-1}, int64[1] first = {0}> { " +
         start + "  q = " + square + "  v = ReduceMean (q, last)  a = Add (v, e)  " + end + " }";
}

}  // namespace

TEST_CASE("LayerNorm becomes one operator however it is spelt") {
  const std::string centre = "m = ReduceMean (x, last)  d = Sub (x, m)";
  for (const char* end : {"r = Sqrt (a)  y = Div (d, r)", "r = Pow (a, half)  y = Div (d, r)",
                          "r = Sqrt (a)  i = Reciprocal (r)  y = Mul (d, i)", "r = Pow (a, neg)  y = Mul (r, d)",
                          "r = Sqrt (a)  i = Div (one, r)  y = Mul (i, d)"})
    CHECK(rewritten(fusion::fuse_layer_norm, graph(end), 21, 1e-9) == "LayerNormalization");
  CHECK(rewritten(fusion::fuse_layer_norm, graph("r = Sqrt (a)  y = Div (d, r)", centre, "Mul (d, d)"), 21, 1e-9) ==
        "LayerNormalization");
  CHECK(rewritten(fusion::fuse_layer_norm, graph("r = Sqrt (a)  c = Sub (x, m)  y = Div (c, r)", centre), 21, 1e-9) ==
        "LayerNormalization");
}

TEST_CASE("a scale that comes before the division is the normalization's") {
  const auto text = [](const std::string& type, const std::string& end) {
    return "g (double[N,M,6] x, " + type +
           " G) => (double[N,M,6] y) <double e = {0.001}, int64[1] last = {-1}> { m = ReduceMean (x, last)  d = Sub "
           "(x, "
           "m)  q = Mul (d, d)  v = ReduceMean (q, last)  a = Add (v, e)  r = Sqrt (a)  s = Mul (G, d)  " +
           end + " }";
  };
  CHECK(rewritten(fusion::fuse_layer_norm, text("double[6]", "y = Div (s, r)"), 21, 1e-7) == "LayerNormalization");
  CHECK(rewritten(fusion::fuse_layer_norm, text("double[6]", "i = Reciprocal (r)  y = Mul (i, s)"), 21, 1e-7) ==
        "LayerNormalization");
  CHECK(declined(fusion::fuse_layer_norm, text("double[1]", "y = Div (s, r)"))
            .find("the scale is not as long as the normalized axes") != std::string::npos);
}

TEST_CASE("an epsilon that is too small for the type is left out by exporters") {
  CHECK(rewritten(fusion::fuse_layer_norm,
                  R"(g (double[N,M,6] x) => (double[N,M,6] y) <double two = {2}, int64[1] last = {-1}> {
    m = ReduceMean (x, last)  d = Sub (x, m)  q = Pow (d, two)  v = ReduceMean (q, last)  r = Sqrt (v)  y = Div (d, r) })",
                  21, 1e-9) == "LayerNormalization");
}

TEST_CASE("the variance of a sample is a multiple of the mean of squares") {
  const auto text = [](const std::string& end, const std::string& type = "double[6] S") {
    return "g (double[N,M,6] x, " + type +
           ") => (double[N,M,6] y) <double e = {0.25}, double c = {1.2}, int64[1] last = {-1}> { m = ReduceMean (x, "
           "last)  d = Sub (x, m)  q = Mul (d, d)  v = ReduceMean (q, last)  w = Mul (v, c)  a = Add (w, e)  r = Sqrt "
           "(a)  " +
           end + " }";
  };
  CHECK(rewritten(fusion::fuse_layer_norm, text("y = Div (d, r)"), 21, 1e-6) == "LayerNormalization");
  CHECK(rewritten(fusion::fuse_layer_norm, text("s = Mul (S, d)  y = Div (s, r)"), 21, 1e-6) == "LayerNormalization");
  CHECK(declined(fusion::fuse_layer_norm, text("s = Mul (t, d)  y = Div (s, r)", "double[6] t"))
            .find("the scale is not constant, and the variance that of a sample") != std::string::npos);
}

TEST_CASE("without the mean it is RMSNorm") {
  const std::string plain = graph("r = Sqrt (a)  y = Div (x, r)", "", "Mul (x, x)");
  CHECK(rewritten(fusion::fuse_layer_norm, plain, 23, 1e-9) == "RMSNormalization");
  CHECK(rewritten(fusion::fuse_layer_norm, plain, 21, 1e-9, Target::kOrt) == "SimplifiedLayerNormalization");
  CHECK(declined(fusion::fuse_layer_norm, plain, 22) ==
        "RMSNormalization needs opset 23; not a value divided by its root mean square");
}

TEST_CASE("axes are an attribute before opset 18") {
  CHECK(rewritten(fusion::fuse_layer_norm,
                  R"(g (double[N,6] x) => (double[N,6] y) <double two = {2}, double e = {0.001}> {
    m = ReduceMean <axes = [-1]> (x)  d = Sub (x, m)  q = Pow (d, two)  v = ReduceMean <axes = [1]> (q)
    a = Add (v, e)  r = Sqrt (a)  y = Div (d, r) })",
                  17, 1e-7) == "LayerNormalization");
}

TEST_CASE("what is no normalization stays") {
  const std::string end = "r = Sqrt (a)  y = Div (d, r)";
  CHECK(declined(fusion::fuse_layer_norm, graph("r = Sqrt (a)  y = Div (x, r)")) ==
        "not a value divided by its root mean square");
  CHECK(declined(fusion::fuse_layer_norm, graph(end, "m = ReduceMean (x, first)  d = Sub (x, m)")) ==
        "RMSNormalization needs opset 23");  // another axis is centred
  CHECK(declined(fusion::fuse_layer_norm, R"(g (double[N,M] x) => (double[N,M] y)
    <double e = {0.1}, int64[1] last = {-1}> {
    q = Mul (x, x)  v = ReduceMean (q, last)  a = Add (v, e)  r = Sqrt (a)  y = Div (x, r) })",
                 23) == "not a value divided by its root mean square; the length of a normalized axis is not known");
}

TEST_CASE("a normalization whose divisor is read elsewhere too stays, for all that it is made of would") {
  for (const std::string end : {"r = Sqrt (a)  y = Div (d, r)", "r = Pow (a, neg)  y = Mul (d, r)"}) {
    std::string text = graph(end);
    text.replace(text.find("[N,M,6] y"), 9, "[N,M,6] y, double[N,M,1] r");
    CHECK(declined(fusion::fuse_layer_norm, text) == "not a value divided by its root mean square");
  }
}

TEST_CASE("a factor and an addend after the normalization are its scale and bias") {
  const std::string norm =
      "g (double[N,6] x, double[6] S, double[6] B, double[N,6] z) => (double[N,6] y) "
      "<double[6] one = {1,1,1,1,1,1}> { n = LayerNormalization (x, one)  ";
  CHECK(rewritten(fusion::fold_scale_into_norm, norm + "y = Mul (n, S) }", 21, 1e-9) == "LayerNormalization");
  CHECK(rewritten(fusion::fold_scale_into_norm, norm + "y = Add (B, n) }", 21, 1e-9) == "LayerNormalization");
  CHECK(rewritten(fusion::fold_scale_into_norm, norm + "p = Mul (S, n)  y = Add (p, B) }", 21, 1e-9) ==
        "LayerNormalization");
  CHECK(declined(fusion::fold_scale_into_norm, norm + "y = Mul (n, z) }") ==
        "the factor is not as long as the normalized axes");
  CHECK(declined(fusion::fold_scale_into_norm, norm + "p = Mul (n, S)  y = Add (p, n) }") ==
        "the result of LayerNormalization giving 'n' is used elsewhere too");
}

TEST_CASE("constant scales are multiplied, and one that is computed stays") {
  const std::string graph = R"(g (double[N,6] x, double[6] S, double[6] T, double[6] t) => (double[N,6] y) { )";
  CHECK(rewritten(fusion::fold_scale_into_norm, graph + "n = LayerNormalization (x, T)  y = Mul (n, S) }", 21, 1e-9) ==
        "LayerNormalization");
  CHECK(declined(fusion::fold_scale_into_norm, graph + "n = LayerNormalization (x, t)  y = Mul (n, S) }") ==
        "the normalization has a scale or a bias");
}

namespace {

/// As Keras writes it: x inverse + (bias - mean inverse).
std::string affine(const std::string& mean = "m", const std::string& bias = "double[6] C",
                   const std::string& rest = "u = Sub (C, t)",
                   const std::string& inverse = "s = Reciprocal (r)  i = Mul (s, G)") {
  return "g (double[N,M,6] x, double[6] G, " + bias +
         ") => (double[N,M,6] y) <double e = {0.001}, int64[1] last = {-1}, "
         "int64[2] both = {1, 2}> { m = ReduceMean (x, last)  other = ReduceMax (x, last)  d = Sub (x, m)  q = Mul (d, "
         "d) "
         "v = ReduceMean (q, last)  a = Add (v, e)  r = Sqrt (a)  " +
         inverse + "  p = Mul (x, i)  minus = Neg (m)  t = Mul (" + mean + ", i)  " + rest + "  y = Add (p, u) }";
}

}  // namespace

TEST_CASE("a normalization whose mean is subtracted last is one operator with its scale and bias") {
  CHECK(rewritten(fusion::fuse_layer_norm, affine(), 21, 1e-7) == "LayerNormalization");
  CHECK(rewritten(fusion::fuse_layer_norm, affine("minus", "double[6] C", "u = Add (t, C)", "i = Div (G, r)"), 21,
                  1e-7) == "LayerNormalization");
  CHECK(rewritten(fusion::fuse_layer_norm, affine("minus", "double[6] C", "u = Mul (minus, i)"), 21, 1e-7) ==
        "LayerNormalization");
  CHECK(declined(fusion::fuse_layer_norm, affine("m", "double[6] C", "no = Neg (other)  u = Mul (no, i)"))
            .find("another mean is subtracted") != std::string::npos);
  CHECK(declined(fusion::fuse_layer_norm, affine("m", "double[6] C", "u = Add (t, C)", "i = Div (G, r)"))
            .find("another mean is subtracted") != std::string::npos);
  CHECK(declined(fusion::fuse_layer_norm, affine("minus", "double[6] C", "u = Sub (C, t)"))
            .find("another mean is subtracted") != std::string::npos);
}

TEST_CASE("means of the last of three axes that TensorFlow's exporter writes as pools are means") {
  const auto text = [](const std::string& end) {
    return "g (double[N,M,6] x, double[6] G) => (double[N,M,6] y) <double e = {0.001}> { m = GlobalAveragePool (x)  d "
           "= "
           "Sub (x, m)  q = Mul (d, d)  v = GlobalAveragePool (q)  a = Add (v, e)  r = Sqrt (a)  i = Reciprocal (r)  " +
           end + " }";
  };
  CHECK(rewritten(fusion::fuse_layer_norm, text("y = Mul (d, i)"), 17, 1e-7) == "LayerNormalization");
  CHECK(rewritten(fusion::fuse_layer_norm, text("s = Mul (i, G)  y = Mul (d, s)"), 17, 1e-7) == "LayerNormalization");
  CHECK(declined(fusion::fuse_layer_norm, text("s = Mul (i, G)  t = Mul (G, d)  y = Mul (t, s)"), 17)
            .find("not a value divided") != std::string::npos);
}

TEST_CASE("another mean, and a bias that is no row, stay") {
  CHECK(declined(fusion::fuse_layer_norm, affine("other")).find("another mean is subtracted") != std::string::npos);
  CHECK(declined(fusion::fuse_layer_norm, affine("m", "double[1,6] C"))
            .find("scale and bias are not as long as the normalized axes") != std::string::npos);
  CHECK(declined(fusion::fuse_layer_norm, affine(), 21, Target::kKernels).find("it is not float32") !=
        std::string::npos);
}

TEST_CASE("all axes behind the channels are an instance's, whatever their lengths") {
  const auto text = [](const std::string& shape, const std::string& end) {
    return "g (float[" + shape + "] x, float[3,1,1] G, float[1,3,1,1] C) => (float[" + shape +
           "] y) <float e = {0.001}, "
           "int64[2] last = {2, 3}> { m = ReduceMean (x, last)  d = Sub (x, m)  q = Mul (d, d)  v = ReduceMean (q, "
           "last) "
           "a = Add (v, e)  r = Sqrt (a)  n = Div (d, r)  " +
           end + " }";
  };
  CHECK(rewritten(fusion::fuse_layer_norm, text("N,3,H,W", "y = Relu (n)"), 18, 1e-5) == "InstanceNormalization Relu");
  Model model = test::fixture(text("N,3,H,W", "b = Mul (n, G)  y = Add (b, C)"), 18);
  infer(model);
  run_pass(model, fusion::fuse_layer_norm, test::pass_context());
  CHECK(rewritten(fusion::fold_scale_into_norm, model, 1e-5) == "InstanceNormalization");
  const std::string rows = R"(> { m = ReduceMean (x, last)  d = Sub (x, m)  q = Mul (d, d)
    v = ReduceMean (q, last)  a = Add (v, e)  r = Sqrt (a)  y = Div (d, r) })";
  const auto line = [&](const std::string& shape) {
    return "g (float[" + shape + "] x) => (float[" + shape + "] y) <float e = {0.001}, int64[1] last = {-1}" + rows;
  };
  CHECK(rewritten(fusion::fuse_layer_norm, line("N,3,L"), 18, 1e-5) == "InstanceNormalization");
  CHECK(rewritten(fusion::fuse_layer_norm, line("N,3,8"), 18, 1e-5) == "LayerNormalization");
  CHECK(declined(fusion::fuse_layer_norm, text("N,C,H,W", "y = Relu (n)"), 18)
            .find("the length of a normalized axis is not known") != std::string::npos);
}
