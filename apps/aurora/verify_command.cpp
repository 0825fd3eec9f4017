// aurora verify: a line for everything that was looked at, and a verdict.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "apps/aurora/commands.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/runs/run_directory.hpp"
#include "aurora/runs/verify.hpp"
#include "aurora/storage/paths.hpp"

namespace aurora {

namespace {

namespace fs = std::filesystem;

bool is_run(const fs::path& folder) {
  return path_exists(folder / "config.toml") || path_exists(folder / "run.json");
}

void add_runs_below(const fs::path& folder, std::vector<fs::path>& runs) {
  for (const fs::path& path : entries_of(folder)) {
    std::error_code ignored;
    const bool link = fs::is_symlink(fs::symlink_status(path, ignored));
    if (!directory_exists(path)) continue;
    if (is_run(path)) {
      runs.push_back(path);
    } else if (!link) {  // a loop of them would have no end
      add_runs_below(path, runs);
    }
  }
}

/// The run itself, or all runs below a folder.
std::vector<fs::path> runs_in(const fs::path& folder) {
  if (is_run(folder) || !directory_exists(folder)) return {folder};
  std::vector<fs::path> runs;
  add_runs_below(folder, runs);
  std::ranges::sort(runs);
  if (runs.empty()) {
    throw UsageError(fmt::format(
        "'{}' is no run: there is neither config.toml nor run.json in it, nor in a folder below",
        folder.string()));
  }
  return runs;
}

/// Whether the run is whole. A line for everything, or, of one among many, for what is wrong.
bool verify(const Parts& parts, const fs::path& run, std::size_t replay, bool every_line) {
  const std::vector<Check> checks = verify_run(parts, run, replay);
  for (const Check& check : checks) {
    if (!every_line && check.good) continue;
    const bool looked_at = check.subject != "not looked at";
    print(fmt::format("{:<4} {:<18} {}\n", check.good ? (looked_at ? "ok" : "--") : "BAD",
                      check.subject, check.finding));
  }
  const auto bad = std::ranges::count(checks, false, &Check::good);
  print(bad == 0 ? fmt::format("{} is whole.\n", run.string())
                 : fmt::format("{} is damaged: {} of {} checks failed.\n", run.string(), bad,
                               checks.size()));
  return bad == 0;
}

}  // namespace

Command add_verify(Parser& program, const Parts& parts) {
  struct Arguments {
    std::string run;
    std::size_t replay = 0;
  };
  Grammar grammar = program.command(
      "verify", "Checks a run, or all runs of a folder: checksums, shapes, metrics, spacing");
  const auto arguments = std::make_shared<Arguments>();
  grammar.add("DIR", arguments->run, "The run directory, or a folder of them", {.required = true});
  grammar.add("--replay", arguments->replay,
              "Also evaluate this many random individuals again and compare to the bit",
              {.value = "K"});
  grammar.footer(
      "The status is 0 if all is whole, 1 if something is damaged. What could not be looked at is\n"
      "said, and is no damage.\n\n"
      "Examples:\n"
      "  aurora verify runs/demo\n"
      "  aurora verify runs/demo --replay 100\n"
      "  aurora verify runs");
  return {grammar, [arguments, &parts] {
            const std::vector<fs::path> runs = runs_in(arguments->run);
            std::size_t damaged = 0;
            for (const fs::path& run : runs) {
              if (runs.size() > 1 && is_digest(run)) {
                print(fmt::format("{} is not looked at: it is a digest of a run.\n", run.string()));
                continue;
              }
              damaged += verify(parts, run, arguments->replay, runs.size() == 1) ? 0 : 1;
            }
            if (runs.size() > 1) {
              print(fmt::format("{} runs, {} of them damaged.\n", runs.size(), damaged));
            }
            return damaged == 0 ? 0 : 1;
          }};
}

}  // namespace aurora
