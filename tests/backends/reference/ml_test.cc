#include <cmath>
#include <limits>

#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Words = std::vector<std::string>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

OpOptions ml(std::vector<Attr> attrs, int64_t version = 3) { return {std::move(attrs), version, "ai.onnx.ml"}; }
Tensor words(const Words& values) { return Tensor::of_strings({static_cast<int64_t>(values.size())}, values); }
double sigma(double x) { return 1 / (1 + std::exp(-x)); }

/// One tree: feature 0 at most 1, then feature 1 below 0; leaves 2, 3 and 4 with the weights 1, 2 and 4.
std::vector<Attr> tree(const std::string& kind, const Ints& targets) {
  return {attr("nodes_treeids", Ints{0, 0, 0, 0, 0}),
          attr("nodes_nodeids", Ints{0, 1, 2, 3, 4}),
          attr("nodes_featureids", Ints{0, 1, 0, 0, 0}),
          attr("nodes_modes", Words{"BRANCH_LEQ", "BRANCH_LT", "LEAF", "LEAF", "LEAF"}),
          attr("nodes_values", Floats{1, 0, 0, 0, 0}),
          attr("nodes_truenodeids", Ints{1, 2, 0, 0, 0}),
          attr("nodes_falsenodeids", Ints{4, 3, 0, 0, 0}),
          attr("nodes_missing_value_tracks_true", Ints{0, 1, 0, 0, 0}),
          attr(kind + "_treeids", Ints{0, 0, 0}),
          attr(kind + "_nodeids", Ints{2, 3, 4}),
          attr(kind + "_ids", targets),
          attr(kind + "_weights", Floats{1, 2, 4})};
}

std::vector<Attr> with(std::vector<Attr> attrs, const std::vector<Attr>& more) {
  attrs.insert(attrs.end(), more.begin(), more.end());
  return attrs;
}

TEST_CASE("tree ensembles walk to their leaves and add up") {
  const Tensor x = tensor({4, 2}, {1, -1, 1, 0, 2, 0, 0, kNan});
  const auto targets = tree("target", {0, 1, 0});
  const auto classes = tree("class", {0, 1, 2});
  const auto binary = tree("class", {0, 0, 0});
  check_cases({
      {"TreeEnsembleRegressor",
       {x},
       ml(with(targets, {attr("n_targets", 2)})),
       {tensor({4, 2}, {1, 0, 0, 2, 4, 0, 1, 0})}},
      {"TreeEnsembleRegressor",
       {x},
       ml(with(targets,
               {attr("n_targets", 2), attr("base_values", Floats{10, 20}), attr("aggregate_function", "MAX")})),
       {tensor({4, 2}, {11, 20, 10, 22, 14, 20, 11, 20})}},
      {"TreeEnsembleRegressor",
       {tensor({4, 2}, {1, -1, 1, 0, 2, 0, 0, kNan}, DType::kF64)},
       ml(with(targets, {attr("n_targets", 2)})),
       {tensor({4, 2}, {1, 0, 0, 2, 4, 0, 1, 0})}},
      {"TreeEnsembleClassifier",
       {x},
       ml(with(classes, {attr("classlabels_strings", Words{"a", "b", "c"})})),
       {words({"a", "b", "c", "a"}), tensor({4, 3}, {1, 0, 0, 0, 2, 0, 0, 0, 4, 1, 0, 0})}},
      {"TreeEnsembleClassifier",
       {x},
       ml(with(binary, {attr("classlabels_int64s", Ints{5, 7})})),
       {Tensor::ints({7, 7, 7, 7}), tensor({4, 2}, {0, 1, -1, 2, -3, 4, 0, 1})}},
  });
  auto circle = targets;
  circle[5] = attr("nodes_truenodeids", Ints{0, 2, 0, 0, 0});
  auto lost = targets;
  lost[6] = attr("nodes_falsenodeids", Ints{9, 3, 0, 0, 0});
  check_errors({
      {"TreeEnsembleRegressor", {x}, ml(with(circle, {attr("n_targets", 2)})), "circle"},
      {"TreeEnsembleRegressor", {x}, ml(with(lost, {attr("n_targets", 2)})), "node 9 of tree 0"},
      {"TreeEnsembleRegressor", {x}, ml(with(targets, {attr("n_targets", 1)})), "does not exist"},
      {"TreeEnsembleRegressor", {tensor({1, 1}, {0})}, ml(with(targets, {attr("n_targets", 2)})), "feature 1 of 1"},
      {"TreeEnsembleRegressor", {x}, ml(with(targets, {attr("n_targets", AttrValue(int64_t{1} << 60))})), ""},
  });
}

TEST_CASE("TreeEnsemble of version 5 tests membership") {
  const std::vector<Attr> attrs{attr("n_targets", 1),
                                attr("tree_roots", Ints{0}),
                                attr("nodes_featureids", Ints{0, 0}),
                                attr("nodes_modes", tensor({2}, {6, 0}, DType::kU8)),
                                attr("nodes_splits", tensor({2}, {0, 5})),
                                attr("nodes_truenodeids", Ints{0, 1}),
                                attr("nodes_falsenodeids", Ints{1, 2}),
                                attr("nodes_trueleafs", Ints{1, 1}),
                                attr("nodes_falseleafs", Ints{0, 1}),
                                attr("membership_values", tensor({3}, {1, 3, kNan})),
                                attr("leaf_targetids", Ints{0, 0, 0}),
                                attr("leaf_weights", tensor({3}, {10, 20, 30}))};
  check_cases({{"TreeEnsemble", {tensor({4, 1}, {3, 2, 6, 1})}, ml(attrs, 5), {tensor({4, 1}, {10, 20, 30, 10})}}});
}

TEST_CASE("linear models") {
  const Tensor x = tensor({2, 2}, {1, 2, -3, 1});
  const std::vector<Attr> two{attr("coefficients", Floats{1, 0, 0, 1}), attr("intercepts", Floats{0.5F, 0})};
  const std::vector<Attr> one{attr("coefficients", Floats{1, 1}), attr("intercepts", Floats{0})};
  const Tensor scores = tensor({2, 2}, {1.5, 2, -2.5, 1});
  check_cases({
      {"LinearRegressor", {x}, ml(with(two, {attr("targets", 2)}), 1), {scores}},
      {"LinearClassifier",
       {x},
       ml(with(two, {attr("classlabels_strings", Words{"a", "b"})}), 1),
       {words({"b", "b"}), scores}},
      {"LinearClassifier",
       {x},
       ml(with(two, {attr("classlabels_ints", Ints{4, 6}), attr("post_transform", "LOGISTIC")}), 1),
       {Tensor::ints({6, 6}), tensor({2, 2}, {sigma(1.5), sigma(2), sigma(-2.5), sigma(1)})}},
      {"LinearClassifier",
       {x},
       ml(with(one, {attr("classlabels_ints", Ints{4, 6}), attr("post_transform", "LOGISTIC")}), 1),
       {Tensor::ints({6, 4}), tensor({2, 2}, {sigma(-3), sigma(3), sigma(2), sigma(-2)})}},
      {"LinearClassifier",
       {x},
       ml(with(two, {attr("classlabels_ints", Ints{4, 6}), attr("post_transform", "SOFTMAX")}), 1),
       {Tensor::ints({6, 6}), tensor({2, 2}, {sigma(-0.5), sigma(0.5), sigma(-3.5), sigma(3.5)})}},
  });
  check_errors({
      {"LinearRegressor", {tensor({1, 3}, {1, 2, 3})}, ml(with(two, {attr("targets", 2)}), 1), "4 coefficients"},
      {"LinearRegressor", {x}, ml(with(two, {attr("targets", 2), attr("post_transform", "CUBE")}), 1), "'CUBE'"},
  });
}

TEST_CASE("support vector machines") {
  const Tensor x = tensor({2, 1}, {1, 2});
  const std::vector<Attr> machine{attr("support_vectors", Floats{1, 3}), attr("rho", Floats{0.5F}),
                                  attr("kernel_type", "RBF"), attr("kernel_params", Floats{1, 0, 0})};
  const double one = std::exp(-1.0), four = std::exp(-4.0);
  check_cases({
      {"SVMRegressor",
       {x},
       ml(with(machine, {attr("n_supports", 2), attr("coefficients", Floats{1, -2})}), 1),
       {tensor({2, 1}, {1.5 - 2 * four, 0.5 - one})}},
      {"SVMRegressor",
       {x},
       ml({attr("coefficients", Floats{-2}), attr("rho", Floats{3}), attr("one_class", 1)}, 1),
       {tensor({2, 1}, {1, -1})}},
      {"SVMClassifier",
       {x},
       ml(with(machine, {attr("vectors_per_class", Ints{1, 1}), attr("coefficients", Floats{1, -2}),
                         attr("classlabels_ints", Ints{8, 9})}),
          1),
       {Tensor::ints({8, 8}), tensor({2, 2}, {2 * four - 1.5, 1.5 - 2 * four, one - 0.5, 0.5 - one})}},
  });
  check_errors({{"SVMRegressor",
                 {x},
                 ml(with(machine, {attr("n_supports", 3), attr("coefficients", Floats{1, -2, 1})}), 1),
                 "support vectors"}});
}

TEST_CASE("features are scaled, normalized, cut and filled in") {
  const Tensor x = tensor({2, 2}, {3, -4, 0, 0});
  check_cases({
      {"Scaler",
       {x},
       ml({attr("offset", Floats{1, 2}), attr("scale", Floats{10})}, 1),
       {tensor({2, 2}, {20, -60, -10, -20})}},
      {"Normalizer", {x}, ml({attr("norm", "L2")}, 1), {tensor({2, 2}, {0.6, -0.8, 0, 0})}},
      {"Normalizer", {x}, ml({attr("norm", "L1")}, 1), {tensor({2, 2}, {3.0 / 7, -4.0 / 7, 0, 0})}},
      {"Normalizer", {x}, ml({attr("norm", "MAX")}, 1), {tensor({2, 2}, {1, -4.0 / 3, 0, 0})}},
      {"Binarizer", {x}, ml({attr("threshold", -1.0F)}, 1), {tensor({2, 2}, {1, 0, 1, 1})}},
      {"Imputer",
       {tensor({1, 3}, {kNan, 1, kNan})},
       ml({attr("imputed_value_floats", Floats{7, 8, 9}), attr("replaced_value_float", NAN)}, 1),
       {tensor({1, 3}, {7, 1, 9})}},
      {"Imputer",
       {Tensor::of<int64_t>({1, 2}, {0, 4})},
       ml({attr("imputed_value_int64s", Ints{5}), attr("replaced_value_int64", 0)}, 1),
       {Tensor::of<int64_t>({1, 2}, {5, 4})}},
      {"ArrayFeatureExtractor", {x, Tensor::ints({1})}, ml({}, 1), {tensor({2, 1}, {-4, 0})}},
      {"ArrayFeatureExtractor",
       {words({"a", "b"}), Tensor::ints({1, 0})},
       ml({}, 1),
       {Tensor::of_strings({1, 2}, {"b", "a"})}},
      {"FeatureVectorizer",
       {x, tensor({2, 1}, {5, 6}, DType::kI64)},
       ml({attr("inputdimensions", Ints{1, 2})}, 1),
       {tensor({2, 3}, {3, 5, 0, 0, 6, 0})}},
  });
  check_errors({{"ArrayFeatureExtractor", {x, Tensor::ints({2})}, ml({}, 1), "outside the input"}});
}

TEST_CASE("categories become numbers and back") {
  const Tensor names = words({"b", "x", "a"}), numbers = Tensor::ints({2, 9, 1});
  const auto values = [](const char* key, AttrValue value) { return attr(key, std::move(value)); };
  check_cases({
      {"LabelEncoder", {names}, ml({attr("classes_strings", Words{"a", "b"})}, 1), {Tensor::ints({1, -1, 0})}},
      {"LabelEncoder",
       {Tensor::ints({1, 5})},
       ml({attr("classes_strings", Words{"a", "b"}), attr("default_string", "?")}, 1),
       {words({"b", "?"})}},
      {"LabelEncoder",
       {numbers},
       ml({values("keys_int64s", Ints{1, 2}), values("values_floats", Floats{0.5F, 1.5F}), attr("default_float", 7.0F)},
          2),
       {tensor({3}, {1.5, 7, 0.5})}},
      {"LabelEncoder",
       {tensor({2}, {kNan, 1})},
       ml({values("keys_floats", Floats{NAN}), values("values_strings", Words{"nan"})}, 4),
       {words({"nan", "_Unused"})}},
      {"LabelEncoder",
       {names},
       ml({values("keys_strings", Words{"a", "b"}), values("values_tensor", tensor({2}, {1, 2}, DType::kI16)),
           values("default_tensor", tensor({1}, {9}, DType::kI16))},
          4),
       {tensor({3}, {2, 9, 1}, DType::kI16)}},
      {"CategoryMapper",
       {names},
       ml({attr("cats_strings", Words{"a", "b"}), attr("cats_int64s", Ints{1, 2})}, 1),
       {Tensor::ints({2, -1, 1})}},
      {"CategoryMapper",
       {numbers},
       ml({attr("cats_strings", Words{"a", "b"}), attr("cats_int64s", Ints{1, 2})}, 1),
       {words({"b", "_Unused", "a"})}},
      {"OneHotEncoder", {names}, ml({attr("cats_strings", Words{"a", "b"})}, 1), {tensor({3, 2}, {0, 1, 0, 0, 1, 0})}},
      {"OneHotEncoder",
       {tensor({2}, {1, 2})},
       ml({attr("cats_int64s", Ints{2, 1})}, 1),
       {tensor({2, 2}, {0, 1, 1, 0})}},
  });
  check_errors({
      {"OneHotEncoder",
       {names},
       ml({attr("cats_strings", Words{"a", "b"}), attr("zeros", 0)}, 1),
       "none of the categories"},
      {"LabelEncoder",
       {names},
       ml({values("keys_int64s", Ints{1}), values("values_int64s", Ints{1})}, 2),
       "different types"},
      {"LabelEncoder", {names}, ml({}, 2), "missing"},
  });
}

TEST_CASE("maps are zipped, cast and vectorized") {
  const Tensor keys = Tensor::ints({4, 2});
  const auto map = [&](double a, double b) { return Datum::map(keys, {tensor({}, {a}), tensor({}, {b})}); };
  check_cases({
      {"ZipMap",
       {tensor({2, 2}, {1, 2, 3, 4})},
       ml({attr("classlabels_int64s", Ints{4, 2})}, 1),
       {Datum::sequence({map(1, 2), map(3, 4)})}},
      {"DictVectorizer", {map(1, 2)}, ml({attr("int64_vocabulary", Ints{2, 3, 4})}, 1), {tensor({1, 3}, {2, 0, 1})}},
      {"CastMap", {map(1.5, 2)}, ml({}, 1), {tensor({1, 2}, {2, 1.5})}},
      {"CastMap",
       {map(1, 2)},
       ml({attr("cast_to", "TO_INT64"), attr("map_form", "SPARSE"), attr("max_map", 4)}, 1),
       {Tensor::of<int64_t>({1, 4}, {0, 0, 2, 0})}},
  });
  check_errors({{"ZipMap", {tensor({2, 2}, {1, 2, 3, 4})}, ml({attr("classlabels_int64s", Ints{4})}, 1), "one label"},
                {"CastMap", {keys}, ml({}, 1), "not a map"}});
}

}  // namespace
}  // namespace mlopt::test
