#include "core/data/metrics.h"

#include <cmath>
#include <complex>
#include <limits>

#include "tests/support/catch.h"
#include "tests/support/thrown.h"

namespace mlopt {
namespace {

double score(const std::string& metric, const std::vector<std::pair<Tensor, Tensor>>& batches) {
  const MetricDef def = find_metric(metric);
  Tally tally;
  for (const auto& [output, labels] : batches) def.add(tally, output, labels, "here");
  return def.value(tally);
}

Tensor floats(Dims dims, const std::vector<float>& values) { return Tensor::of<float>(std::move(dims), values); }
Tensor ints(const std::vector<int64_t>& values) { return Tensor::ints(values); }

const float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("top1 counts arg-maxes, the first of equal scores") {
  const Tensor scores = floats({4, 3}, {1, 2, 3, 3, 3, 1, -5, -1, -3, kNan, 0, kNan});
  CHECK(score("top1", {{scores, ints({2, 0, 1, 1})}}) == 1);
  CHECK(score("top1", {{scores, ints({2, 1, 0, 0})}}) == 0.25);
  CHECK(score("top1", {{floats({1, 3, 1, 1}, {0, 9, 0}), ints({1})},
                       {floats({2, 3, 1, 1}, {0, 9, 0, 0, 9, 0}), ints({0, 0})}}) == Approx(1.0 / 3));
  CHECK(score("top1", {{ints({4, 5, 6}), ints({4, 0, 6})}}) == Approx(2.0 / 3));
  CHECK(score("top1", {{floats({3, 1}, {0.2F, 0.7F, 0.5F}), ints({0, 1, 1})}}) == Approx(2.0 / 3));
  CHECK(score("top1", {{floats({1, 2}, {kNan, kNan}), ints({0})}}) == 0);
}

TEST_CASE("the class axis is the last, or the second of pictures") {
  const Tensor labels = Tensor::of<int64_t>({1, 2}, {0, 1});
  CHECK(score("top1", {{floats({1, 2, 3}, {9, 0, 0, 0, 9, 0}), labels}}) == 1);
  // [1, 3, 1, 2] against [1, 1, 2]: pixel p has class c where plane c is largest.
  CHECK(score("top1", {{floats({1, 3, 1, 2}, {9, 0, 0, 9, 0, 0}), Tensor::of<int64_t>({1, 1, 2}, {0, 1})}}) == 1);
  CHECK(test::says(test::thrown_by([] {
                     score("top1", {{floats({2, 3}, {0, 0, 0, 0, 0, 0}), ints({0, 1, 2, 0})}});
                   }),
                   "2x3"));
}

TEST_CASE("top5 counts labels with fewer than five better scores") {
  const Tensor scores = floats({1, 7}, {7, 6, 5, 4, 3, 2, 1});
  CHECK(score("top5", {{scores, ints({4})}}) == 1);
  CHECK(score("top5", {{scores, ints({5})}}) == 0);
  CHECK(score("top5", {{floats({1, 7}, {0, 0, 0, 0, 0, 0, 0}), ints({5})}}) == 0);
  CHECK(test::says(test::thrown_by([&] { score("top5", {{scores, ints({7})}}); }), "beyond the 7 classes"));
}

TEST_CASE("perplexity of logits and of probabilities") {
  const double p = std::exp(2.0) / (std::exp(2.0) + 2);
  CHECK(score("ppl", {{floats({1, 3}, {2, 0, 0}), ints({0})}}) == Approx(1 / p));
  CHECK(score("ppl", {{floats({1, 3}, {1000, 0, 0}), ints({1})}}) > 1e300);
  CHECK(score("ppl", {{floats({2, 2}, {0.25F, 0.75F, 0.5F, 0.5F}), ints({0, 1})}}) == Approx(std::sqrt(4 * 2)));
  CHECK(score("ppl", {{floats({1, 4}, {0, 0, 0, 0}), ints({2})}}) == Approx(4));
}

TEST_CASE("rounded probabilities are no logits, in whichever batch they stand") {
  // The sums are 1, 0.996 and 1.004.
  const Tensor exact = floats({1, 2}, {0.25F, 0.75F}), rounded = floats({2, 2}, {0.5F, 0.496F, 0.004F, 1});
  const double p = 0.25 * (0.5 / 0.996) * (1 / 1.004);
  CHECK(score("ppl", {{exact, ints({0})}, {rounded, ints({0, 1})}}) == Approx(std::pow(p, -1.0 / 3)));
  CHECK(std::isinf(score("ppl", {{floats({1, 2}, {0, 1}), ints({0})}})));
  // Logits of which one row happens to sum to 1.
  const double first = std::exp(0.75) / (std::exp(0.25) + std::exp(0.75)), second = std::exp(3.0) / (std::exp(3.0) + 1);
  CHECK(score("ppl", {{exact, ints({1})}, {floats({1, 2}, {3, 0}), ints({0})}}) ==
        Approx(1 / std::sqrt(first * second)));
}

TEST_CASE("imaginary parts and the last bits of large integers count") {
  const std::vector<std::complex<float>> a = {{1, 2}, {3, 4}}, b = {{1, 2}, {3, 6}};
  const auto tensor = [](const auto& v) {
    return Tensor::view(DType::kC64, {2}, std::as_bytes(std::span(v)), nullptr);
  };
  CHECK(score("exact", {{tensor(a), tensor(a)}}) == 1);
  CHECK(score("exact", {{tensor(a), tensor(b)}}) == 0.5);
  CHECK(score("mse", {{tensor(a), tensor(b)}}) == 2);
  for (const char* metric : {"exact", "mse"})
    CHECK(test::says(test::thrown_by([&] { score(metric, {{tensor(a), floats({2}, {1, 3})}}); }), "complex64"));
  CHECK(test::says(test::thrown_by([&] { score("top1", {{tensor(a), ints({0})}}); }), "no scores of classes"));
  constexpr int64_t kLarge = int64_t{1} << 53;
  CHECK(score("exact", {{ints({kLarge, kLarge}), ints({kLarge + 1, kLarge})}}) == 0.5);
}

TEST_CASE("squares, peaks and exact equality") {
  CHECK(score("mse", {{floats({1, 2}, {1, 2}), floats({1, 2}, {1, 4})}, {floats({1}, {0}), floats({1}, {1})}}) ==
        Approx(5.0 / 3));
  CHECK(score("psnr", {{floats({2}, {0.5F, 1}), floats({2}, {0.4F, 1})}}) == Approx(10 * std::log10(1 / 0.005)));
  CHECK(score("psnr", {{floats({2}, {50, 100}), floats({2}, {40, 100})}}) == Approx(10 * std::log10(255.0 * 255 / 50)));
  CHECK(score("psnr", {{floats({2}, {0.5F, 1}), floats({2}, {0.5F, 1})}}) == 999);
  CHECK(score("exact", {{floats({2, 2}, {1, 2, 3, 4}), floats({2, 2}, {1, 2, 3, 5})}}) == 0.5);
  CHECK(score("exact", {{Tensor::of_strings({2}, {"a", "b"}), Tensor::of_strings({2}, {"a", "c"})}}) == 0.5);
  CHECK(test::says(test::thrown_by([] {
                     score("mse", {{floats({2}, {1, 2}), floats({3}, {1, 2, 3})}});
                   }),
                   "labels must be arrays"));
  CHECK(test::says(test::thrown_by([] { score("exact", {{floats({1, 3}, {1, 2, 3}), ints({2})}}); }), "use top1"));
}

TEST_CASE("F1 of two classes is that of class 1, of more their mean") {
  // 2 true positives, 1 false positive, 1 false negative.
  CHECK(score("f1", {{ints({1, 1, 1, 0, 0}), ints({1, 1, 0, 1, 0})}}) == Approx(2.0 / 3));
  CHECK(score("f1", {{ints({0, 0}), ints({0, 0})}}) == 0);
  // Class 0: 1; class 1: tp 1, fn 1; class 2: tp 1, fp 1.
  CHECK(score("f1", {{ints({0, 1, 2, 2}), ints({0, 1, 2, 1})}}) == Approx((1 + 2.0 / 3 + 2.0 / 3) / 3));
  // Two of three classes occur: 0 with tp 1 and fp 1, and 1 with tp 2 and fn 1.
  const Tensor scores = floats({4, 3}, {3, 1, 0, 1, 3, 0, 3, 1, 0, 1, 3, 0});
  CHECK(score("f1", {{scores, ints({0, 1, 1, 1})}}) == Approx((2.0 / 3 + 0.8) / 2));
  CHECK(score("f1", {{floats({2, 2}, {1, 0, 1, 0}), ints({0, 0})}}) == 0);
  CHECK(score("f1", {{floats({3, 1}, {0.2F, 0.7F, 0.5F}), ints({0, 1, 1})}}) == Approx(2.0 / 3));
}

TEST_CASE("labels that are no classes, and unknown metrics") {
  CHECK(test::says(test::thrown_by([] {
                     score("top1", {{floats({1, 2}, {0, 1}), floats({1}, {0.5F})}});
                   }),
                   "not classes"));
  CHECK(test::says(test::thrown_by([] { score("top1", {{floats({1, 2}, {0, 1}), ints({-1})}}); }), "negative"));
  const Error error = test::thrown_by([] { find_metric("top2"); });
  CHECK(error.code == Code::kUsage);
  CHECK(test::says(error, "did you mean 'top1'"));
}

}  // namespace mlopt
