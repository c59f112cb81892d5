#include "core/train/launch.h"

#include <algorithm>
#include <cstdlib>

namespace mlopt::train {
namespace {

struct Names {
  const char *rank, *size, *local_size, *local_rank;
};

/// The first that is there counts: a job of Slurm may run mpirun.
constexpr Names kLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE", "SLURM_LOCALID"},  // tasks: "4" or "4(x2)"
};

}  // namespace

Launch read_launch(const std::function<const char*(const char*)>& variable) {
  for (const Names& names : kLaunchers) {
    const char *rank = variable(names.rank), *size = variable(names.size), *local = variable(names.local_size);
    if (!rank || !size) continue;
    Launch launch{std::atoi(rank), std::atoi(size), local ? std::atoi(local) : 1};
    const char* among_local = variable(names.local_rank);
    launch.local_rank = among_local ? std::atoi(among_local) : 0;
    launch.local_size = std::clamp(launch.local_size, 1, std::max(launch.size, 1));
    return launch;
  }
  return {};
}

Launch read_launch() {
  return read_launch([](const char* name) { return std::getenv(name); });
}

void forget_launch() {
  for (const Names& names : kLaunchers) ::unsetenv(names.size);
}

int threads_of_rank(const Launch& launch, int available, int machine) {
  return std::clamp(machine / launch.local_size, 1, available);
}

}  // namespace mlopt::train
