#include "apps/aurora/parser.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <functional>
#include <sstream>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

using Texts = std::vector<std::string>;

template <class Number>
std::optional<Number> number(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::size_t whole(const std::string& name, const std::string& text, const Form& form) {
  const std::optional<std::size_t> value = number<std::size_t>(text);
  if (value && *value >= form.least && *value <= form.most) return *value;
  const bool open = form.most == std::numeric_limits<std::size_t>::max();
  throw UsageError(fmt::format("{} is a whole number {}, not '{}'", name,
                               open ? fmt::format("of {} or more", form.least)
                                    : fmt::format("from {} to {}", form.least, form.most),
                               text));
}

std::vector<double> numbers(const std::string& name, const Texts& texts) {
  std::vector<double> values;
  for (const std::string& text : texts) {
    const std::optional<double> value = number<double>(text);
    if (!value || !std::isfinite(*value)) {
      throw UsageError(fmt::format("{} is made of numbers, and '{}' is none", name, text));
    }
    values.push_back(*value);
  }
  return values;
}

/// An option with one value, or with a list of them.
void add_option(CLI::App& app, const std::string& name, const std::string& help, const Form& form,
                bool list, std::function<void(const Texts&)> take) {
  CLI::Option* option = app.add_option(
      name,
      [take = std::move(take)](const Texts& texts) {
        take(texts);
        return true;
      },
      help);
  option->type_name(form.value)->type_size(1)->required(form.required);
  if (list) option->expected(1, CLI::detail::expected_max_vector_size);
  if (form.commas) option->delimiter(',');
  const bool one_word = form.again || (form.commas && name.starts_with("--"));
  option->allow_extra_args(list && !one_word);
}

}  // namespace

void Grammar::add(const std::string& name, bool& flag, const std::string& help) {
  app_->add_flag_callback(
      name, [&flag] { flag = true; }, help);
}

void Grammar::add(const std::string& name, std::string& text, const std::string& help, Form form) {
  add_option(*app_, name, help, form, false, [&text](const Texts& texts) { text = texts[0]; });
}

void Grammar::add(const std::string& name, std::optional<std::string>& text,
                  const std::string& help, Form form) {
  add_option(*app_, name, help, form, false, [&text](const Texts& texts) { text = texts[0]; });
}

void Grammar::add(const std::string& name, Texts& texts, const std::string& help, Form form) {
  add_option(*app_, name, help, form, true, [&texts](const Texts& given) { texts = given; });
}

void Grammar::add(const std::string& name, std::vector<double>& values, const std::string& help,
                  Form form) {
  add_option(*app_, name, help, form, true,
             [&values, name](const Texts& texts) { values = numbers(name, texts); });
}

void Grammar::add(const std::string& name, std::optional<std::vector<double>>& values,
                  const std::string& help, Form form) {
  add_option(*app_, name, help, form, true,
             [&values, name](const Texts& texts) { values = numbers(name, texts); });
}

void Grammar::add(const std::string& name, std::size_t& value, const std::string& help, Form form) {
  add_option(*app_, name, help, form, false,
             [&value, name, form](const Texts& texts) { value = whole(name, texts[0], form); });
}

void Grammar::add(const std::string& name, std::uint32_t& value, const std::string& help,
                  Form form) {
  form.most = std::min<std::size_t>(form.most, std::numeric_limits<std::uint32_t>::max());
  add_option(*app_, name, help, form, false, [&value, name, form](const Texts& texts) {
    value = static_cast<std::uint32_t>(whole(name, texts[0], form));
  });
}

void Grammar::add(const std::string& name, std::optional<std::size_t>& value,
                  const std::string& help, Form form) {
  add_option(*app_, name, help, form, false,
             [&value, name, form](const Texts& texts) { value = whole(name, texts[0], form); });
}

void Grammar::hide(const std::string& name) {
  app_->get_option(name)->group("");
}

void Grammar::footer(const std::string& text) {
  app_->footer(text);
}

std::string Grammar::name() const {
  return app_->get_name();
}

std::vector<std::string> Grammar::options() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

bool Grammar::chosen() const {
  return app_->parsed() > 0;
}

Parser::Parser(const std::string& summary, const std::string& version, const std::string& footer)
    : app_(std::make_unique<CLI::App>(summary, "aurora")) {
  app_->set_version_flag("--version", version, "Print the version and exit");
  app_->set_help_flag("-h,--help", "Print this help and exit");
  app_->require_subcommand(0, 1);
  app_->footer(footer);
}

Parser::~Parser() = default;

Grammar Parser::command(const std::string& name, const std::string& summary) {
  return Grammar(app_->add_subcommand(name, summary));
}

Grammar Parser::program() const {
  return Grammar(app_.get());
}

std::string Parser::help() const {
  // app_->help() would be that of the command that was chosen.
  return app_->get_formatter()->make_help(app_.get(), app_->get_name(), CLI::AppFormatMode::Normal);
}

std::string Parser::help(const Grammar& command) const {
  return app_->get_subcommand(command.name())->help(app_->get_name());
}

std::optional<std::string> Parser::parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help and --version
    std::ostringstream text;
    app_->exit(request, text, text);
    return text.str();
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  return std::nullopt;
}

}  // namespace aurora
