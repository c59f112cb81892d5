#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

Datum list(std::vector<Tensor> items) { return Datum::sequence({items.begin(), items.end()}); }
Tensor place(int64_t i) { return Tensor::scalar(i); }

TEST_CASE("sequences grow, shrink and are read at any place") {
  const Tensor a = tensor({1}, {1}), b = tensor({2}, {2, 3}), c = tensor({}, {4});
  check_cases({
      {"SequenceConstruct", {a, b}, {}, {list({a, b})}},
      {"SequenceEmpty", {}, {}, {list({})}},
      {"SequenceLength", {list({a, b})}, {}, {place(2)}},
      {"SequenceAt", {list({a, b}), place(-1)}, {}, {b}},
      {"SequenceInsert", {list({a, b}), c}, {}, {list({a, b, c})}},
      {"SequenceInsert", {list({a, b}), c, place(-2)}, {}, {list({c, a, b})}},
      {"SequenceInsert", {list({a, b}), c, place(2)}, {}, {list({a, b, c})}},
      {"SequenceErase", {list({a, b, c})}, {}, {list({a, b})}},
      {"SequenceErase", {list({a, b, c}), place(0)}, {}, {list({b, c})}},
  });
  check_errors({
      {"SequenceAt", {list({a, b}), place(2)}, {}, "position 2"},
      {"SequenceInsert", {list({a, b}), c, place(3)}, {}, "position 3"},
      {"SequenceErase", {list({})}, {}, "position -1"},
  });
}

TEST_CASE("tensors are split into sequences and joined again") {
  const Tensor data = counting({3, 2}), head = counting({2, 2}), tail = tensor({1, 2}, {4, 5});
  check_cases({
      {"SplitToSequence", {data, place(2)}, {}, {list({head, tail})}},
      {"SplitToSequence", {data, Tensor::ints({2, 1})}, {}, {list({head, tail})}},
      {"SplitToSequence", {data}, {{attr("axis", 1)}}, {list({tensor({3, 1}, {0, 2, 4}), tensor({3, 1}, {1, 3, 5})})}},
      {"SplitToSequence",
       {data},
       {{attr("axis", 1), attr("keepdims", 0)}},
       {list({tensor({3}, {0, 2, 4}), tensor({3}, {1, 3, 5})})}},
      {"ConcatFromSequence", {list({head, tail})}, {{attr("axis", 0)}}, {data}},
      {"ConcatFromSequence",
       {list({counting({2}), counting({2})})},
       {{attr("axis", -1), attr("new_axis", 1)}},
       {tensor({2, 2}, {0, 0, 1, 1})}},
  });
  check_errors({
      {"SplitToSequence", {data, Tensor::ints({2, 2})}, {}, "add up"},
      {"SplitToSequence", {data, place(0)}, {}, "positive"},
      {"ConcatFromSequence", {list({})}, {{attr("axis", 0)}}, "empty sequence"},
  });
}

TEST_CASE("optionals hold something or nothing") {
  const Tensor a = tensor({1}, {1});
  check_cases({
      {"Optional", {a}, {}, {a}},
      {"OptionalHasElement", {list({a})}, {}, {Tensor::scalar(true)}},
      {"OptionalHasElement", {}, {}, {Tensor::scalar(false)}},
      {"OptionalGetElement", {list({a})}, {}, {list({a})}},
  });
  check_errors({{"OptionalGetElement", {Datum()}, {}, "empty"}});
}

}  // namespace
}  // namespace mlopt::test
