#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

TEST_CASE("n-grams of numbers on a GPU") {
  using Ints = std::vector<int64_t>;
  const Tensor x = uniform({4, 30}, 0, 4, DType::kI64);
  for (const char* mode : {"TF", "IDF", "TFIDF"})
    for (const int skips : {0, 3})
      for (const int shortest : {1, 2}) {
        INFO(mode << ", " << skips << ", " << shortest);
        const OpOptions options{.attrs = {attr("mode", mode), attr("max_skip_count", skips),
                                          attr("min_gram_length", shortest), attr("max_gram_length", 3),
                                          attr("ngram_counts", Ints{0, 3, 9}),
                                          attr("ngram_indexes", Ints{0, 3, 1, 6, 4, 2, 7, 5}),
                                          attr("pool_int64s", Ints{2, 3, 1, 0, 1, 1, 1, 3, 2, 0, 0, 1, 3, 2, 2}),
                                          attr("weights", std::vector<float>{1, 2, 0.5f, 3, 1, 0.25f, 2, 1.5f})}};
        require_on_gpu("TfIdfVectorizer", {x}, options, 0);
        require_on_gpu("TfIdfVectorizer", {uniform({30}, 0, 4, DType::kI32)}, options, 0);
      }
}

}  // namespace mlopt::test
