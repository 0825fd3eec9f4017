// A program with parts of its own, of every kind: docs/extend.md goes through it. Try:
//
//   build/bin/own_parts list selectors
//   build/bin/own_parts run arm --variant fair-3 --iterations 200 --out runs/arm
//   build/bin/own_parts verify runs/arm --replay 20
#include "apps/aurora/command_line.hpp"
#include "examples/own_parts/parts.hpp"

int main(int argc, char** argv) {
  aurora::Parts parts = aurora::builtin_parts();
  parts.tasks.add(arm_task());
  parts.encoders.add(random_projection());
  parts.containers.add(nearest_wins());
  parts.selectors.add(few_children());
  parts.metrics.add(spread());
  aurora::add_variant(parts.variants, fair());
  return aurora::command_line(argc, argv, parts);
}
