#pragma once
#include <string>

#include "core/data/array_file.h"
#include "core/onnx/io.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"
#include "tests/support/temp_dir.h"

namespace mlopt::test {

/// A model of two products, "first" and "second", worth quantizing and pruning, 40 samples for it, and a place for what
/// becomes of it.
struct ProductFiles {
  TempDir folder;
  std::string model = folder / "m.onnx", data = folder / "d.npz", out = folder / "o.onnx";

  ProductFiles() {
    write_model(fixture(R"(g (float[N,32] x, float[32,64] V, float[64,32] W) => (float[N,32] y) {
      [first] a = MatMul (x, V)
      r = Relu (a)
      [second] y = MatMul (r, W)
    })"),
                model);
    write_npz(data, {{"x", uniform({40, 32}, -1, 1)}});
  }
};

}  // namespace mlopt::test
