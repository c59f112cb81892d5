#pragma once
#include <string>
#include <vector>

namespace mlopt::test {

struct Outcome {
  int status = -1;  ///< the exit status; 128 + N when signal N ended it
  std::string out, err;
};

/// Runs the program, `mlopt`, with these arguments and waits for it. `input` is its standard input.
Outcome run_mlopt(const std::vector<std::string>& args, const std::string& input = {});

}  // namespace mlopt::test
