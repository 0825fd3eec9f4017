// The sub-commands: each adds itself to the program and says what to do when it is chosen.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/aurora/parser.hpp"
#include "aurora/runs/parts.hpp"

namespace aurora {

struct Command {
  Grammar grammar;
  std::function<int()> action;  // returns the exit status
};

/// The parts must outlive the command.
Command add_run(Parser& program, const Parts& parts);
Command add_encode(Parser& program, const Parts& parts);
Command add_evaluate(Parser& program, const Parts& parts);
/// `robot` is what --task-command says, for the programs that they start.
Command add_experiment(Parser& program, const Parts& parts, const std::string& robot);
Command add_explore(Parser& program, const Parts& parts, const std::string& robot);
Command add_list(Parser& program, const Parts& parts);
Command add_nearest(Parser& program, const Parts& parts);
Command add_retrain(Parser& program, const Parts& parts);
Command add_show(Parser& program, const Parts& parts);
Command add_verify(Parser& program, const Parts& parts);
Command add_report(Parser& program);
Command add_digest(Parser& program);
Command add_export(Parser& program);
/// Shows the help of all `commands`, its own among them, which must outlive it.
Command add_help(Parser& program, const std::vector<Command>& commands);

/// The words of a command that are no options: a task, and KEY=VALUE assignments.
struct Words {
  std::string task;  // empty if there is none
  std::vector<std::string> assignments;
};

/// Adds both to a command, with the key's form and what to say about them.
void add_words(Grammar& grammar, Words& words, const std::string& form, const std::string& help);

/// The same words with the task where it belongs, wherever it stood. UsageError if there are two.
Words sorted(const Words& words);

/// Adds --variants FILE to a command.
void add_variants_option(Grammar& grammar, std::vector<std::string>& files);

/// The parts, with the variants of these files.
Parts with_variants(const Parts& parts, const std::vector<std::string>& files);

/// Writes to stderr. A log that cannot be written ends nothing.
void say(const std::string& text);

/// Writes to stdout. FileError if that fails (a full disk behind it, say).
void print(const std::string& text);

}  // namespace aurora
