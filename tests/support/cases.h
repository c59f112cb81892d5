#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tests/support/op.h"

namespace mlopt::test {

inline Attr attr(std::string name, AttrValue value) { return {std::move(name), std::move(value), {}}; }
inline Attr attr(std::string name, int value) { return {std::move(name), int64_t{value}, {}}; }
inline Attr attr(std::string name, float value) { return {std::move(name), value, {}}; }
inline Attr attr(std::string name, const char* value) { return {std::move(name), std::string(value), {}}; }

/// 0, 1, 2, ... in `type`.
Tensor counting(Dims dims, DType type = DType::kF32);

/// A row of a table of one-node models and the outputs they must have; an empty Datum is an output of no interest.
struct OpCase {
  std::string op;
  std::vector<Datum> inputs;
  OpOptions options;
  std::vector<Datum> expected;
  double tolerance = 1e-6;
};
/// Runs every row; a failure names the row.
void check_cases(const std::vector<OpCase>& rows);

/// A row of a table of one-node models that must be refused, naming the node and with `text` in the message.
struct BadCase {
  std::string op;
  std::vector<Datum> inputs;
  OpOptions options;
  std::string text;
};
void check_errors(const std::vector<BadCase>& rows);

}  // namespace mlopt::test
