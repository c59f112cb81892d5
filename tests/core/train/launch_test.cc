#include "core/train/launch.h"

#include <map>
#include <string>

#include "tests/support/catch.h"

using namespace mlopt::train;

namespace {

Launch launch_of(const std::map<std::string, std::string>& variables) {
  return read_launch([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

}  // namespace

TEST_CASE("the launcher's variables tell rank and size") {
  struct Row {
    std::map<std::string, std::string> variables;
    int rank, size, local_size;
  };
  const Row rows[] = {
      {{}, 0, 1, 1},
      {{{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}, 3, 8, 4},
      {{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}, 1, 2, 1},
      {{{"SLURM_PROCID", "5"}, {"SLURM_STEP_NUM_TASKS", "6"}, {"SLURM_STEP_TASKS_PER_NODE", "2(x3)"}}, 5, 6, 2},
      // A script of Slurm has a number of tasks, and is one process.
      {{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "6"}}, 0, 1, 1},
      // mpirun within a job of Slurm.
      {{{"SLURM_PROCID", "0"},
        {"SLURM_STEP_NUM_TASKS", "1"},
        {"OMPI_COMM_WORLD_RANK", "1"},
        {"OMPI_COMM_WORLD_SIZE", "2"}},
       1,
       2,
       1},
  };
  for (const Row& row : rows) {
    const Launch launch = launch_of(row.variables);
    CHECK(launch.rank == row.rank);
    CHECK(launch.size == row.size);
    CHECK(launch.local_size == row.local_size);
  }
}

TEST_CASE("the launcher's variables tell which of a machine's processes this is") {
  CHECK(launch_of({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}}).local_rank == 0);
  CHECK(launch_of({{"OMPI_COMM_WORLD_RANK", "5"}, {"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}})
            .local_rank == 1);
  CHECK(launch_of({{"SLURM_PROCID", "5"}, {"SLURM_STEP_NUM_TASKS", "6"}, {"SLURM_LOCALID", "2"}}).local_rank == 2);
}

TEST_CASE("ranks of a machine share its processors") {
  CHECK(threads_of_rank({0, 1, 1}, 8, 8) == 8);
  CHECK(threads_of_rank({0, 4, 4}, 8, 8) == 2);     // not bound
  CHECK(threads_of_rank({0, 2, 2}, 16, 32) == 16);  // each bound to a socket
  CHECK(threads_of_rank({0, 2, 2}, 1, 2) == 1);     // each bound to a core
  CHECK(threads_of_rank({0, 4, 4}, 2, 2) == 1);     // more ranks than processors
}
