// aurora export: the container of a run as one file, by the Python package.
#include <memory>

#include "apps/aurora/commands.hpp"
#include "apps/aurora/python.hpp"
#include "aurora/core/errors.hpp"

namespace aurora {

Command add_export(Parser& program) {
  struct Arguments {
    std::string run;
    bool csv = false;
    bool npz = false;
    std::string out;
  };
  Grammar grammar =
      program.command("export", "The container of a run as one file, CSV or NumPy's NPZ");
  const auto arguments = std::make_shared<Arguments>();
  grammar.add("RUN", arguments->run, "The run directory", {.required = true});
  grammar.add("--csv", arguments->csv, "id, fitness, ground truth, descriptors, genes");
  grammar.add(
      "--npz", arguments->npz,
      "Every column, sensory data too; names, bounds and units of the ground truth, the task");
  grammar.add("--out", arguments->out,
              "The file (default: the run's name in the current directory)", {.value = "FILE"});
  grammar.footer(
      "Examples:\n"
      "  aurora export runs/demo --csv\n"
      "  aurora export runs/demo --npz --out demo.npz");
  return {grammar, [arguments]() -> int {
            if (arguments->csv == arguments->npz) {
              throw UsageError("say --csv or --npz, the kind of file you want");
            }
            std::vector<std::string> words = {"export", arguments->csv ? "--csv" : "--npz"};
            if (!arguments->out.empty()) words.insert(words.end(), {"--out", arguments->out});
            words.insert(words.end(), {"--", arguments->run});
            become_python(words);
          }};
}

}  // namespace aurora
