// aurora show: pictures of behaviours, evaluated again.
#include "aurora/runs/show.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "apps/aurora/commands.hpp"

namespace aurora {
namespace {

struct Arguments {
  std::string run;
  Wanted wanted;
  std::string out;
};

std::string describe(const Shown& shown, const std::vector<Axis>& axes) {
  std::vector<std::string> truth;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    truth.push_back(fmt::format("{} {:.4g}", axes[i].name, shown.ground_truth[i]));
  }
  std::string text = fmt::format("individual {}: fitness {:.6g}; {}\n", shown.id, shown.fitness,
                                 fmt::join(truth, ", "));
  text += shown.difference.empty()
              ? "  evaluated again: the same to the bit\n"
              : fmt::format("  evaluated again: NOT the same: {}\n", shown.difference);
  for (const auto& file : shown.files) text += fmt::format("  {}\n", file.string());
  return text;
}

int act(const Arguments& arguments, const Parts& parts) {
  const std::filesystem::path run = arguments.run;
  const Viewer viewer(parts, run);
  for (const std::string& note : viewer.notes()) say(fmt::format("aurora: note: {}\n", note));
  const std::filesystem::path out =
      arguments.out.empty() ? run / "show" : std::filesystem::path(arguments.out);
  bool same = true;
  for (const std::size_t row : viewer.select(arguments.wanted)) {
    const Shown shown = viewer.show(row, out);
    same = same && shown.difference.empty();
    print(describe(shown, viewer.container().ground_truth));
  }
  return same ? 0 : 1;
}

}  // namespace

Command add_show(CLI::App& program, const Parts& parts) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* app = program.add_subcommand(
      "show",
      "Draw behaviours of a run: a picture, a film, what was sensed and its reconstruction");
  Wanted& wanted = arguments->wanted;
  CLI::Validator not_negative = CLI::NonNegativeNumber;  // the parser would wrap -1 around
  not_negative.description("");
  app->add_option("RUN", arguments->run, "The run directory; the run may still be going on")
      ->required()
      ->type_name(" ");
  app->add_flag("--best", wanted.best, "The one with the highest fitness; so unless said");
  app->add_option("--id", wanted.id, "The one with this id")->type_name("I")->check(not_negative);
  app->add_option("--random", wanted.random, "So many at random")
      ->type_name("K")
      ->check(not_negative);
  app->add_option("--ground-truth", wanted.ground_truth,
                  "The one nearest to these values of the first axes (aurora list tasks)")
      ->type_name("X,Y")
      ->delimiter(',')
      ->allow_extra_args(false);
  app->add_option("--out", arguments->out,
                  "Where the pictures go; RUN/show unless said. Only earlier pictures of the same "
                  "individual are replaced")
      ->type_name("DIR");
  app->footer(
      "Every individual is evaluated again and compared with what is stored, to the bit; exit\n"
      "status 1 if one differs.\n"
      "Examples:\n"
      "  aurora show runs/demo\n"
      "  aurora show runs/demo --ground-truth 300,80 --out pictures\n"
      "  aurora show runs/demo --random 5");
  return {app, [arguments, &parts] { return act(*arguments, parts); }};
}

}  // namespace aurora
