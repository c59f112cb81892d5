#include "prune/spec.h"

#include "core/base/error.h"
#include "prune/allocations.h"
#include "prune/criteria.h"
#include "prune/scales.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"

using namespace mlopt;
using prune::parse_spec;
using prune::to_string;

namespace {

std::string refused(const char* text) {
  return test::error_of([&] { prune::check(parse_spec(text)); });
}

Code code_of(const char* text) {
  try {
    prune::check(parse_spec(text));
  } catch (const Error& e) {
    return e.code;
  }
  return Code::kOk;
}

}  // namespace

TEST_CASE("a pruning spec is printed as it was parsed") {
  for (const char* text :
       {"magnitude:granularity=element;sparsity=0.5", "magnitude:granularity=2:4;skip=head",
        "magnitude:granularity=block=4x1;sparsity=0.25;allocation=global;scale=layer;norm=l1;only=/a/*|b",
        "random:granularity=kernel;threshold=0.001;seed=7", "magnitude:granularity=channel;flops=0.5;round=none",
        "magnitude:granularity=head;sparsity=0.25;round=2", "magnitude:granularity=channel;latency=0.6;round=auto",
        "magnitude:granularity=channel;shares=/a/b=0.5|c=0.25",
        "wanda:granularity=element;sparsity=0.5;allocation=sensitivity",
        "magnitude:granularity=element;sparsity=0.5;schedule=gradual;every=7",
        "regularization:granularity=channel;flops=0.5;penalty=greg",
        "regularization:granularity=element;sparsity=0.5;penalty=l0;seed=3",
        "magnitude:granularity=element;sparsity=0.5;schedule=lottery;rewind=20;iterations=3",
        "sparsegpt:granularity=element;sparsity=0.5;stages=3;iterations=4;recover=lstsq,bn"})
    CHECK(to_string(parse_spec(text)) == text);
  CHECK(parse_spec("magnitude:latency=0.6x").latency == 0.6);
  CHECK(to_string(parse_spec("magnitude")) == "magnitude:granularity=element");
  CHECK(to_string(parse_spec("magnitude:sparsity=12.5%")) == "magnitude:granularity=element;sparsity=0.125");
}

TEST_CASE("every row of the tables has a name of its own and words that tell what it is") {
  for (const auto& row : prune::criteria()) CHECK(parse_spec(row.name).method == row.name);
  for (const auto& row : prune::allocations()) {
    CHECK(parse_spec("magnitude:allocation=" + std::string(row.name)).allocation == row.name);
    CHECK_NOTHROW(parse_spec("magnitude:scale=" + std::string(row.scale)));
    CHECK_FALSE(row.doc.empty());
  }
  for (const auto& row : prune::scales()) CHECK_FALSE(row.doc.empty());
}

TEST_CASE("a mistake in a pruning spec is named, with what was meant") {
  struct Case {
    const char *text, *part;
  };
  for (const Case& c : {Case{"magnitud", "did you mean 'magnitude'"},
                        Case{"magnitude:granularity=elment", "did you mean 'element'"},
                        Case{"magnitude:granularity=4:2", "no N:M pattern"},
                        Case{"magnitude:granularity=2:4:8", "no N:M pattern"},
                        Case{"magnitude:granularity=block=4", "no block"},
                        Case{"magnitude:alocation=global", "did you mean 'allocation'"},
                        Case{"magnitude:allocation=globl", "did you mean 'global'"},
                        Case{"magnitude:scale=chanel", "did you mean 'channel'"},
                        Case{"magnitude:sparsity=1.5", "'1.5' is no share"},
                        Case{"magnitude:sparsity=-0.1", "from 0 to 1"},
                        Case{"magnitude:sparsity=nan", "no share"},
                        Case{"magnitude:sparsity=150%", "no share"},
                        Case{"magnitude:threshold=-1", "no threshold"},
                        Case{"magnitude:norm=l3", "l1 or l2"},
                        Case{"wanda:sparsity=0.5;stages=0", "no number of stages"},
                        Case{"wanda:sparsity=0.5;iterations=0", "no number of iterations"},
                        Case{"wanda:sparsity=0.5;recover=all", "none, lstsq or bn"},
                        Case{"sparsegpt:threshold=1", "takes no threshold"},
                        Case{"magnitude:sparsity", "no part of a pruning"},
                        Case{"", "no method is called ''"}}) {
    INFO(c.text);
    CHECK(test::contains(refused(c.text), c.part));
    CHECK(code_of(c.text) == Code::kUsage);
  }
}

TEST_CASE("what does not go together is refused") {
  struct Case {
    const char *text, *part;
  };
  for (const Case& c : {Case{"magnitude", "how much to remove is not said"},
                        Case{"magnitude:sparsity=0.5;threshold=0.1", "say different things"},
                        Case{"magnitude:granularity=channel;sparsity=0.5;flops=0.5", "say different things"},
                        Case{"magnitude:flops=0.5", "zeros save no FLOPs"},
                        Case{"magnitude:sparsity=0.5;round=8", "no widths to round"},
                        Case{"magnitude:granularity=channel;sparsity=0.5;scale=layer", "relative to the mean"},
                        Case{"magnitude:threshold=0.1;allocation=global", "the same for all layers"},
                        Case{"magnitude:granularity=2:4;sparsity=0.3", "means a sparsity of 0.5"},
                        Case{"magnitude:granularity=2:4;threshold=0.3", "takes no threshold"},
                        Case{"magnitude:granularity=2:4;allocation=global", "the same share of every layer"}}) {
    INFO(c.text);
    CHECK(test::contains(refused(c.text), c.part));
    CHECK(code_of(c.text) == Code::kUsage);
  }
  CHECK(code_of("magnitude:granularity=2:4;iterations=2") == Code::kUnsupported);
  CHECK(code_of("sparsegpt:granularity=kernel;sparsity=0.5") == Code::kUnsupported);
  CHECK(refused("magnitude:granularity=2:4;sparsity=0.5").empty());
  CHECK(refused("magnitude:granularity=channel;flops=0.5;round=16").empty());
  CHECK(refused("magnitude:granularity=3:4;sparsity=0.25;allocation=uniform").empty());
}
