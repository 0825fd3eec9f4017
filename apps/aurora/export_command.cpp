// aurora export: the container of a run as one file, by the Python package.
#include <memory>

#include "apps/aurora/commands.hpp"
#include "apps/aurora/python.hpp"
#include "aurora/core/errors.hpp"

namespace aurora {

Command add_export(CLI::App& program) {
  struct Arguments {
    std::string run;
    bool csv = false;
    bool npz = false;
    std::string out;
  };
  CLI::App* app =
      program.add_subcommand("export", "The container of a run as one file, CSV or NumPy's NPZ");
  const auto arguments = std::make_shared<Arguments>();
  app->add_option("RUN", arguments->run, "The run directory")->required()->type_name(" ");
  app->add_flag("--csv", arguments->csv, "id, fitness, ground truth, descriptors, genes");
  app->add_flag(
      "--npz", arguments->npz,
      "Every column, sensory data too; names, bounds and units of the ground truth, the task");
  app->add_option("--out", arguments->out,
                  "The file (default: the run's name in the current directory)")
      ->type_name("FILE");
  app->footer(
      "Examples:\n"
      "  aurora export runs/demo --csv\n"
      "  aurora export runs/demo --npz --out demo.npz");
  return {app, [arguments]() -> int {
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
