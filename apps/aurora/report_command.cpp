// aurora report: figures, statistics and the paper's claims, by the Python package.
#include <memory>

#include "apps/aurora/commands.hpp"
#include "apps/aurora/python.hpp"

namespace aurora {

Command add_report(CLI::App& program) {
  struct Arguments {
    std::vector<std::string> directories;
    std::string out;
  };
  CLI::App* app = program.add_subcommand(
      "report", "Figures, statistics and the paper's claims of runs, in one HTML page");
  const auto arguments = std::make_shared<Arguments>();
  app->add_option("DIR", arguments->directories, "Runs, or directories with runs below")
      ->required()
      ->type_name(" ");
  app->add_option("--out", arguments->out, "Where to write it (default: report)")->type_name("DIR");
  app->footer(
      "Examples:\n"
      "  aurora report runs\n"
      "  aurora report runs/demo runs/hc-7 --out report-of-two");
  return {app, [arguments]() -> int {
            std::vector<std::string> words = {"report"};
            if (!arguments->out.empty()) words.insert(words.end(), {"--out", arguments->out});
            words.emplace_back("--");
            words.insert(words.end(), arguments->directories.begin(), arguments->directories.end());
            become_python(words);
          }};
}

}  // namespace aurora
