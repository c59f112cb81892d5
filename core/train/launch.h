#pragma once
#include <functional>

namespace mlopt::train {

/// What the launcher of a parallel run (mpirun, srun) tells each process, before any library is asked.
struct Launch {
  int rank = 0, size = 1;
  int local_size = 1;  ///< processes on this machine
  int local_rank = 0;  ///< among them
};

/// Reads it from the environment: of Open MPI, of MPICH and its relatives, of Slurm. One process where there is none.
Launch read_launch();
Launch read_launch(const std::function<const char*(const char* name)>& variable);

/// Takes it out of the environment: programs that this one starts are no ranks.
void forget_launch();

/// Threads for each of the processes of this machine: `available` are this one's, which may share them with the others
/// where the launcher has not bound each to its own.
int threads_of_rank(const Launch& launch, int available, int machine);

}  // namespace mlopt::train
