#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"

namespace mlopt::reference {
namespace {

/// A prefix tree of n-grams whose items are numbers.
struct Gram {
  std::map<int64_t, int> next;  ///< the node behind an item
  int64_t column = -1;          ///< where the n-gram that ends here is counted; -1: none ends here
};

/// What TfIdfVectorizer's attributes describe.
struct Vectorizer {
  std::vector<Gram> tree{1};
  std::unordered_map<std::string, int64_t> numbers;  ///< of the pool's strings
  bool of_strings = false;
  int64_t shortest = 1, longest = 1, most_skipped = 0, columns = 0;
  std::string mode;
  std::vector<float> weights;  ///< of each column; empty: 1
};

/// The pool as numbers; strings get theirs in order of appearance.
std::vector<int64_t> pool_numbers(const Call& call, Vectorizer& vectorizer) {
  vectorizer.of_strings = call.view.has("pool_strings");
  if (!vectorizer.of_strings) return call.view.get_ints("pool_int64s");
  std::vector<int64_t> pool;
  for (const std::string& text : call.view.get_strings("pool_strings"))
    pool.push_back(vectorizer.numbers.emplace(text, static_cast<int64_t>(vectorizer.numbers.size())).first->second);
  return pool;
}

void add_gram(std::vector<Gram>& tree, std::span<const int64_t> items, int64_t column) {
  size_t node = 0;
  for (const int64_t item : items) {
    const auto [place, fresh] = tree[node].next.emplace(item, static_cast<int>(tree.size()));
    node = static_cast<size_t>(place->second);
    if (fresh) tree.emplace_back();
  }
  if (tree[node].column < 0) tree[node].column = column;
}

Vectorizer read_attributes(const Call& call) {
  Vectorizer v;
  v.shortest = call.view.get_int("min_gram_length");
  v.longest = call.view.get_int("max_gram_length");
  v.most_skipped = call.view.get_int("max_skip_count");
  v.mode = call.view.get_string("mode", "");
  require(call, v.shortest >= 1 && v.longest >= v.shortest && v.most_skipped >= 0,
          "the lengths of n-grams are impossible");
  require(call, v.mode == "TF" || v.mode == "IDF" || v.mode == "TFIDF", "mode must be TF, IDF or TFIDF");
  const std::vector<int64_t> pool = pool_numbers(call, v);
  const std::vector<int64_t> begins = call.view.get_ints("ngram_counts"), columns = call.view.get_ints("ngram_indexes");
  for (const int64_t column : columns) {
    require(call, column >= 0 && column < (1 << 30), "an n-gram's column is out of range");
    v.columns = std::max(v.columns, column + 1);
  }
  size_t gram = 0;
  for (size_t n = 1; n <= begins.size(); ++n) {
    const int64_t begin = begins[n - 1], end = n < begins.size() ? begins[n] : static_cast<int64_t>(pool.size());
    require(call, begin >= 0 && begin <= end && end <= static_cast<int64_t>(pool.size()),
            "ngram_counts does not fit the pool");
    for (auto at = static_cast<size_t>(begin); at + n <= static_cast<size_t>(end); at += n, ++gram) {
      require(call, gram < columns.size(), "ngram_indexes is shorter than the pool");
      const auto length = static_cast<int64_t>(n);
      if (length >= v.shortest && length <= v.longest) add_gram(v.tree, std::span(pool).subspan(at, n), columns[gram]);
    }
  }
  if (call.view.has("weights")) v.weights = call.view.get_floats("weights");
  require(call, v.weights.empty() || static_cast<int64_t>(v.weights.size()) >= v.columns, "weights is too short");
  return v;
}

/// Counts the n-grams whose items stand `step` apart, of `shortest` items or more.
void count_grams(const Vectorizer& v, std::span<const int64_t> row, int64_t step, int64_t shortest, float* counts) {
  const auto length = static_cast<int64_t>(row.size());
  for (int64_t start = 0; start < length; ++start) {
    size_t node = 0;
    for (int64_t n = 1, at = start; n <= v.longest && at < length; ++n) {
      const auto& next = v.tree[node].next;
      const auto found = next.find(row[static_cast<size_t>(at)]);
      if (found == next.end()) break;
      node = static_cast<size_t>(found->second);
      if (n >= shortest && v.tree[node].column >= 0) counts[v.tree[node].column] += 1;
      if (step > length - at) break;
      at += step;
    }
  }
}

std::vector<int64_t> row_numbers(const Call& call, const Vectorizer& v) {
  const Tensor& data = call.in(0);
  require(call, (data.dtype() == DType::kString) == v.of_strings, "the input and the pool have different types");
  if (!v.of_strings) return to_ints(data);
  std::vector<int64_t> items;
  for (const std::string& text : data.strings()) {
    const auto known = v.numbers.find(text);
    items.push_back(known == v.numbers.end() ? -1 : known->second);
  }
  return items;
}

void tfidf_vectorizer(Call& call) {
  const Tensor& data = call.in(0);
  require(call, data.rank() <= 2, "the input must be a list or a matrix");
  const Vectorizer v = read_attributes(call);
  const std::vector<int64_t> items = row_numbers(call, v);
  const int64_t rows = data.rank() == 2 ? data.dim(0) : 1;
  const size_t length = rows > 0 ? items.size() / static_cast<size_t>(rows) : 0;
  Tensor out = Tensor::zeros(DType::kF32, data.rank() == 2 ? Dims{rows, v.columns} : Dims{v.columns});
  auto* counts = out.mutable_data<float>();
  for (int64_t r = 0; r < rows; ++r) {
    const std::span<const int64_t> row(items.data() + static_cast<size_t>(r) * length, length);
    float* cells = counts + r * v.columns;
    // Single items are the same at every distance: they are counted once.
    const int64_t widest = std::min(v.most_skipped, static_cast<int64_t>(length));
    for (int64_t skip = 0; skip <= widest; ++skip)
      count_grams(v, row, skip + 1, skip == 0 ? v.shortest : std::max<int64_t>(2, v.shortest), cells);
    for (int64_t c = 0; c < v.columns; ++c) {
      const float weight = v.weights.empty() ? 1.0F : v.weights[static_cast<size_t>(c)];
      if (v.mode == "IDF") cells[c] = cells[c] > 0 ? weight : 0;
      if (v.mode == "TFIDF") cells[c] *= weight;
    }
  }
  call.set(0, std::move(out));
}

constexpr Kernel kKernels[] = {
    {"", "TfIdfVectorizer", tfidf_vectorizer},
};

}  // namespace

std::span<const Kernel> tfidf_kernels() { return kKernels; }

}  // namespace mlopt::reference
