// The sub-commands: each adds itself to the program and says what to do when it is chosen.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "aurora/runs/parts.hpp"

namespace aurora {

struct Command {
  CLI::App* app = nullptr;
  std::function<int()> action;  // returns the exit status
};

/// The parts must outlive the command.
Command add_run(CLI::App& program, const Parts& parts);
Command add_encode(CLI::App& program, const Parts& parts);
Command add_evaluate(CLI::App& program, const Parts& parts);
/// `robot` is what --task-command says, for the runs that it starts.
Command add_experiment(CLI::App& program, const Parts& parts, const std::string& robot);
Command add_list(CLI::App& program, const Parts& parts);
Command add_nearest(CLI::App& program, const Parts& parts);
Command add_retrain(CLI::App& program, const Parts& parts);
Command add_show(CLI::App& program, const Parts& parts);
Command add_verify(CLI::App& program, const Parts& parts);
Command add_report(CLI::App& program);
Command add_export(CLI::App& program);
/// Shows the help of the commands that `program` has when it is chosen.
Command add_help(CLI::App& program);

/// The words of a command that are no options: a task, and KEY=VALUE assignments.
struct Words {
  std::string task;  // empty if there is none
  std::vector<std::string> assignments;
};

/// Adds both to a command, with the key's form and what to say about them.
void add_words(CLI::App& app, Words& words, const std::string& form, const std::string& help);

/// The same words with the task where it belongs, wherever it stood. UsageError if there are two.
Words sorted(const Words& words);

/// Adds --variants FILE to a command.
void add_variants_option(CLI::App& app, std::vector<std::string>& files);

/// The parts, with the variants of these files.
Parts with_variants(const Parts& parts, const std::vector<std::string>& files);

/// Writes to stderr. A log that cannot be written ends nothing.
void say(const std::string& text);

/// Writes to stdout. FileError if that fails (a full disk behind it, say).
void print(const std::string& text);

}  // namespace aurora
