#include "core/ir/key_window.h"

#include "core/ir/model.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"

using namespace mlopt;
using test::attr;

namespace {

KeyWindow window(std::vector<Attr> attrs) {
  Model model;
  return key_window(NodeView(*model.graph->add_op("Attention", {}, std::move(attrs)), 25));
}

}  // namespace

TEST_CASE("attention sees all keys unless an attribute says otherwise") {
  CHECK(window({}).is_open());
  CHECK(window({attr("is_causal", 0), attr("left_window_size", -1)}).is_open());
  for (const char* name : {"is_causal", "unidirectional"}) {
    const KeyWindow causal = window({attr(name, 1), attr("right_window_size", 5)});
    CHECK(causal.left == -1);
    CHECK(causal.right == 0);
  }
  const KeyWindow both = window({attr("left_window_size", 3), attr("right_window_size", 2)});
  CHECK(both.left == 3);
  CHECK(both.right == 2);
}

TEST_CASE("a window below -1 is not open, and stays what it is") {
  CHECK_FALSE(window({attr("left_window_size", -2)}).is_open());
  CHECK(window({attr("is_causal", 1), attr("right_window_size", -7)}).right == -7);
}
