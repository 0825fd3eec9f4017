// A study as a Slurm array job.
//
// An array may have 1,000 elements on a cluster that does not say otherwise (MaxArraySize), so that
// each does several runs of a larger study, one after the other. Some minutes before its time is
// over Slurm tells the shell of the job (USR1); the run that goes on saves itself, and the job is
// put back into the queue. Cancelled or preempted, all of its processes get a SIGTERM and save as
// well. Every start goes on where the last one ended.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace aurora {

/// A command as its words.
using Commandline = std::vector<std::string>;

/// One run of a study.
struct SlurmRun {
  std::vector<Commandline> commands;  // one after the other, each only if the one before succeeded
  double seconds = 0;                 // that they take, about, on as many threads as it has
  double memory = 0;                  // bytes, about
};

struct SlurmJob {
  std::string name;            // what the queue calls it
  std::size_t threads = 1;     // of each run
  std::filesystem::path logs;  // a folder, which must be there: Slurm does not make it
};

/// Time and memory that are asked for are about twice what the runs say.
std::string slurm_script(const SlurmJob& job, const std::vector<SlurmRun>& runs);

}  // namespace aurora
