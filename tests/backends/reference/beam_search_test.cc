#include <algorithm>
#include <cmath>

#include "backends/reference/backend.h"
#include "core/base/error.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {
namespace {

constexpr int kWords = 4;
/// Logits of the next token after each token; 3 ends a sequence.
const std::vector<double> kTable = {0.3, 2.0, 1.1, 0.2, 1.7, 0.1, 1.9, 0.4, 0.5, 1.4, 0.2, 1.6, 0, 0, 0, 0};

/// A decoder that looks only at the last token, and counts in its past the tokens that it saw.
std::string graph_text(const std::string& attributes) {
  return R"(<ir_version: 9, opset_import: ["" : 19, "com.microsoft" : 1]>
g (int32[B,S] ids, int32[1] most, int32[1] least, int32[1] beams, int32[1] returned, float[1] length,
   float[1] repetition, float[4,4] table) => (int32[B,R,M] sequences, float[B,R] scores) {
  sequences, scores = com.microsoft.BeamSearch (ids, most, least, beams, returned, length, repetition)
    <eos_token_id = 3, pad_token_id = 0, )" +
         attributes + R"(decoder = d (int32[N,T] tokens, int32[N,T] positions, int32[N,L] mask, float[2,N,1,P,1] past)
      => (float[N,T,4] logits, float[2,N,1,Q,1] present) {
      logits = Gather (table, tokens)
      axes = Constant <value = int64[3] {0, 2, 4}> ()
      words = Cast <to = 1> (tokens)
      key = Unsqueeze (words, axes)
      both = Concat <axis = 0> (key, key)
      present = Concat <axis = 3> (past, both)
    }>
})";
}

struct Asked {
  std::vector<double> ids = {1};
  int64_t most = 4, beams = 16, returned = 1;
  double length_penalty = 0;
  std::string attributes = {};
};

std::vector<Datum> search(const Asked& a) {
  const Model model = parse_text(graph_text(a.attributes));
  const auto one = [](double v, DType type = DType::kI32) { return Datum(tensor({1}, {v}, type)); };
  const auto prompts = static_cast<int64_t>(a.ids.size());
  return reference_backend()->compile(model, {})->run(
      std::vector<Datum>{tensor({prompts, 1}, a.ids, DType::kI32), one(static_cast<double>(a.most)), one(0),
                         one(static_cast<double>(a.beams)), one(static_cast<double>(a.returned)),
                         one(a.length_penalty, DType::kF32), one(1, DType::kF32), tensor({kWords, kWords}, kTable)});
}

double log_probability(int from, int to) {
  double sum = 0;
  for (int k = 0; k < kWords; ++k) sum += std::exp(kTable[static_cast<size_t>(from * kWords + k)]);
  return kTable[static_cast<size_t>(from * kWords + to)] - std::log(sum);
}

/// The best way on of all, found by trying every one: a path to `most` tokens, or one that ends before.
double best_of_all(int last, int64_t left) {
  if (left == 0) return 0;
  double best = log_probability(last, 3);
  for (int next = 0; next < 3; ++next) best = std::max(best, log_probability(last, next) + best_of_all(next, left - 1));
  return best;
}

}  // namespace

TEST_CASE("BeamSearch with beams for every path finds the best of all", "[reference]") {
  for (const int64_t most : {2, 3, 4}) {
    const std::vector<Datum> found = search({.ids = {1, 2}, .most = most});
    const float* scores = found[1].tensor().data<float>();
    REQUIRE(found[0].tensor().dims() == Dims{2, 1, most});
    CHECK(scores[0] == Approx(best_of_all(1, most - 1)).epsilon(1e-5));
    CHECK(scores[1] == Approx(best_of_all(2, most - 1)).epsilon(1e-5));
  }
}

TEST_CASE("BeamSearch gives several sequences, best first, with the sum of their tokens", "[reference]") {
  const std::vector<Datum> found = search({.most = 3, .returned = 4});
  const float* scores = found[1].tensor().data<float>();
  CHECK(std::is_sorted(scores, scores + 4, std::greater<>()));
  CHECK(scores[0] > scores[3]);
  const int32_t* first = found[0].tensor().data<int32_t>();
  CHECK(first[0] == 1);
  double sum = 0;
  for (int i = 1; i < 3; ++i) sum += log_probability(first[i - 1], first[i]);
  CHECK(scores[0] == Approx(sum).epsilon(1e-5));
}

TEST_CASE("one beam takes the likeliest token each time", "[reference]") {
  const std::vector<Datum> found = search({.ids = {0}, .beams = 1, .attributes = "no_repeat_ngram_size = 1, "});
  require_close(found[0].tensor(), tensor({1, 1, 4}, {0, 1, 2, 0}, DType::kI32));  // 0 1 2, then only the end is new
}

TEST_CASE("BeamSearch refuses what does not fit", "[reference]") {
  const auto message = [](const Asked& asked) -> std::string {
    try {
      search(asked);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  CHECK_THAT(message({.ids = {-1}}), Catch::Contains("not in the vocabulary"));
  CHECK_THAT(message({.most = 1}), Catch::Contains("max_length"));
  CHECK_THAT(message({.beams = 2, .returned = 3}), Catch::Contains("num_beams"));
  CHECK_THAT(message({.attributes = "model_type = 1, "}), Catch::Contains("BeamSearch"));
}

}  // namespace mlopt::test
