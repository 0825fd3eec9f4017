#include "apps/aurora/job_table.hpp"

#include <fmt/format.h>

#include <string_view>

namespace aurora {
namespace {

constexpr std::size_t kWide = 70;        // columns, from which on there is room for iterations
constexpr std::size_t kNumbers = 16;     // columns of coverage and rate
constexpr std::size_t kIterations = 14;  // columns

/// What a status says about something: the piece with this beginning and end, without both.
std::string piece(std::string_view status, std::string_view begin, std::string_view end) {
  while (!status.empty()) {
    const std::size_t length = status.find("  ");
    std::string_view one = status.substr(0, length);
    if (one.starts_with(begin) && one.ends_with(end)) {
      one.remove_prefix(begin.size());
      one.remove_suffix(end.size());
      return std::string(one);
    }
    status.remove_prefix(length == std::string_view::npos ? status.size() : length + 2);
  }
  return "";
}

/// The end of a name says most: the variant and the seed.
std::string end_of(const std::string& name, std::size_t room) {
  return name.size() <= room ? name : ".." + name.substr(name.size() - room + 2);
}

}  // namespace

std::vector<std::string> job_table(const std::vector<Job>& jobs, std::size_t columns) {
  const bool wide = columns >= kWide;
  const auto line = [&](const std::string& left, const std::string& numbers,
                        const std::string& iteration, const std::string& name) {
    std::string text = fmt::format("{:>9}  {:<{}}  ", left, numbers.substr(0, kNumbers), kNumbers);
    if (wide) text += fmt::format("{:>{}}  ", iteration, kIterations);
    const std::size_t room = columns > text.size() + 2 ? columns - text.size() : 2;
    return (text + end_of(name, room)).substr(0, columns);
  };
  const auto numbers = [](const std::string& coverage, const std::string& rate) {
    return fmt::format("{:>8}  {:>6}", coverage, rate);
  };
  std::vector<std::string> lines = {
      line("left", numbers("coverage", "eval/s"), "iteration", "run")};
  for (const Job& job : jobs) {
    const std::string iteration = piece(job.status, "iteration ", "");
    std::string doing = job.status.substr(0, job.status.find("  "));
    if (job.elsewhere) {
      const std::size_t where = job.status.find("on ");
      doing = where == std::string::npos ? "busy" : "busy " + job.status.substr(where);
    } else if (doing.empty()) {
      doing = "starting";
    } else if (!iteration.empty()) {
      doing = numbers(piece(job.status, "coverage ", ""), piece(job.status, "", " eval/s"));
    }
    lines.push_back(line(piece(job.status, "left ", ""), doing, iteration, job.name));
  }
  return lines;
}

}  // namespace aurora
