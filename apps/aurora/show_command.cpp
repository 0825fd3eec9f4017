// aurora show: pictures of behaviours, evaluated again.
#include "aurora/runs/show.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <optional>

#include "apps/aurora/commands.hpp"
#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

struct Arguments {
  std::string run;
  Wanted wanted;
  std::optional<std::size_t> at;
  std::string out;
  std::string film = std::string(name_of(FilmKind::apng));
  bool yes = false;
};

constexpr std::size_t kMany = 20;  // individuals; more are shown only to who really wants them

/// Asks at a terminal; UsageError elsewhere, or if the answer is no.
void confirm(std::size_t count) {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) {
    throw UsageError(
        fmt::format("that is {} individuals, each with its pictures and its film; add --yes for "
                    "more than {}",
                    count, kMany));
  }
  say(fmt::format("aurora: draw {} individuals, each with its pictures and its film? [y/N] ",
                  count));
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "y" && answer != "Y" && answer != "yes") throw UsageError("nothing was drawn");
}

/// What became of a goal: how far it is from where it was to be, by the axes.
std::string reached(const std::vector<double>& goal, const Shown& shown,
                    const SavedContainer& container) {
  std::vector<std::string> wanted;
  std::vector<std::string> off;
  for (std::size_t i = 0; i < goal.size(); ++i) {
    const Axis& axis = container.ground_truth[i];
    wanted.push_back(fmt::format("{} {:.6g}", axis.name, goal[i]));
    off.push_back(fmt::format("{} {:+.4g}{}{}", axis.name, shown.ground_truth[i] - goal[i],
                              axis.unit.empty() ? "" : " ", axis.unit));
  }
  const std::string outside = outside_bounds(container.ground_truth, goal);
  return fmt::format("  goal {}{}: distance {:.4g} of the axes' lengths; off by {}\n",
                     fmt::join(wanted, ", "),
                     outside.empty() ? "" : ", outside the bounds, " + outside,
                     nearest_to_goal(container, goal, 1).front().distance, fmt::join(off, ", "));
}

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
  const auto film = parse_name<FilmKind>("kind of film", arguments.film);
  const Viewer viewer(parts, run, arguments.at);
  for (const std::string& note : viewer.notes()) say(fmt::format("aurora: note: {}\n", note));
  const std::filesystem::path out =
      arguments.out.empty() ? run / "show" : std::filesystem::path(arguments.out);
  bool same = true;
  const std::vector<std::size_t> rows = viewer.select(arguments.wanted);
  if (rows.size() > kMany && !arguments.yes) confirm(rows.size());
  const auto& goal = arguments.wanted.ground_truth;
  for (const std::size_t row : rows) {
    const Shown shown = viewer.show(row, out, film);
    same = same && shown.difference.empty();
    print(describe(shown, viewer.container().ground_truth) +
          (goal ? reached(*goal, shown, viewer.container()) : ""));
  }
  return same ? 0 : 1;
}

}  // namespace

Command add_show(Parser& program, const Parts& parts) {
  const auto arguments = std::make_shared<Arguments>();
  Grammar grammar = program.command(
      "show",
      "Draw behaviours of a run: a picture, a film, what was sensed and its reconstruction");
  Wanted& wanted = arguments->wanted;
  grammar.add("RUN", arguments->run, "The run directory; the run may still be going on",
              {.required = true});
  grammar.add("--best", wanted.best, "The one with the highest fitness; so unless said");
  grammar.add("--id", wanted.id, "The one with this id", {.value = "I"});
  grammar.add("--random", wanted.random, "So many at random", {.value = "K"});
  grammar.add("--ground-truth", wanted.ground_truth,
              "The one nearest to these values of the first axes (aurora list tasks)",
              {.value = "X,Y", .commas = true});
  grammar.add("--at", arguments->at,
              "As it was after this iteration, if the run kept that: a snapshot, say",
              {.value = "ITERATION"});
  grammar.add("--out", arguments->out,
              "Where the pictures go; RUN/show unless said. Only earlier pictures of the same "
              "individual are replaced",
              {.value = "DIR"});
  grammar.add("--film", arguments->film,
              "Films as apng (animated PNG, for browsers), gif, mp4 (needs the program ffmpeg) "
              "or none; apng unless said",
              {.value = "KIND"});
  grammar.add("--yes", arguments->yes,
              fmt::format("Do not ask, and do not refuse, for more than {} individuals", kMany));
  grammar.footer(
      "Every individual is evaluated again and compared with what is stored, to the bit; exit\n"
      "status 1 if one differs.\n\n"
      "Examples:\n"
      "  aurora show runs/demo\n"
      "  aurora show runs/demo --ground-truth 300,80 --out pictures\n"
      "  aurora show runs/demo --random 5 --film gif");
  return {grammar, [arguments, &parts] { return act(*arguments, parts); }};
}

}  // namespace aurora
