#include "apps/aurora/command_line.hpp"
#include "aurora/tasks/registry.hpp"

int main(int argc, char** argv) {
  return aurora::command_line(argc, argv, aurora::builtin_tasks());
}
