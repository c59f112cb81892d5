#include "core/calib/course.h"

#include <map>

#include "backends/reference/backend.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

using Names = std::vector<std::string>;
using Seen = std::map<std::string, std::vector<std::vector<float>>>;  ///< of each batch

struct Setup {
  Model model = test::fixture(R"(g (float[N,3] x, float[3,3] U, float[3,3] V) => (float[N,3] y) {
    a = MatMul (x, U)
    b = Relu (a)
    d = MatMul (b, V)
    e = Add (d, x)
    y = Tanh (e)
  })");
  Tensor x = test::uniform({4, 3}, -1, 1);
  test::MemoryData data{x, std::nullopt};
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};
  int asked = 0;  ///< batches of the data

  void part(Course& course, int64_t end, Seen& seen) {
    course.begin_part(end, true);
    for (int64_t i = 0; i < data.size(); ++i)
      course.run(
          static_cast<size_t>(i), [&] { return ++asked, data.batch(i, 1); },
          [&](const std::string& name, const Datum& value) { seen[name].push_back(to_floats(value.tensor())); });
    course.end_part();
  }
};

}  // namespace

TEST_CASE("all batches go through one part, then through the next, and each watched value is shown once") {
  Setup s;
  const Names watched = {"x", "b", "e"};
  Seen whole, parts;
  Course at_once(s.model, watched, s.runner, {});
  CHECK(at_once.end() == 4);
  s.part(at_once, 4, whole);
  CHECK(s.asked == 4);
  Course course(s.model, watched, s.runner, {});
  s.asked = 0;
  for (int64_t end = 1; end <= 4; ++end) s.part(course, end, parts);
  CHECK(parts == whole);
  CHECK(whole.size() == 3);
  CHECK(s.asked == 4);  // only the first part reads the data
}

TEST_CASE("a course goes on from a place where another was, and from the front where that does not do") {
  Setup s;
  Seen whole, begun, rest;
  const Names watched = {"e"};
  Course at_once(s.model, watched, s.runner, {});
  s.part(at_once, 4, whole);
  Course first(s.model, Names{"b"}, s.runner, {});
  s.part(first, 1, begun);
  const Reached here = first.reached();
  CHECK(here.names == Names{"x", "a"});
  CHECK(here.batches.size() == 4);
  Course second(s.model, watched, s.runner, here);
  CHECK(second.rest().graph->node_count() == 4);
  s.part(second, second.end(), rest);
  CHECK(rest == whole);
  Course anew(s.model, watched, s.runner, {{"b"}, {}});  // x is needed as well
  CHECK(anew.rest().graph->node_count() == 5);
}
