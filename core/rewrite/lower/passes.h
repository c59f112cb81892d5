#pragma once
#include "core/rewrite/pass.h"

// Rewrites into operators that the kernels of backends run at once, some of which ONNX lacks: for graphs that are run,
// not written. One pass for each file; their operators are com.microsoft's and, where these lack one, ours ("mlopt").
namespace mlopt::lower {

extern const Pass attention;
extern const Pass attention_groups;
extern const Pass attention_heads;
extern const Pass attention_past;
extern const Pass attention_rows;
extern const Pass cast_like;
extern const Pass chain;
extern const Pass contrib_gelu;
extern const Pass empty_pieces;
extern const Pass loops;
extern const Pass matmul_add;
extern const Pass sum;

}  // namespace mlopt::lower
