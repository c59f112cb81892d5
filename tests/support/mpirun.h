#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace mlopt::test {

/// Why nothing can be started by mpirun here; empty: it can.
std::string no_mpirun();

/// Runs a program of the tests' folder ("mlopt", "mlopt_tests") as so many ranks on this machine, without a network.
/// `started` is called with mpirun's process.
Outcome run_ranks(int count, const std::string& program, const std::vector<std::string>& args,
                  const std::function<void(int process)>& started = {});

}  // namespace mlopt::test
