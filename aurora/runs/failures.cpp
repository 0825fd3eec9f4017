#include "aurora/runs/failures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

constexpr std::size_t kEnoughToTell = 100;  // failures before their share is looked at
constexpr std::size_t kMostKept = 10'000;   // genotypes in the file
constexpr std::uint64_t kLargest = 1ULL << 30;

std::string line_of(std::span<const float> genotype) {
  return fmt::format("{}\n", fmt::join(genotype, " "));
}

/// Its lines, '\n' included, without the reasons.
std::unordered_set<std::string> read_genotypes(const std::filesystem::path& file) {
  std::unordered_set<std::string> lines;
  if (!std::filesystem::exists(file)) return lines;
  const std::string text = read_file(file, kLargest);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    if (text[begin] != '#') lines.insert(text.substr(begin, end - begin));
    begin = end;
  }
  return lines;
}

}  // namespace

Failures::Failures(std::filesystem::path directory, double share,
                   std::function<void(const std::string&)> warn)
    : directory_(std::move(directory)), share_(share), warn_(std::move(warn)) {}

void Failures::failed(std::span<const float> genotype, const std::string& message) {
  std::string reason = message;
  std::ranges::replace(reason, '\n', ' ');
  ++failures_;
  if (failures_ == 1) {
    warn_(
        fmt::format("an evaluation failed ({}); such individuals are left out, and their "
                    "genotypes kept in '{}'",
                    reason, (directory_ / "genotypes.txt").string()));
  }
  keep(genotype, reason);
  const double most = share_ * static_cast<double>(std::max(evaluations_, failures_));
  if (failures_ >= kEnoughToTell && static_cast<double>(failures_) > most) {
    throw Error(
        fmt::format("{} of {} evaluations failed, more than run.failure_share = {} allows; "
                    "the last one: {}",
                    failures_, std::max(evaluations_, failures_), share_, reason));
  }
}

void Failures::hangs(MatrixView<const float> genotypes, double seconds) {
  warn_(fmt::format("an evaluation has been going on for {:.0f} s; what is evaluated is in '{}'",
                    seconds, (directory_ / "hanging.txt").string()));
  std::string text = fmt::format("# not back after {:.0f} s\n", seconds);
  for (std::size_t row = 0; row < genotypes.rows(); ++row) text += line_of(genotypes.row(row));
  try {
    append("hanging.txt", text);
  } catch (const FileError& error) {
    warn_(error.what());
  }
}

void Failures::keep(std::span<const float> genotype, const std::string& reason) {
  if (!kept_) {
    try {
      kept_ = read_genotypes(directory_ / "genotypes.txt");
    } catch (const Error& error) {
      warn_(error.what());
      kept_.emplace();
    }
  }
  if (kept_->size() >= kMostKept) return;
  const std::string line = line_of(genotype);
  if (kept_->insert(line).second) unwritten_ += fmt::format("# {}\n{}", reason, line);
  write();
}

void Failures::write() {
  if (unwritten_.empty()) return;
  try {
    append("genotypes.txt", unwritten_);
    unwritten_.clear();
    warned_ = false;
  } catch (const FileError& error) {
    if (!warned_) warn_(error.what());  // the run itself is in no danger
    warned_ = true;
  }
}

void Failures::append(const char* file, const std::string& text) const {
  make_own_directory(directory_);
  AppendFile(directory_ / file).append(text);
}

}  // namespace aurora
