#include "apps/aurora/explore/bundle.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora::explore {
namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$';
}

std::string_view bare(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

/// What a module is called among the others: "maths.js" is module_maths.
std::string variable(std::string_view file) {
  std::string name = "module_";
  for (const char c : file.substr(0, file.rfind('.'))) name += is_name_character(c) ? c : '_';
  return name;
}

/// "{ a, b as c }" as pairs of names: (a, a), (b, c).
std::vector<std::pair<std::string, std::string>> names_in(std::string_view braces) {
  std::vector<std::pair<std::string, std::string>> names;
  braces = bare(braces);
  braces = braces.substr(1, braces.size() - 2);
  while (!braces.empty()) {
    const std::size_t end = std::min(braces.find(','), braces.size());
    const std::string_view one = bare(braces.substr(0, end));
    braces.remove_prefix(std::min(end + 1, braces.size()));
    if (one.empty()) continue;
    const std::size_t as = one.find(" as ");
    const std::string_view first = bare(one.substr(0, as));
    const std::string_view second = as == std::string_view::npos ? first : bare(one.substr(as + 4));
    names.emplace_back(first, second);
  }
  return names;
}

/// A module on its way into the bundle.
class Module {
 public:
  explicit Module(const PageFile& file) : name_(file.name), rest_(file.bytes) {
    while (!rest_.empty()) {
      if (rest_.starts_with("import ")) {
        import_statement(statement());
      } else if (rest_.starts_with("export ")) {
        rest_.remove_prefix(std::string_view("export ").size());
        export_statement();
      } else {
        line();
      }
    }
  }

  const std::vector<std::string>& needs() const { return needs_; }

  std::string text() const {
    std::vector<std::string> given;
    for (const auto& [inside, outside] : exports_) {
      given.push_back(inside == outside ? inside : fmt::format("{}: {}", outside, inside));
    }
    return fmt::format("const {} = await (async () => {{\n{}return {{ {} }};\n}})();\n\n",
                       variable(name_), body_, fmt::join(given, ", "));
  }

 private:
  [[noreturn]] void wrong(std::string_view what) const {
    throw DataError(fmt::format("{}: this cannot be put into one script: {}", name_, what));
  }

  void line() {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size() - 1) + 1;
    body_ += rest_.substr(0, end);
    if (body_.back() != '\n') body_ += '\n';
    rest_.remove_prefix(end);
  }

  /// Up to its semicolon.
  std::string_view statement() {
    const std::size_t end = rest_.find(';');
    if (end == std::string_view::npos) wrong(rest_.substr(0, 80));
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }

  void import_statement(std::string_view text) {
    const std::size_t open = text.find_first_of("'\"");
    const std::size_t close = text.find_last_of("'\"");
    if (open == std::string_view::npos || close == open) wrong(text);
    std::string_view file = text.substr(open + 1, close - open - 1);
    if (!file.starts_with("./")) wrong(text);
    file.remove_prefix(2);
    needs_.emplace_back(file);
    std::string_view what = bare(text.substr(0, open));
    what = bare(what.substr(std::string_view("import").size()));
    if (what.empty()) return;
    if (!what.ends_with("from")) wrong(text);
    what = bare(what.substr(0, what.size() - 4));
    if (what.starts_with("* as ")) {
      body_ += fmt::format("const {} = {};\n", bare(what.substr(5)), variable(file));
      return;
    }
    if (!what.starts_with('{') || !what.ends_with('}')) wrong(text);
    std::vector<std::string> taken;
    for (const auto& [outside, inside] : names_in(what)) {
      taken.push_back(inside == outside ? inside : fmt::format("{}: {}", outside, inside));
    }
    body_ += fmt::format("const {{ {} }} = {};\n", fmt::join(taken, ", "), variable(file));
  }

  void export_statement() {
    if (rest_.starts_with('{')) {
      const std::string_view names = statement();
      if (!bare(names).ends_with('}')) wrong(names);
      for (auto& name : names_in(names)) exports_.push_back(std::move(name));
      return;
    }
    for (const std::string_view word :
         {"async function ", "function ", "class ", "const ", "let "}) {
      if (!rest_.starts_with(word)) continue;
      std::string_view after = rest_.substr(word.size());
      const auto end = std::ranges::find_if_not(after, is_name_character);
      const std::string name(after.begin(), end);
      if (name.empty()) break;
      exports_.emplace_back(name, name);
      line();
      return;
    }
    wrong("export " + std::string(rest_.substr(0, rest_.find('\n'))));
  }

  std::string_view name_;
  std::string_view rest_;
  std::string body_;
  std::vector<std::string> needs_;
  std::vector<std::pair<std::string, std::string>> exports_;  // inside, outside
};

class Bundle {
 public:
  explicit Bundle(std::span<const PageFile> files) : files_(files) {}

  void add(std::string_view name) {
    if (done_.contains(name)) return;
    if (!begun_.insert(std::string(name)).second) {
      throw DataError(fmt::format("{} needs itself, by way of others", name));
    }
    const auto file = std::ranges::find(files_, name, &PageFile::name);
    if (file == files_.end()) throw DataError(fmt::format("there is no module {}", name));
    const Module module(*file);
    for (const std::string& other : module.needs()) add(other);
    text_ += module.text();
    done_.insert(std::string(name));
  }

  std::string text() const {
    return fmt::format("(async () => {{\n'use strict';\n\n{}}})();\n", text_);
  }

 private:
  std::span<const PageFile> files_;
  std::set<std::string, std::less<>> begun_;
  std::set<std::string, std::less<>> done_;
  std::string text_;
};

}  // namespace

std::string bundled(std::span<const PageFile> files, std::string_view main) {
  Bundle bundle(files);
  bundle.add(main);
  return bundle.text();
}

}  // namespace aurora::explore
