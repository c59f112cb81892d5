#include "tests/support/steps.h"

#include <fmt/core.h>

namespace mlopt::test {
namespace {

std::string repeated(const char* text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += fmt::format(fmt::runtime(text), i);
  return all;
}

}  // namespace

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string Steps::graph() const {
  std::string nodes, h = state, c = memory;
  for (size_t i = 0; i < order.size(); ++i) {
    for (const std::string& part : {entry, cell}) nodes += fmt::format(fmt::runtime(part), i, order[i], h, c) + "  ";
    h = fmt::format("h{}", i), c = fmt::format("c{}", i);
  }
  return fmt::format(
      "g ({}, double[2,12] W, double[3,12] R, double[12] C, double[12] D, double[12,2] Wt, double[12,3] Rt, "
      "double[2,9] Wg, double[3,9] Rg, double[9] Cg, double[9] Dg, double[2,3] V, double[3,3] S, double[3] B) => ({}) <"
      "double zero = {{0}}, double one = {{1}}, int64[1] front = {{0}}, int64[1] next = {{1}}, int64[1] m1 = {{-1}}, "
      "int64[1] least = {{-9223372036854775807}}, {}> {{ {} {} }}",
      inputs, outputs, repeated("int64 k{0} = {{{0}}}, ", 9) + "int64[1] all = {9}", nodes, end);
}

Steps lstm_steps() {
  Steps steps;
  steps.cell =
      "p{0} = Gemm (x{0}, W, C)  q{0} = Gemm ({2}, R, D)  a{0} = Add (p{0}, q{0})  ai{0}, af{0}, ag{0}, ao{0} = Split "
      "<axis = 1, num_outputs = 4> (a{0})  i{0} = Sigmoid (ai{0})  f{0} = Sigmoid (af{0})  g{0} = Tanh (ag{0})  o{0} = "
      "Sigmoid (ao{0})  kept{0} = Mul (f{0}, {3})  new{0} = Mul (i{0}, g{0})  c{0} = Add (kept{0}, new{0})  t{0} = "
      "Tanh "
      "(c{0})  h{0} = Mul (o{0}, t{0})";
  return steps;
}

Steps gru_steps() {
  Steps steps;
  steps.cell =
      "p{0} = Gemm (x{0}, Wg, Cg)  pr{0}, pz{0}, pn{0} = Split <axis = 1, num_outputs = 3> (p{0})  q{0} = Gemm ({2}, "
      "Rg, Dg)  qr{0}, qz{0}, qn{0} = Split <axis = 1, num_outputs = 3> (q{0})  ar{0} = Add (pr{0}, qr{0})  r{0} = "
      "Sigmoid (ar{0})  az{0} = Add (pz{0}, qz{0})  z{0} = Sigmoid (az{0})  k{0}r = Mul (qn{0}, r{0})  an{0} = Add "
      "(pn{0}, k{0}r)  n{0} = Tanh (an{0})  d{0} = Sub ({2}, n{0})  e{0} = Mul (d{0}, z{0})  h{0} = Add (e{0}, n{0})";
  return steps;
}

Steps rnn_steps() {
  Steps steps;
  steps.inputs = "double[1,8,2] x, double[1,3] s";
  steps.outputs = "double[1,3] y";
  steps.cell = "p{0} = Gemm (x{0}, V, B)  q{0} = MatMul ({2}, S)  a{0} = Add (p{0}, q{0})  h{0} = Tanh (a{0})";
  steps.end = "y = Identity (h7)";
  steps.order = {0, 1, 2, 3, 4, 5, 6, 7};
  return steps;
}

}  // namespace mlopt::test
