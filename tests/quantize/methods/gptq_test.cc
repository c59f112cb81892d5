#include <Eigen/Dense>
#include <algorithm>
#include <numeric>

#include "core/base/parallel.h"
#include "core/calib/hessian.h"
#include "quantize/methods.h"
#include "tests/support/catch.h"
#include "tests/support/random_layer.h"

namespace mlopt::quantize {
namespace {

/// The method as it is written (Frantar et al. 2022): column by column, in double, without blocks.
std::vector<uint8_t> plain_gptq(const test::RandomLayer& layer, const Scheme& scheme) {
  Coded coded = round_to_nearest({layer.values, scheme, &layer.seen}, fit_mse);
  const int64_t columns = layer.values.columns;
  const Dense h = damped_hessian(layer.seen, 0, columns);
  std::vector<int64_t> order(static_cast<size_t>(columns));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return h(a, a) > h(b, b); });
  const Dense inverse = damped_hessian(layer.seen, 0, columns, order).inverse();
  const Dense u = inverse.llt().matrixU();
  for (int64_t r = 0; r < layer.values.rows; ++r) {
    Eigen::RowVectorXd left(columns);
    for (int64_t c = 0; c < columns; ++c) left[c] = layer.values.at(r, order[static_cast<size_t>(c)]);
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t at = order[static_cast<size_t>(c)];
      const Alphabet alphabet = coded.alphabet(coded.alphabet_at(r, at));
      const uint8_t code = alphabet.nearest(static_cast<float>(left[c]));
      coded.codes[static_cast<size_t>(r * columns + at)] = code;
      const double error = (left[c] - static_cast<double>(alphabet.value(code))) / u(c, c);
      left.tail(columns - c) -= error * u.row(c).tail(columns - c);
    }
  }
  return coded.codes;
}

}  // namespace

TEST_CASE("codes of a layer of several blocks are those of the method as it is written") {
  const test::RandomLayer layer(40, 300);
  Scheme scheme;
  scheme.bits = 4;
  scheme.group = 32;
  const Task task{layer.values, scheme, &layer.seen};
  const std::vector<uint8_t> plain = plain_gptq(layer, scheme), found = gptq(task, fit_mse).codes;
  CHECK(found != round_to_nearest(task, fit_mse).codes);
  int64_t same = 0;
  for (size_t i = 0; i < plain.size(); ++i) same += plain[i] == found[i];
  // Sums in float32 decide otherwise where a number lies between two codes, and what is behind it in its row follows.
  CHECK(same > std::ssize(plain) * 97 / 100);
}

TEST_CASE("what was pruned stays zero, and the other numbers make up for each other") {
  for (const int64_t columns : {96, 1040}) {  // those of adaround are learned in parts above 1024
    test::RandomLayer layer(4, columns);
    for (size_t i = 0; i < layer.values.values.size(); i += 3) layer.values.values[i] = 0;
    Scheme scheme;
    scheme.bits = 3;
    const Task task{layer.values, scheme, &layer.seen};
    double nearest = 0;
    for (int64_t r = 0; r < 4; ++r) nearest += layer.error(decode(round_to_nearest(task, fit_mse)), r);
    for (const auto method : {gptq, quantease, adaround}) {
      const Matrix found = decode(method(task, fit_mse));
      double error = 0;
      for (int64_t r = 0; r < 4; ++r) error += layer.error(found, r);
      CHECK(error < 0.7 * nearest);
      for (size_t i = 0; i < found.values.size(); i += 3) REQUIRE(found.values[i] == 0);
    }
  }
}

TEST_CASE("codes are the same on any number of threads") {
  const test::RandomLayer layer(40, 300);
  Scheme scheme;
  const Task task{layer.values, scheme, &layer.seen};
  std::vector<uint8_t> one, three;
  with_threads(1, [&] { one = gptq(task, fit_mse).codes; });
  with_threads(3, [&] { three = gptq(task, fit_mse).codes; });
  CHECK(one == three);
}

}  // namespace mlopt::quantize
