#include "aurora/runs/failures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

constexpr std::size_t kEnoughToTell = 100;  // failures before their share is looked at
constexpr std::size_t kMostKept = 10'000;   // genotypes in the file

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
  if (failures_ <= kMostKept) {
    save("genotypes.txt", {genotype.data(), 1, genotype.size()}, reason);
  }
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
  save("hanging.txt", genotypes, fmt::format("not back after {:.0f} s", seconds));
}

void Failures::save(const char* file, MatrixView<const float> genotypes,
                    const std::string& reason) {
  std::string text = fmt::format("# {}\n", reason);
  for (std::size_t row = 0; row < genotypes.rows(); ++row) {
    text += fmt::format("{}\n", fmt::join(genotypes.row(row), " "));
  }
  try {
    make_own_directory(directory_);
    AppendFile(directory_ / file).append(text);
  } catch (const FileError& error) {
    warn_(error.what());  // the run itself is in no danger
  }
}

}  // namespace aurora
