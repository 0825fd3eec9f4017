// The grammar of the command line: commands, and the words and options that each of them takes. The
// library behind it (CLI11) is seen by parser.cpp alone: it is slow to compile, and every command
// would compile it again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace aurora {

/// What may be given for an option.
struct Form {
  std::string value = " ";  // what the help calls it
  bool required = false;
  bool commas = false;  // a list has commas between its values, and is given once
  bool again = false;   // a list is given value by value, the option each time
  std::size_t least = 0;
  std::size_t most = std::numeric_limits<std::size_t>::max();  // of a whole number
};

/// One command's. A name with dashes is an option, "--out", or a flag if it belongs to a bool; one
/// without is a word, by its place. Variables keep their values unless something is given, and must
/// outlive the parser.
class Grammar {
 public:
  explicit Grammar(CLI::App* app) : app_(app) {}

  void add(const std::string& name, bool& flag, const std::string& help);
  void add(const std::string& name, std::string& text, const std::string& help, Form form = {});
  void add(const std::string& name, std::optional<std::string>& text, const std::string& help,
           Form form = {});
  void add(const std::string& name, std::vector<std::string>& texts, const std::string& help,
           Form form = {});
  void add(const std::string& name, std::vector<double>& numbers, const std::string& help,
           Form form = {});
  void add(const std::string& name, std::optional<std::vector<double>>& numbers,
           const std::string& help, Form form = {});
  void add(const std::string& name, std::size_t& number, const std::string& help, Form form = {});
  void add(const std::string& name, std::uint32_t& number, const std::string& help, Form form = {});
  void add(const std::string& name, std::optional<std::size_t>& number, const std::string& help,
           Form form = {});

  /// Leaves an option out of the help.
  void hide(const std::string& name);
  /// What the help says at its end.
  void footer(const std::string& text);

  std::string name() const;
  std::vector<std::string> options() const;  // with their dashes
  bool chosen() const;                       // by the words that were parsed

 private:
  CLI::App* app_;
};

class Parser {
 public:
  Parser(const std::string& summary, const std::string& version, const std::string& footer);
  ~Parser();
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  Grammar command(const std::string& name, const std::string& summary);
  Grammar program() const;  // what stands before a command
  std::string help() const;
  std::string help(const Grammar& command) const;

  /// Sets the variables, or gives what --help or --version print. UsageError if the words are not
  /// of the grammar.
  std::optional<std::string> parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace aurora
