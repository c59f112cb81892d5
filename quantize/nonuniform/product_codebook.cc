#include "quantize/nonuniform/product_codebook.h"

#include <algorithm>
#include <cmath>

#include "core/base/parallel.h"
#include "core/base/rng.h"

namespace mlopt::quantize {
namespace {

constexpr int64_t kLearnedFrom = int64_t{1} << 16;  // vectors, evenly over all
constexpr int kSteps = 25;
constexpr int64_t kAtOnce = 256;  // vectors that a thread takes

/// Entries with equal places of all of them side by side, so that distances to many are one vector operation.
class Book {
 public:
  Book(const std::vector<float>& entries, int64_t width)
      : size_(entries.size() / static_cast<size_t>(width)), places_(entries.size()) {
    for (size_t i = 0; i < entries.size(); ++i)
      places_[i % static_cast<size_t>(width) * size_ + i / static_cast<size_t>(width)] = entries[i];
  }

  /// The nearest entry and its distance; `distances` is room for as many as there are entries.
  std::pair<size_t, float> nearest(const float* x, const float* weight, int64_t width,
                                   std::vector<float>& distances) const {
    distances.assign(size_, 0);
    for (int64_t j = 0; j < width; ++j) {
      const float* place = places_.data() + static_cast<size_t>(j) * size_;
      for (size_t k = 0; k < size_; ++k) distances[k] += weight[j] * (x[j] - place[k]) * (x[j] - place[k]);
    }
    const auto best = std::min_element(distances.begin(), distances.end());
    return {static_cast<size_t>(best - distances.begin()), *best};
  }

 private:
  size_t size_;
  std::vector<float> places_;
};

struct Found {
  std::vector<uint8_t> entry;
  std::vector<float> distance;
};

Found find_nearest(const Vectors& vectors, const std::vector<float>& entries) {
  const Book book(entries, vectors.width);
  const int64_t count = vectors.count();
  Found found{std::vector<uint8_t>(static_cast<size_t>(count)), std::vector<float>(static_cast<size_t>(count))};
  parallel_for((count + kAtOnce - 1) / kAtOnce, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> distances;
    for (int64_t i = begin * kAtOnce; i < std::min(count, end * kAtOnce); ++i) {
      const auto [entry, distance] = book.nearest(vectors.numbers.data() + i * vectors.width,
                                                  vectors.weights.data() + i * vectors.width, vectors.width, distances);
      found.entry[static_cast<size_t>(i)] = static_cast<uint8_t>(entry);
      found.distance[static_cast<size_t>(i)] = distance;
    }
  });
  return found;
}

/// Each next entry is a vector drawn by its distance to the entries so far.
std::vector<float> first_entries(const Vectors& vectors, int64_t size) {
  Rng rng(0);
  const auto width = static_cast<size_t>(vectors.width), count = static_cast<size_t>(vectors.count());
  std::vector<float> book;
  const auto take = [&](size_t i) {
    book.insert(book.end(), vectors.numbers.begin() + static_cast<std::ptrdiff_t>(i * width),
                vectors.numbers.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
  };
  take(rng.next() % count);
  std::vector<float> left(count, INFINITY);
  while (std::ssize(book) < size * vectors.width) {
    const float* last = book.data() + book.size() - width;
    double sum = 0;
    for (size_t i = 0; i < count; ++i) {
      float distance = 0;
      for (size_t j = 0; j < width; ++j) {
        const float off = vectors.numbers[i * width + j] - last[j];
        distance += vectors.weights[i * width + j] * off * off;
      }
      left[i] = std::min(left[i], distance);
      sum += static_cast<double>(left[i]);
    }
    if (!(sum > 0)) break;  // each vector is an entry
    double at = static_cast<double>(rng.next() >> 11) * 0x1p-53 * sum;
    size_t i = 0;
    while (i + 1 < count && at >= static_cast<double>(left[i])) at -= static_cast<double>(left[i++]);
    take(i);
  }
  return book;
}

/// Entries to the weighted means of what they are nearest to. Gives the sum of the distances before.
double step(const Vectors& vectors, std::vector<float>& book) {
  const Found found = find_nearest(vectors, book);
  const auto width = static_cast<size_t>(vectors.width);
  std::vector<double> sums(book.size()), weights(book.size());
  double all = 0;
  for (size_t i = 0; i < found.entry.size(); ++i) {
    all += static_cast<double>(found.distance[i]);
    for (size_t j = 0; j < width; ++j) {
      const auto w = static_cast<double>(vectors.weights[i * width + j]);
      sums[found.entry[i] * width + j] += w * static_cast<double>(vectors.numbers[i * width + j]);
      weights[found.entry[i] * width + j] += w;
    }
  }
  for (size_t k = 0; k < book.size(); ++k)
    if (weights[k] > 0) book[k] = static_cast<float>(sums[k] / weights[k]);
  return all;
}

/// Some of them, evenly.
Vectors thinned(const Vectors& vectors, int64_t most) {
  if (vectors.count() <= most) return vectors;
  Vectors some{vectors.width, {}, {}};
  for (int64_t k = 0; k < most; ++k) {
    const int64_t at = k * vectors.count() / most * vectors.width;
    some.numbers.insert(some.numbers.end(), vectors.numbers.begin() + at, vectors.numbers.begin() + at + vectors.width);
    some.weights.insert(some.weights.end(), vectors.weights.begin() + at, vectors.weights.begin() + at + vectors.width);
  }
  return some;
}

/// The root of the mean square of the finite numbers; 1 where that is nothing.
float size_of(std::span<const float> row) {
  double sum = 0;
  for (const float x : row) sum += std::isfinite(x) ? static_cast<double>(x) * static_cast<double>(x) : 0;
  const auto size = static_cast<float>(std::sqrt(sum / static_cast<double>(std::max<size_t>(1, row.size()))));
  return std::isnormal(size) && std::isnormal(1 / size) ? size : 1;
}

/// How much errors in a column count; the mean over columns is 1.
std::vector<float> importance_of(const Task& task, int64_t group) {
  const auto columns = static_cast<size_t>(task.values.columns);
  if (!task.seen || task.seen->rows == 0) return std::vector<float>(columns, 1);
  return importance(std::span(task.seen->squares).subspan(static_cast<size_t>(group) * columns, columns));
}

Vectors vectors_of(const Task& task, const Coded& coded) {
  const int64_t filled = coded.code_columns() * coded.vector;
  Vectors vectors{coded.vector, std::vector<float>(static_cast<size_t>(coded.rows * filled)), {}};
  vectors.weights.resize(vectors.numbers.size());
  for (int64_t r = 0; r < coded.rows; ++r) {
    const float scale = coded.scale[coded.alphabet_at(r, 0)];
    const std::vector<float> counts = importance_of(task, r / (coded.rows / task.groups));
    const float largest = *std::max_element(coded.scale.begin(), coded.scale.end()), share = scale / largest;
    for (int64_t c = 0; c < coded.columns; ++c) {
      const float x = task.values.at(r, c);
      if (!std::isfinite(x)) continue;  // counts nothing
      vectors.numbers[static_cast<size_t>(r * filled + c)] = x / scale;
      vectors.weights[static_cast<size_t>(r * filled + c)] = counts[static_cast<size_t>(c)] * share * share;
    }
  }
  return vectors;
}

}  // namespace

std::vector<float> learn_book(const Vectors& vectors, int64_t size) {
  const Vectors some = thinned(vectors, kLearnedFrom);
  std::vector<float> book = first_entries(some, size);
  double last = INFINITY;
  for (int i = 0; i < kSteps; ++i) {
    const double now = step(some, book);
    constexpr double kSettled = 1e-4;  // of the error
    if (!(now < last * (1 - kSettled))) break;
    last = now;
  }
  book.resize(static_cast<size_t>(size * vectors.width));
  return book;
}

std::vector<uint8_t> nearest_entries(const Vectors& vectors, const std::vector<float>& book) {
  return find_nearest(vectors, book).entry;
}

Coded encode_vectors(const Task& task) {
  Coded coded(task.scheme, task.values.rows, task.values.columns);
  if (task.scheme.per_tensor)
    coded.scale[0] = size_of(task.values.values);
  else
    for (int64_t r = 0; r < coded.rows; ++r) coded.scale[static_cast<size_t>(r)] = size_of(task.values.row(r));
  const Vectors vectors = vectors_of(task, coded);
  if (vectors.count() == 0) return coded;
  coded.table = learn_book(vectors, int64_t{1} << coded.bits);
  coded.codes = nearest_entries(vectors, coded.table);
  return coded;
}

}  // namespace mlopt::quantize
