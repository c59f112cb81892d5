#include "quantize/nonuniform/product_codebook.h"

#include <cmath>
#include <limits>

#include "core/base/rng.h"
#include "tests/support/catch.h"

using namespace mlopt;
using namespace mlopt::quantize;

namespace {

Vectors random_vectors(int64_t count, int64_t width, uint64_t seed) {
  Rng rng(seed);
  Vectors vectors{width, {}, {}};
  for (int64_t i = 0; i < count * width; ++i) {
    vectors.numbers.push_back(static_cast<float>(rng.normal()));
    vectors.weights.push_back(static_cast<float>(0.1 + std::fabs(rng.normal())));
  }
  return vectors;
}

double distance(const Vectors& v, int64_t i, const std::vector<float>& book, int64_t entry) {
  double sum = 0;
  for (int64_t j = 0; j < v.width; ++j) {
    const auto at = static_cast<size_t>(i * v.width + j);
    const double off =
        static_cast<double>(v.numbers[at]) - static_cast<double>(book[static_cast<size_t>(entry * v.width + j)]);
    sum += static_cast<double>(v.weights[at]) * off * off;
  }
  return sum;
}

double error(const Vectors& v, const std::vector<float>& book) {
  const std::vector<uint8_t> entries = nearest_entries(v, book);
  double sum = 0;
  for (int64_t i = 0; i < v.count(); ++i) sum += distance(v, i, book, entries[static_cast<size_t>(i)]);
  return sum;
}

/// Rows whose neighbours are alike.
Matrix related(int64_t rows, int64_t columns) {
  Rng rng(4);
  Matrix values = Matrix::zeros(rows, columns);
  for (int64_t r = 0; r < rows; ++r) {
    double x = rng.normal();
    for (float& value : values.row(r)) {
      x = 0.9 * x + 0.4 * rng.normal();
      value = static_cast<float>(x * (1 + static_cast<double>(r % 3)));
    }
  }
  return values;
}

double squared_error(const Matrix& a, const Matrix& b) {
  double sum = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    const double off = static_cast<double>(a.values[i]) - static_cast<double>(b.values[i]);
    sum += off * off;
  }
  return sum;
}

Coded in_format(const Matrix& values, const char* format, const Observed* seen = nullptr) {
  const Scheme scheme = scheme_of(*parse_weight_format(format), false, false);
  return encode(find_method("mse"), {values, scheme, seen});
}

}  // namespace

TEST_CASE("each vector gets the entry that is nearest of all") {
  const Vectors vectors = random_vectors(500, 3, 1);
  const std::vector<float> book = random_vectors(37, 3, 2).numbers;
  const std::vector<uint8_t> entries = nearest_entries(vectors, book);
  for (int64_t i = 0; i < vectors.count(); ++i) {
    double least = std::numeric_limits<double>::infinity();
    for (int64_t k = 0; k < 37; ++k) least = std::min(least, distance(vectors, i, book, k));
    REQUIRE(distance(vectors, i, book, entries[static_cast<size_t>(i)]) <= least * (1 + 1e-5));
  }
}

TEST_CASE("vectors that are no more than the entries are entries") {
  Vectors few = random_vectors(16, 4, 3), many{4, {}, {}};
  for (int i = 0; i < 10; ++i) {
    many.numbers.insert(many.numbers.end(), few.numbers.begin(), few.numbers.end());
    many.weights.insert(many.weights.end(), few.weights.begin(), few.weights.end());
  }
  CHECK(error(many, learn_book(many, 16)) < 1e-10);
  CHECK(error(many, learn_book(many, 64)) < 1e-10);
  CHECK(error(many, learn_book(many, 15)) > 1e-3);
}

TEST_CASE("entries are the weighted means of what is nearest to them: to move them there gains nothing") {
  const Vectors vectors = random_vectors(300, 2, 5);
  std::vector<float> book = learn_book(vectors, 8), moved = book;
  const std::vector<uint8_t> entries = nearest_entries(vectors, book);
  std::vector<double> sums(book.size()), weights(book.size());
  for (size_t i = 0; i < vectors.numbers.size(); ++i) {
    const size_t at = entries[i / 2] * size_t{2} + i % 2;
    sums[at] += static_cast<double>(vectors.weights[i]) * static_cast<double>(vectors.numbers[i]);
    weights[at] += static_cast<double>(vectors.weights[i]);
  }
  for (size_t k = 0; k < book.size(); ++k) moved[k] = static_cast<float>(sums[k] / weights[k]);
  CHECK(error(vectors, moved) > 0.998 * error(vectors, book));
  for (size_t k = 0; k < book.size(); ++k) CHECK(std::fabs(moved[k] - book[k]) < 0.1F);
  const std::vector<float> drawn(vectors.numbers.begin(), vectors.numbers.begin() + std::ssize(book));
  CHECK(error(vectors, book) < 0.8 * error(vectors, drawn));
}

TEST_CASE("codes of vectors err less than codes of numbers in as many bits, most where neighbours are alike") {
  const Matrix values = related(96, 64);
  const double numbers = squared_error(values, decode(in_format(values, "codebook2")));
  const double vectors = squared_error(values, decode(in_format(values, "codebook8v4")));
  CHECK(vectors < 0.5 * numbers);
}

TEST_CASE("a row that the length does not divide, zeros and numbers that are none are stored") {
  Matrix values = related(40, 30);
  for (float& x : values.row(3)) x = 0;
  values.at(5, 7) = INFINITY;
  values.at(6, 7) = NAN;
  for (const char* format : {"codebook8v4", "codebook5v7", "codebook2v8"}) {
    const Coded coded = in_format(values, format);
    CHECK(std::ssize(coded.codes) == coded.rows * coded.code_columns());
    const Matrix back = decode(coded);
    for (const float x : back.values) REQUIRE(std::isfinite(x));
    for (const float x : back.row(3)) CHECK(std::fabs(x) < 5);
  }
}

TEST_CASE("columns that are multiplied by more are kept better") {
  const Matrix values = related(64, 32);
  Observed seen;
  seen.rows = 10;
  seen.squares.assign(32, 1);
  for (size_t c = 0; c < 8; ++c) seen.squares[c] = 100;
  const Matrix plain = decode(in_format(values, "codebook4v4")),
               weighed = decode(in_format(values, "codebook4v4", &seen));
  const auto first = [&](const Matrix& got) {
    double sum = 0;
    for (int64_t r = 0; r < got.rows; ++r)
      for (int64_t c = 0; c < 8; ++c) sum += std::pow(static_cast<double>(got.at(r, c)) - values.at(r, c), 2);
    return sum;
  };
  CHECK(first(weighed) < first(plain));
}
