#include "aurora/experiments/slurm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

namespace aurora {
namespace {

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

}  // namespace

std::string slurm_script(const std::vector<std::vector<Commandline>>& runs, std::size_t threads) {
  std::string text = fmt::format(
      "#!/bin/bash\n"
      "# {} runs; submit with sbatch, as often as the queue cuts it off: finished runs are left\n"
      "# alone, the others go on from their last checkpoint.\n"
      "#SBATCH --job-name=aurora\n"
      "#SBATCH --array=0-{}\n"
      "#SBATCH --cpus-per-task={}\n"
      "#SBATCH --mem=4G\n"
      "#SBATCH --time=24:00:00\n"
      "#SBATCH --signal=TERM@120\n"
      "\n"
      "commands=(\n",
      runs.size(), runs.empty() ? 0 : runs.size() - 1, threads);
  for (const std::vector<Commandline>& commands : runs) {
    std::string all;
    for (std::size_t i = 0; i < commands.size(); ++i) {
      // The last one takes the place of the shell, and gets its signals.
      if (i > 0) all += " && ";
      if (i + 1 == commands.size()) all += "exec ";
      all += line(commands[i]);
    }
    text += "  " + shell_word(all) + "\n";
  }
  text += ")\n\neval \"${commands[$SLURM_ARRAY_TASK_ID]}\"\n";
  return text;
}

}  // namespace aurora
