#include "apps/aurora/command_line.hpp"
#include "aurora/runs/parts.hpp"

int main(int argc, char** argv) {
  return aurora::command_line(argc, argv, aurora::builtin_parts());
}
