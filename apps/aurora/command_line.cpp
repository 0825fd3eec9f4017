#include "apps/aurora/command_line.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <thread>

#include "apps/aurora/commands.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/instruction_set.hpp"
#include "aurora/core/names.hpp"
#include "aurora/evaluation/evaluator.hpp"
#include "aurora/evaluation/mpi_launch.hpp"
#include "aurora/experiments/scheduler.hpp"
#include "aurora/runs/program_task.hpp"
#include "aurora/runs/run.hpp"
#include "aurora/storage/files.hpp"

namespace aurora {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kBadUsage = 2;

int complain(std::string message, int status) {
  while (message.ends_with('\n')) message.pop_back();
  std::ranges::replace(message, '\n', ' ');
  if (const std::size_t rank = mpi_launch().rank; rank > 0) {
    // Rank 0 mostly says the same, and then mpirun ends the others: once is enough.
    if (status != kLostStatus) std::this_thread::sleep_for(std::chrono::seconds(1));
    message = fmt::format("rank {}: {}", rank, message);
  }
  say(fmt::format("aurora: error: {}\n", message));
  return status;
}

/// The first word is the command; help with one that does not exist.
Grammar check_command(const std::string& word, const std::vector<Command>& commands,
                      const Parts& parts) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const Command& command : commands) {
    if (command.grammar.name() == word) return command.grammar;
    names.push_back(command.grammar.name());
  }
  const std::vector<std::string> known_tasks = parts.tasks.names();
  if (std::ranges::find(known_tasks, word) != known_tasks.end()) {
    throw UsageError(
        fmt::format("there is no command '{0}'; did you mean 'aurora run {0}'?", word));
  }
  throw_unknown("command", word, names);
}

/// Help with options that do not exist; everything else about them is left to the parser.
void check_options(const Grammar& grammar, const std::vector<std::string>& words) {
  const std::vector<std::string> known = grammar.options();
  for (const std::string& word : words) {
    if (word == "--") return;
    if (!word.starts_with("--")) continue;
    const std::string name = word.substr(0, word.find('='));
    if (std::ranges::find(known, name) == known.end()) throw_unknown("option", name, known);
  }
}

/// What the caller has closed leads nowhere: otherwise the first file that is opened would become
/// standard output, and get what is printed.
void open_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    const int nowhere = open("/dev/null", O_RDWR);  // the lowest that is free: this one
    if (nowhere > 2) close(nowhere);
  }
}

/// A robot that is a program of its own, with every command that knows tasks.
void add_robot_option(std::vector<Command>& commands, std::string& robot) {
  for (Command& command : commands) {
    command.grammar.add("--task-command", robot,
                        "A robot that is a program of its own, in any language (docs/own-robot.md)",
                        {.value = "COMMAND"});
  }
}

int parse_and_act(int argc, char** argv, const Parts& builtin) {
  Parts parts = builtin;
  std::string robot;
  Parser program(
      "Discovers diverse and high-performing behaviours of a robot, unsupervised.",
      "aurora " + version(),
      "Examples:\n"
      "  aurora run maze\n"
      "  aurora list variants\n"
      "  aurora help run\n"
      "  aurora help study\n\n"
      "Environment:\n"
      "  AURORA_INSTRUCTIONS=avx2   use this instruction set (avx3, avx2, sse4, baseline)\n"
      "                             instead of the processor's best one (avx3 and avx2 give\n"
      "                             the same bits)");
  std::vector<Command> commands = {add_run(program, parts),
                                   add_evaluate(program, parts),
                                   add_list(program, parts),
                                   add_show(program, parts),
                                   add_explore(program, parts, robot),
                                   add_nearest(program, parts),
                                   add_encode(program, parts),
                                   add_verify(program, parts),
                                   add_retrain(program, parts),
                                   add_experiment(program, parts, robot)};
  add_robot_option(commands, robot);
  commands.insert(commands.end(), {add_report(program), add_digest(program), add_export(program)});
  commands.push_back(add_help(program, commands));

  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) {
    say(program.help());
    return kBadUsage;
  }
  Grammar named = program.program();
  if (!words[0].starts_with('-')) named = check_command(words[0], commands, parts);
  check_options(named, words);

  try {
    if (const std::optional<std::string> asked = program.parse(argc, argv)) {
      print(*asked);
      return kDone;
    }
  } catch (const UsageError& error) {
    const bool command = named.name() != program.program().name();
    throw UsageError(fmt::format("{} (aurora {}--help shows what is right)", error.what(),
                                 command ? named.name() + " " : ""));
  }
  if (!robot.empty()) {
    TaskEntry task = program_task(robot);
    parts.usual_task = task.name;
    parts.tasks.add(std::move(task));
  }
  for (const Command& command : commands) {
    if (command.grammar.chosen()) return command.action();
  }
  return kDone;
}

}  // namespace

void add_words(Grammar& grammar, Words& words, const std::string& form, const std::string& help) {
  grammar.add("TASK", words.task, "The task (aurora list tasks)");
  grammar.add(form, words.assignments, help);
}

Words sorted(const Words& words) {
  std::vector<std::string> all = words.assignments;
  if (!words.task.empty()) all.insert(all.begin(), words.task);
  Words result;
  for (const std::string& word : all) {
    if (word.find('=') != std::string::npos) {
      result.assignments.push_back(word);
    } else if (result.task.empty()) {
      result.task = word;
    } else {
      throw UsageError(fmt::format(
          "'{}' is neither the TASK, which is '{}', nor of the form KEY=VALUE", word, result.task));
    }
  }
  return result;
}

void add_variants_option(Grammar& grammar, std::vector<std::string>& files) {
  grammar.add("--variants", files,
              "TOML file with [variant.NAME] tables: variants of your own (docs/extend.md)",
              {.value = "FILE", .again = true});  // several times, but one file at a time
}

Parts with_variants(const Parts& parts, const std::vector<std::string>& files) {
  Parts all = parts;
  for (const std::string& file : files) add_variants_of_file(all.variants, file);
  return all;
}

void say(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void print(const std::string& text) {
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  if (written != text.size() || std::fflush(stdout) != 0) {
    throw FileError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  }
}

int command_line(int argc, char** argv, const Parts& parts) {
  open_standard_descriptors();
  try {
    const char* instructions = std::getenv("AURORA_INSTRUCTIONS");
    if (instructions != nullptr && *instructions != 0) use_instruction_set(instructions);
    return parse_and_act(argc, argv, parts);
  } catch (const UsageError& error) {
    return complain(error.what(), kBadUsage);
  } catch (const Lost& error) {
    return complain(error.what(), kLostStatus);
  } catch (const InUse& error) {
    return complain(error.what(), kInUseStatus);
  } catch (const std::bad_alloc&) {
    return complain("there is not enough memory for this", kFailed);
  } catch (const std::filesystem::filesystem_error& error) {  // its own text is for programmers
    return complain(
        fmt::format("cannot reach '{}': {}", error.path1().string(), error.code().message()),
        kFailed);
  } catch (const std::exception& error) {
    return complain(error.what(), kFailed);
  } catch (...) {  // a task may throw anything
    return complain("something was thrown that is no std::exception", kFailed);
  }
}

}  // namespace aurora
