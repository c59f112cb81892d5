// Conv(x, v) + Conv(x, w) -> Conv(x, v + w), where one kernel has taps wherever the other has, as 3x3 has at the place
// of 1x1: blocks of several branches (RepVGG, Ding et al. 2021) as what they are trained to become. Sub likewise.
#include "graphopt/passes.h"
#include "graphopt/passes/conv_taps.h"

namespace mlopt::graphopt {
namespace {

std::vector<Rule> rules() { return {sum_of_convs()}; }

}  // namespace

const Pass merge_parallel_convs = {"merge_parallel_convs",
                                   "add up the kernels of convolutions of one value whose results are added", rules};

}  // namespace mlopt::graphopt
