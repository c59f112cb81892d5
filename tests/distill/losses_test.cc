#include "distill/losses.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "core/autodiff/grad.h"
#include "core/base/text.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/gradients.h"
#include "tests/support/op.h"
#include "tests/support/paths.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

struct Found {
  double loss = 0;
  std::vector<double> gradient;  ///< by the student's tensor
  std::vector<Tensor> learned;
  std::vector<double> learned_gradient;  ///< of the first of these
};

Found run_loss(const std::string& name, const Tensor& student, const Tensor& teacher, int64_t opset = 21) {
  Model model;
  model.ir_version = 10;
  model.set_opset("", opset);
  Graph& graph = *model.graph;
  Value* s = graph.add_input("s", Type::tensor(student.dtype(), student.dims()));
  Value* t = graph.add_input("t", Type::tensor(teacher.dtype(), teacher.dims()));
  train::Builder build(model, standard_types);
  std::vector<Value*> learned;
  distill::PairArgs args{build, s, t, 4, learned, 3, "s and t"};
  Value* loss = distill::find_loss(name, "--match").build(args);
  graph.add_output(loss);
  std::vector<Value*> wrt = {s};
  wrt.insert(wrt.end(), learned.begin(), learned.end());
  for (Value* gradient : add_gradients(model, loss, wrt, standard_types)) graph.add_output(gradient);
  const std::vector<Tensor> outputs = reference_outputs(model, {student, teacher});
  Found found{number_at(outputs[0], 0), to_doubles(outputs[1]), {}, {}};
  for (const Value* v : learned) found.learned.push_back(*v->constant);
  if (!learned.empty()) found.learned_gradient = to_doubles(outputs[2]);
  return found;
}

/// As torch_losses.py makes them.
Tensor numbers(const std::string& shape, double step) {
  Dims dims;
  for (const std::string& size : split(shape, ',')) dims.push_back(std::stoll(size));
  std::vector<double> values;
  for (int64_t i = 0; i < element_count(dims); ++i) values.push_back(2 * std::sin(step * static_cast<double>(i)));
  return tensor(dims, values, DType::kF64);
}

}  // namespace

TEST_CASE("losses between teacher and student are PyTorch's, and so are their gradients") {
  std::ifstream file(source_dir() / "tests/distill/torch_losses.txt");
  std::string line;
  std::set<std::string> seen;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string name, student, teacher;
    double loss = 0;
    words >> name >> student >> teacher >> loss;
    seen.insert(name);
    for (const int64_t opset : {11, 21}) {
      INFO(name << " of " << student << " and " << teacher << ", opset " << opset);
      const Found found = run_loss(name, numbers(student, 1.7), numbers(teacher, 2.3), opset);
      CHECK(found.loss == Approx(loss).epsilon(1e-8));
      CHECK(found.learned.empty());
      std::istringstream gradient(line.substr(static_cast<size_t>(words.tellg())));
      for (const double x : found.gradient) {
        double expected = 0;
        REQUIRE(gradient >> expected);
        CHECK(x == Approx(expected).epsilon(1e-6).margin(1e-9));
      }
    }
  }
  for (const distill::LossDef& loss : distill::losses())
    if (loss.name != "hint") CHECK(seen.contains(std::string(loss.name)));
}

TEST_CASE("where widths differ a linear layer is learned") {
  const Tensor student = numbers("3,2", 1.7), teacher = numbers("3,4", 2.3);
  const Found found = run_loss("hidden", student, teacher);
  REQUIRE(found.learned.size() == 1);
  const std::vector<double> s = to_doubles(student), t = to_doubles(teacher), w = to_doubles(found.learned[0]);
  REQUIRE(w.size() == 8);
  double loss = 0;
  std::vector<double> slope(8);
  for (size_t i = 0; i < 3; ++i)
    for (size_t k = 0; k < 4; ++k) {
      const double off = s[2 * i] * w[k] + s[2 * i + 1] * w[4 + k] - t[4 * i + k];
      loss += off * off / 12;
      for (size_t j = 0; j < 2; ++j) slope[4 * j + k] += 2 * off * s[2 * i + j] / 12;
    }
  CHECK(found.loss == Approx(loss).epsilon(1e-12));
  for (size_t i = 0; i < 8; ++i) {
    CHECK(std::fabs(w[i]) <= 1 / std::sqrt(2.0));
    CHECK(found.learned_gradient[i] == Approx(slope[i]).epsilon(1e-9));
  }
}

TEST_CASE("layers are learned along the axis where tensors differ, after pictures have one size") {
  struct Row {
    const char *loss, *student, *teacher;
    Dims learned;
  };
  const Row rows[] = {{"hidden", "2,3,4", "2,3,6", {4, 6}},           {"hidden", "2,3,4", "2,5,4", {5, 3}},
                      {"hidden", "2,3,4,4", "2,5,4,4", {5, 3, 1, 1}}, {"hidden", "2,3,2,2", "2,5,4,4", {5, 3, 1, 1}},
                      {"hidden", "2,3,4,4", "2,3,2,2", {}},           {"cosine", "2,3,4", "2,3,6", {4, 6}},
                      {"hint", "2,3,4,4", "2,3,4,4", {3, 3, 1, 1}},   {"hint", "2,3", "2,3", {3, 3}}};
  for (const Row& row : rows) {
    INFO(row.loss << " of " << row.student << " and " << row.teacher);
    const Found found = run_loss(row.loss, numbers(row.student, 1.7), numbers(row.teacher, 2.3));
    CHECK(found.loss > 0);
    REQUIRE(found.learned.size() == (row.learned.empty() ? 0 : 1));
    if (!row.learned.empty()) CHECK(found.learned[0].dims() == row.learned);
  }
}

TEST_CASE("masked scores, equal samples and empty features leave losses and gradients finite") {
  const Tensor masked = tensor({2, 3}, {1, -INFINITY, 2, 0, 1, -INFINITY}, DType::kF64);
  const Tensor other = tensor({2, 3}, {2, -INFINITY, 1, 3, -1, -INFINITY}, DType::kF64);
  const Tensor twice = tensor({3, 2}, {1, 2, 1, 2, 3, -1}, DType::kF64);
  const Tensor zeros = Tensor::zeros(DType::kF64, {3, 2});
  struct Row {
    const char* loss;
    Tensor student, teacher;
  };
  const Row rows[] = {{"kl", masked, other},
                      {"rkd-distance", twice, numbers("3,2", 1)},
                      {"rkd-angle", twice, numbers("3,2", 1)},
                      {"rkd-distance", zeros, twice},
                      {"rkd-angle", zeros, twice},
                      {"cosine", zeros, twice},
                      {"at", Tensor::zeros(DType::kF64, {2, 2, 2, 2}), numbers("2,2,2,2", 1)}};
  for (const Row& row : rows) {
    const Found found = run_loss(row.loss, row.student, row.teacher);
    INFO(row.loss << ": " << found.loss);
    CHECK(std::isfinite(found.loss));
    for (const double x : found.gradient) CHECK(std::isfinite(x));
  }
}

TEST_CASE("tensors that a loss cannot compare are refused with both shapes") {
  struct Row {
    const char *loss, *student, *teacher, *says;
  };
  const Row rows[] = {{"kl", "2,3", "2,4", "takes tensors of one shape"},
                      {"mse", "2,3", "2,4", "takes tensors of one shape"},
                      {"hidden", "2,3,4", "2,5,6", "differ along one axis at most"},
                      {"hidden", "2,3", "2,3,1", "tensors of one rank and batch"},
                      {"hidden", "2,3,3,3", "2,3,2,2", "no multiple"},
                      {"at", "2,3", "2,3", "takes features [batch, channels, ...]"},
                      {"at", "2,3,4,4", "2,3,2,2", "one height and width"},
                      {"attention", "2,3", "2,3", "takes attention maps"},
                      {"attention", "2,2,3,3", "2,2,4,4", "of other lengths"}};
  for (const Row& row : rows) {
    const Error error = thrown_by([&] { run_loss(row.loss, numbers(row.student, 1.7), numbers(row.teacher, 2.3)); });
    INFO(error.what());
    CHECK(error.code == Code::kBadInput);
    CHECK(says(error, row.says));
    CHECK(says(error, "the student's is float64["));
  }
  CHECK(says(thrown_by([] { distill::find_loss("kll", "--match"); }), "did you mean 'kl'?"));
}

}  // namespace mlopt::test
