// The command line as a function, so that a program with parts of its own offers all of it:
//
//   int main(int argc, char** argv) {
//     aurora::Parts parts = aurora::builtin_parts();
//     parts.tasks.add(my_robot());
//     return aurora::command_line(argc, argv, parts);
//   }
#pragma once

#include "aurora/runs/parts.hpp"

namespace aurora {

/// Does what the words say and returns the exit status: 0 done, 1 failed, 2 bad usage, 130 or 143
/// interrupted by SIGINT or SIGTERM. Results go to stdout; progress, and errors as one line
/// "aurora: error: ...", to stderr.
int command_line(int argc, char** argv, const Parts& parts);

}  // namespace aurora
