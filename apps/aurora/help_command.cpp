// aurora help: the help of the program, of a command, or about study files.
#include <memory>

#include "apps/aurora/commands.hpp"
#include "aurora/core/names.hpp"

namespace aurora {
namespace {

constexpr const char* kStudy =
    R"(A study is a TOML file: tasks x variants x sweeps x replications, as runs.

  replications = 20
  [settings]
  run.log_every = 50
  [variant.mine]
  base = "aurora-csc-uniform-5"
  settings = { selection.kind = "novelty" }
  [[study]]
  name = "periods"
  tasks = ["maze", "hexapod"]
  variants = ["aurora-csc-uniform-10", "mine"]
  settings = { run.iterations = 1000 }
  sweep = { container.update_period = [1, 10, 50] }

Of the whole file:
  replications    runs that differ in the seed alone; 1 unless said
  first_seed      the seed of the first of them; 1 unless said
  [settings]      of every run, as in config.toml (aurora list options); what a
                  run has no part for is passed over
  [variant.NAME]  a variant of your own: base, the variant that it starts from;
                  settings; summary, a line about it

Of each [[study]], one or more:
  name            its folder; study1, study2, ... unless said
  label           what reports call its runs; for one variant without a sweep
  tasks           a list of tasks (aurora list tasks)
  variants        a list of variants (aurora list variants)
  replications    of this study alone
  settings        of this study alone; they go before those of the file
  sweep           lists of values by key; every combination is run
  retrain         true: afterwards, an encoder from scratch for each run

A run that two studies share is done once.

Examples:
  aurora experiment experiments/paper-small.toml --dry-run
  aurora experiment study.toml --jobs 4 --out runs/study
  aurora report runs/study
)";

int act(const std::string& what, const Parser& program, const std::vector<Command>& commands) {
  if (what.empty()) {
    print(program.help());
    return 0;
  }
  if (what == "study") {
    print(kStudy);
    return 0;
  }
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (command.grammar.name() == what) {
      print(program.help(command.grammar));
      return 0;
    }
    names.push_back(command.grammar.name());
  }
  names.emplace_back("study");
  throw_unknown("help about", what, names);
}

}  // namespace

Command add_help(Parser& program, const std::vector<Command>& commands) {
  const auto what = std::make_shared<std::string>();
  Grammar grammar = program.command("help", "Explain a command, or what a study file holds");
  grammar.add("COMMAND", *what, "A command, or 'study'; the program itself unless said");
  grammar.footer(
      "Examples:\n"
      "  aurora help\n"
      "  aurora help show\n"
      "  aurora help study");
  return {grammar, [what, &program, &commands] { return act(*what, program, commands); }};
}

}  // namespace aurora
