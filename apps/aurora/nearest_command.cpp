// aurora nearest: the individuals of a run that are nearest to a place, a JSON line each.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "apps/aurora/commands.hpp"
#include "apps/aurora/json_text.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/runs/repertoire.hpp"

namespace aurora {
namespace {

struct Arguments {
  std::string run;
  std::vector<double> goal;
  std::vector<double> descriptor;
  std::size_t count = 1;
};

std::string json_line(const SavedContainer& container, const Nearby& near) {
  const Individuals& all = container.individuals;
  const std::size_t row = near.row;
  return fmt::format(
      "{{\"id\": {}, \"distance\": {}, \"fitness\": {}, \"ground_truth\": {}, \"descriptor\": {}, "
      "\"genotype\": {}}}\n",
      all.ids[row], json_number(near.distance), json_number(all.fitness[row]),
      json_truth(container.ground_truth, all.ground_truth.row(row)),
      json_list(all.descriptors.row(row)), json_list(all.genotypes.row(row)));
}

int act(const Arguments& arguments, const Parts& parts) {
  if (arguments.goal.empty() == arguments.descriptor.empty()) {
    throw UsageError("nearest to what? Say a place in the ground truth, X,Y, or --descriptor A,B");
  }
  const Repertoire found = open_repertoire(parts, arguments.run);
  const SavedContainer& container = found.container;
  const std::vector<Nearby> nearest =
      arguments.goal.empty()
          ? nearest_to_descriptor(container, arguments.descriptor, arguments.count)
          : nearest_to_goal(container, arguments.goal, arguments.count);
  for (const std::string& note : found.notes) say(fmt::format("aurora: note: {}\n", note));
  const std::string outside = outside_bounds(container.ground_truth, arguments.goal);
  if (!outside.empty()) {
    say(fmt::format("aurora: note: the goal is outside the bounds: {}\n", outside));
  }
  std::string lines;
  for (const Nearby& near : nearest) lines += json_line(container, near);
  print(lines);
  return 0;
}

}  // namespace

Command add_nearest(Parser& program, const Parts& parts) {
  const auto arguments = std::make_shared<Arguments>();
  Grammar grammar = program.command("nearest", "The individuals nearest to a place, as JSON lines");
  grammar.add("RUN", arguments->run, "The run directory; the run may still be going on",
              {.required = true});
  grammar.add("PLACE", arguments->goal,
              "X,Y: values of the first axes of the ground truth (aurora list tasks)",
              {.commas = true});
  grammar.add("--descriptor", arguments->descriptor,
              "Instead, a place in the descriptor space: a value for each dimension",
              {.value = "A,B", .commas = true});
  grammar.add("--count", arguments->count, "How many; 1 unless said",
              {.value = "K", .least = 1, .most = 1'000'000'000});
  grammar.footer(
      "A line has id, distance, fitness, ground_truth, descriptor and genotype. Distances in the\n"
      "ground truth are in units of the axes' lengths, from one bound to the other: 0.01 along\n"
      "an axis from 0 to 600 is 6.\n\n"
      "Examples:\n"
      "  aurora nearest runs/demo 300,80\n"
      "  aurora nearest runs/demo 300,80 --count 5 | jq -c '[.id, .distance]'\n"
      "  aurora nearest runs/flat --descriptor 0.3,-1.2\n"
      "  aurora nearest runs/demo 300,80 | jq -r '.genotype | join(\" \")' |\n"
      "    aurora evaluate maze --genes -");
  return {grammar, [arguments, &parts] { return act(*arguments, parts); }};
}

}  // namespace aurora
