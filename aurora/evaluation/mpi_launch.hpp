// What the environment says about the mpirun that started this process (OpenMPI).
#pragma once

#include <cstddef>

namespace aurora {

struct MpiLaunch {
  std::size_t rank = 0;
  std::size_t size = 1;        // 1: it was not mpirun, or it started nobody else
  std::size_t local_size = 1;  // on this machine
  bool bound = false;          // mpirun has chosen the processors of each rank
  bool survives = false;       // the others go on when one is gone (OpenMPI 5, --with-ft ulfm)
};

MpiLaunch mpi_launch();

/// Threads that leave every rank of this machine its share of the processors.
std::size_t threads_of_rank(const MpiLaunch& launch, std::size_t allowed, std::size_t online);
/// With the processors that this process may use, and those of the machine.
std::size_t threads_of_rank(const MpiLaunch& launch);

/// Processes that this one starts from now on are no ranks.
void forget_mpi_launch();

}  // namespace aurora
