// aurora digest: what a report needs of runs, in little space, by the Python package.
#include <memory>

#include "apps/aurora/commands.hpp"
#include "apps/aurora/python.hpp"

namespace aurora {

Command add_digest(Parser& program) {
  struct Arguments {
    std::vector<std::string> directories;
    std::string out;
  };
  Grammar grammar =
      program.command("digest", "What a report needs of runs, in some twenty kilobytes a run");
  const auto arguments = std::make_shared<Arguments>();
  grammar.add("DIR", arguments->directories, "Runs, or directories with runs below",
              {.required = true});
  grammar.add("--out", arguments->out, "Where to write it; digests that are there are replaced",
              {.value = "DIR", .required = true});
  grammar.footer(
      "Configuration, seed, container hash, 200 rows of metrics.csv, encoder.csv and, for one\n"
      "run of each configuration, a sample of its container: enough for aurora report.\n\n"
      "Examples:\n"
      "  aurora digest runs/study --out results/study\n"
      "  aurora report results/study");
  return {grammar, [arguments]() -> int {
            std::vector<std::string> words = {"digest", "--out", arguments->out, "--"};
            words.insert(words.end(), arguments->directories.begin(), arguments->directories.end());
            become_python(words);
          }};
}

}  // namespace aurora
