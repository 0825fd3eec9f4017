#include "aurora/experiments/slurm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>

namespace aurora {
namespace {

constexpr std::size_t kMostElements = 1000;  // of an array
constexpr double kMargin = 2;                // estimates are good within this factor
constexpr double kLeastSeconds = 1800;       // and steps of half of it; a day at most: it goes on
constexpr double kMostSeconds = 86400;
constexpr double kMegabyte = 1024 * 1024;
constexpr double kMemoryStep = 512;  // megabytes

/// A word as a shell reads it.
std::string shell_word(const std::string& word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::strchr("-_./=,:+", c) != nullptr;
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string line(const Commandline& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : " ") + shell_word(word);
  return all;
}

/// What an array calls itself in the names of files.
std::string plain_name(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return std::strchr(" \t\"'\\/%", c) != nullptr; }, '_');
  return name;
}

/// A pattern in a folder, in a line for Slurm; a "%" of the folder begins none.
std::string quoted_pattern(const std::filesystem::path& folder, const char* pattern) {
  std::string out = "\"";
  for (const char c : folder.string()) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '%' ? std::string("%%") : std::string(1, c);
  }
  return out + "/" + pattern + "\"";
}

/// The time of the element that has most to do.
std::string time_limit(const std::vector<SlurmRun>& runs, std::size_t elements) {
  double most = 0;
  for (std::size_t first = 0; first < elements; ++first) {
    double seconds = 0;
    for (std::size_t i = first; i < runs.size(); i += elements) seconds += runs[i].seconds;
    most = std::max(most, seconds);
  }
  const double step = kLeastSeconds / 2;
  const double wanted = std::ceil(kMargin * most / step + 1) * step;
  const auto minutes = std::lround(std::clamp(wanted, kLeastSeconds, kMostSeconds) / 60);
  return fmt::format("{}:{:02}:00", minutes / 60, minutes % 60);
}

long megabytes(const std::vector<SlurmRun>& runs) {
  double most = 0;
  for (const SlurmRun& run : runs) most = std::max(most, run.memory);
  return std::lround(std::ceil(kMargin * most / kMegabyte / kMemoryStep + 1e-9) * kMemoryStep);
}

constexpr const char* kWork = R"(
# A command that is told to save itself when the time is nearly over. (SIGHUP saves however often
# it comes. Of a SIGTERM Slurm itself tells every process of the job.)
child=
over=
again=
trap 'over=yes again=yes; [ -z "$child" ] || kill -HUP "$child"' USR1
trap 'over=yes' TERM
work() {
  [ -z "$over" ] || return 1
  "$@" &
  child=$!
  [ -z "$over" ] || kill -HUP "$child"
  wait "$child"
  local status=$?
  # A signal ends the waiting, not the command.
  while kill -0 "$child" 2>/dev/null; do
    wait "$child"
    status=$?
  done
  child=
  return "$status"
}

status=0
for ((i = SLURM_ARRAY_TASK_ID; i < ${#runs[@]}; i += elements)); do
  eval "${runs[i]}" || status=$?
  [ -z "$over" ] || break
done
[ -z "$again" ] || scontrol requeue "$SLURM_JOB_ID"
exit "$status"
)";

}  // namespace

std::string slurm_script(const SlurmJob& job, const std::vector<SlurmRun>& runs) {
  const std::size_t elements = std::clamp<std::size_t>(runs.size(), 1, kMostElements);
  std::string text = fmt::format(
      "#!/bin/bash\n"
      "# {} runs; submit with sbatch, as often as you like: finished runs are left alone, the\n"
      "# others go on from their last checkpoint.\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --array=0-{}\n"
      "#SBATCH --cpus-per-task={}\n"
      "#SBATCH --mem={}M\n"
      "#SBATCH --time={}\n"
      "#SBATCH --signal=B:USR1@300\n"
      "#SBATCH --requeue\n"
      "#SBATCH --open-mode=append\n"
      "#SBATCH --output={}\n"
      "\n"
      "elements={}\n"
      "runs=(\n",
      runs.size(), plain_name(job.name), elements - 1, job.threads,
      std::max(megabytes(runs), std::lround(kMemoryStep)), time_limit(runs, elements),
      quoted_pattern(job.logs, "%x-%A_%a.out"), elements);
  for (const SlurmRun& run : runs) {
    std::string all;
    for (const Commandline& command : run.commands) {
      all += (all.empty() ? "work " : " && work ") + line(command);
    }
    text += "  " + shell_word(all) + "\n";
  }
  return text + ")\n" + kWork;
}

}  // namespace aurora
