// aurora report: figures, statistics and the paper's claims, by the Python package.
#include <memory>

#include "apps/aurora/commands.hpp"
#include "apps/aurora/python.hpp"

namespace aurora {

Command add_report(Parser& program) {
  struct Arguments {
    std::vector<std::string> directories;
    std::string out;
    std::vector<std::string> against;
  };
  Grammar grammar = program.command(
      "report", "Figures, statistics and the paper's claims of runs, in one HTML page");
  const auto arguments = std::make_shared<Arguments>();
  grammar.add("DIR", arguments->directories, "Runs, or directories with runs below",
              {.required = true});
  grammar.add("--out", arguments->out, "Where to write it (default: report)", {.value = "DIR"});
  grammar.add("--against", arguments->against,
              "Hold others against this variant, on the way and at the end; may be given again",
              {.value = "VARIANT", .again = true});
  grammar.footer(
      "Examples:\n"
      "  aurora report runs\n"
      "  aurora report runs/study --against aurora-csc-uniform-10 --against hc-csc-uniform\n"
      "  aurora report runs/demo runs/hc-7 --out report-of-two");
  return {grammar, [arguments]() -> int {
            std::vector<std::string> words = {"report"};
            if (!arguments->out.empty()) words.insert(words.end(), {"--out", arguments->out});
            for (const std::string& name : arguments->against) {
              words.insert(words.end(), {"--against", name});
            }
            words.emplace_back("--");
            words.insert(words.end(), arguments->directories.begin(), arguments->directories.end());
            become_python(words);
          }};
}

}  // namespace aurora
