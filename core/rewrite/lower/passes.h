#pragma once
#include "core/rewrite/pass.h"

// Rewrites into operators that the kernels of backends run at once, some of which ONNX lacks: for graphs that are run,
// not written. One pass for each file; their operators are com.microsoft's and, where these lack one, ours ("mlopt").
namespace mlopt::lower {

extern const Pass array_feature_extractor;
extern const Pass attention;
extern const Pass attention_to_256;  ///< heads of at most 256 elements
extern const Pass attention_bias;
extern const Pass attention_groups;
extern const Pass attention_heads;
extern const Pass attention_past;
extern const Pass attention_rows;
extern const Pass group_query;
extern const Pass binarizer;
extern const Pass bitwise_not;
extern const Pass cast_like;
extern const Pass chain;
extern const Pass compress;
extern const Pass contrib_gelu;
extern const Pass counted;
extern const Pass counted_nothing;
extern const Pass dropout;
extern const Pass empty_pieces;
extern const Pass loops;
extern const Pass matmul_add;
extern const Pass one_hot;
extern const Pass pow_types;
extern const Pass preview_training;
extern const Pass qlinear;
extern const Pass random;
extern const Pass recurrent_layout;
extern const Pass shrink;
extern const Pass stft;
extern const Pass sum;
extern const Pass wide_integers;

}  // namespace mlopt::lower
