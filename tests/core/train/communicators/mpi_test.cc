#include <cstdlib>

#include "core/base/error.h"
#include "core/train/communicator.h"
#include "mlopt_build.h"
#include "tests/support/catch.h"
#include "tests/support/communicator_checks.h"
#include "tests/support/mpirun.h"
#include "tests/support/paths.h"

using namespace mlopt;

TEST_CASE("this rank") {
  const train::Launch launch = train::read_launch();
  if (launch.size == 1) return;  // the next case starts it
  const auto ranks = train::mpi_communicator(launch, MLOPT_BUILD_ID);
  REQUIRE(ranks->rank() == launch.rank);
  REQUIRE(ranks->size() == launch.size);
  CHECK_NOTHROW(test::check_communicator(*ranks));
  CHECK(ranks->traffic().payload > 0);
  CHECK(ranks->traffic().wire > 0);
  ranks->close();
  ranks->close();
}

TEST_CASE("MPI's ranks reduce, gather and broadcast") {
  if (const std::string reason = test::no_mpirun(); !reason.empty()) return test::skip(reason);
  for (const int count : {2, 3}) {
    const test::Outcome outcome = test::run_ranks(count, "mlopt_tests", {"this rank"});
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status == 0);
  }
}

TEST_CASE("a library that does not see what the launcher started is refused") {
  if (const std::string reason = test::no_mpirun(); !reason.empty()) return test::skip(reason);
  // As when the mpirun of another MPI starts two processes.
  const test::Outcome outcome = test::run_command(
      {"env", "-u", "OMPI_COMM_WORLD_SIZE", "PMI_RANK=0", "PMI_SIZE=2", "OMPI_MCA_btl=self",
       "ASAN_OPTIONS=detect_leaks=0", test::program().string(), "train", "m.onnx", "-o", "o.onnx", "--data", "d.npz"},
      60);
  INFO(outcome.err);
  CHECK(outcome.status == 4);
  CHECK(outcome.err.find("the launcher started 2 processes") != std::string::npos);
}
