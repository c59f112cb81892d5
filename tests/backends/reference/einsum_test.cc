#include <map>
#include <string>
#include <vector>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {
namespace {

/// The sum over all values of all letters, for equations of letters with an arrow.
Tensor plain_einsum(const std::string& equation, const std::vector<Tensor>& inputs) {
  std::vector<std::string> terms(1);
  const size_t arrow = equation.find("->");
  for (const char c : equation.substr(0, arrow)) {
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  }
  const std::string output = equation.substr(arrow + 2);
  std::map<char, int64_t> sizes, index;
  std::vector<std::vector<double>> values;
  for (size_t i = 0; i < terms.size(); ++i) {
    for (size_t a = 0; a < terms[i].size(); ++a) sizes[terms[i][a]] = inputs[i].dims()[a];
    values.push_back(to_doubles(inputs[i]));
  }
  int64_t total = 1;
  for (const auto& [letter, size] : sizes) total *= size;
  Dims dims;
  int64_t count = 1;
  for (const char c : output) dims.push_back(sizes[c]), count *= sizes[c];
  std::vector<double> y(static_cast<size_t>(count));
  const auto offset = [&](const std::string& term) {
    int64_t at = 0;
    for (const char c : term) at = at * sizes[c] + index[c];
    return static_cast<size_t>(at);
  };
  for (int64_t flat = 0; flat < total; ++flat) {
    int64_t rest = flat;
    for (const auto& [letter, size] : sizes) index[letter] = rest % size, rest /= size;
    double product = 1;
    for (size_t i = 0; i < terms.size(); ++i) product *= values[i][offset(terms[i])];
    y[offset(output)] += product;
  }
  return tensor(dims, y, inputs[0].dtype());
}

Tensor run(const std::string& equation, const std::vector<Tensor>& inputs) {
  return run_op("Einsum", {inputs.begin(), inputs.end()}, {.attrs = {{"equation", equation, ""}}, .opset = 12});
}

}  // namespace

TEST_CASE("Einsum equals its definition") {
  struct Case {
    std::string equation;
    std::vector<Dims> shapes;
  };
  const Case cases[] = {
      {"ij->ji", {{3, 4}}},
      {"ij->", {{3, 4}}},
      {"ij->j", {{3, 4}}},
      {"ii->", {{4, 4}}},
      {"ii->i", {{4, 4}}},
      {"iji->j", {{3, 2, 3}}},
      {"ij,jk->ik", {{3, 4}, {4, 5}}},
      {"ij,jk->ki", {{3, 4}, {4, 5}}},
      {"ij,ij->", {{3, 4}, {3, 4}}},
      {"i,j->ij", {{3}, {4}}},
      {"bij,bkj->bik", {{2, 3, 4}, {2, 5, 4}}},
      {"bhid,bhjd->bihj", {{2, 3, 4, 5}, {2, 3, 2, 5}}},
      {"ij,k->j", {{3, 4}, {5}}},
      {"ab,bc,cd->ad", {{2, 3}, {3, 4}, {4, 5}}},
      {"aab,bc->ac", {{3, 3, 2}, {2, 4}}},
      {"bn,anm,bm->ba", {{2, 3}, {5, 3, 4}, {2, 4}}},
      {",ij->ij", {{}, {2, 3}}},
      {"Aa,aA->A", {{2, 3}, {3, 2}}},
      {"ij,jk->ik", {{0, 4}, {4, 5}}},
      {"ij,jk->ik", {{3, 0}, {0, 5}}},
  };
  for (const Case& c : cases) {
    INFO(c.equation);
    for (const DType type : {DType::kF64, DType::kI32}) {
      std::vector<Tensor> inputs;
      for (size_t i = 0; i < c.shapes.size(); ++i) inputs.push_back(uniform(c.shapes[i], -9, 9, type, i + 1));
      require_close(run(c.equation, inputs), plain_einsum(c.equation, inputs), 1e-12);
    }
  }
}

TEST_CASE("Einsum broadcasts what an ellipsis stands for") {
  const Tensor a = uniform({2, 1, 3, 4}, -1, 1, DType::kF64, 1), b = uniform({5, 4, 2}, -1, 1, DType::kF64, 2);
  require_close(run("...ij,...jk->...ik", {a, b}), run_op("MatMul", {a, b}), 1e-12);
  const Tensor x = uniform({2, 3, 4}, -1, 1, DType::kF64);
  require_close(run("...i->i...", {x}), plain_einsum("abi->iab", {x}));
  require_close(run("...", {x}), x);
}

TEST_CASE("Einsum finds the output when the equation names none") {
  const Tensor x = uniform({2, 3}, -1, 1, DType::kF64, 1), y = uniform({3, 4}, -1, 1, DType::kF64, 2);
  require_close(run("ba", {x}), plain_einsum("ba->ab", {x}));
  require_close(run("c b , b a", {x, y}), plain_einsum("cb,ba->ac", {x, y}), 1e-12);
  require_close(run("aB", {x}), plain_einsum("aB->Ba", {x}));
}

TEST_CASE("Einsum refuses equations that do not fit") {
  const Tensor x = uniform({2, 3}, -1, 1);
  for (const char* equation :
       {"", "i", "ijk->i", "ij,jk->ik", "i1->i", "ij->k", "ij->ii", "ii->i", "i..->i", "......", "ij->i->j"}) {
    INFO(equation);
    error_of("Einsum", {x}, {.attrs = {{"equation", std::string(equation), ""}}, .opset = 12});
  }
}

}  // namespace mlopt::test
