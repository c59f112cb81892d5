#include "core/rewrite/split_attention.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

using test::declined;
using test::rewritten;

namespace {

std::string attention(const std::string& attrs, const std::string& more = "",
                      const std::string& out = "double[N,S,4]") {
  return "g (double[N,S,2] x, int32[N,S] mask, int32[N] lengths, double[1,1,S,S] scores, double[2,N,2,P,2] past) => (" +
         out +
         " y) <double[2,12] W = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, -1, 2, -3, 4, -5, 6, -7, 8, -9, 1, -2, 3}, " +
         "double[12] B = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}> { y = com.microsoft.Attention <num_heads = 2" +
         attrs + "> (x, W" + more + ") }";
}

}  // namespace

TEST_CASE("weights inside of attention are those of products by themselves") {
  const std::string split = "MatMul MatMul MatMul MultiHeadAttention";
  CHECK(rewritten(split_attention_pass, attention("")) == split);
  CHECK(rewritten(split_attention_pass, attention(", unidirectional = 1, scale = 0.5", ", B")) == split);
  CHECK(rewritten(split_attention_pass, attention(", mask_filter_value = -3.0", ", B, mask")) == split);
  CHECK(rewritten(split_attention_pass, attention("", ", B, mask, , scores")) == split);
  CHECK(rewritten(split_attention_pass, attention(", qkv_hidden_sizes = [2, 2, 8]", ", B", "double[N,S,8]")) == split);
}

TEST_CASE("attention stays that has a past, lengths in the place of a mask, or weights of unknown numbers") {
  const std::string other = "it has a past, or a mask of another form";
  CHECK(declined(split_attention_pass, attention("", ", B, lengths")) == other);
  CHECK(declined(split_attention_pass, attention("", ", B, , past")) == other);
  CHECK(declined(split_attention_pass,
                 "g (double[N,S,2] x, double[2,12] w) => (double[N,S,4] y) { "
                 "y = com.microsoft.Attention <num_heads = 2> (x, w) }") == "'w' is not constant");
  CHECK(declined(split_attention_pass, attention(", qkv_hidden_sizes = [4, 4]")) ==
        "its weights do not make queries, keys and values");
  CHECK(declined(split_attention_pass,
                 attention(", qkv_hidden_sizes = [6148914691236517206, 6148914691236517206, 12]")) ==
        "its weights do not make queries, keys and values");
  CHECK(declined(split_attention_pass,
                 "g (double[N,S,0] x, double[0,12] W) => (double[N,S,4] y) { "
                 "y = com.microsoft.Attention <num_heads = 2> (x, W) }") == "its weights are no matrix of floats");
}
