// Measures every hot loop and whole runs: one table on standard output, and the same rows as JSON.
//
//   bench [--json FILE] [FILTER]      only rows whose name contains FILTER
//
// AURORA_INSTRUCTIONS=avx2 in the environment makes it use that instruction set.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "aurora/core/instruction_set.hpp"
#include "table.hpp"

namespace aurora::bench {
namespace {

double seconds_of(const Work& work, double at_least) {
  const auto start = std::chrono::steady_clock::now();
  double seconds = 0;
  std::size_t calls = 0;
  while (seconds < at_least) {
    work.call();
    ++calls;
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return seconds / static_cast<double>(calls * work.items);
}

/// 12,345 or 1.23: four figures at the most matter.
std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value >= 100 ? "%.0f" : "%.3g", value);
  std::string out = text;
  if (value >= 1000) {
    for (auto at = static_cast<std::ptrdiff_t>(out.size()) - 3; at > 0; at -= 3) {
      out.insert(static_cast<std::size_t>(at), ",");
    }
  }
  return out;
}

}  // namespace

void Table::heading(const std::string& text) {
  heading_ = text;
}

void Table::measure(const std::string& name, const std::string& unit, const Work& work,
                    const std::string& baseline_name, const std::optional<Work>& baseline,
                    double floor_rate) {
  if (!wanted(name)) return;
  constexpr int kRounds = 5;
  constexpr double kSeconds = 0.1;
  double ours = 1e300;
  double theirs = 1e300;
  for (int round = 0; round < kRounds; ++round) {
    ours = std::min(ours, seconds_of(work, kSeconds));
    if (baseline) theirs = std::min(theirs, seconds_of(*baseline, kSeconds));
  }
  Row row{.name = name, .rate = 1 / ours, .unit = unit, .baseline_name = baseline_name};
  if (baseline) row.baseline = 1 / theirs;
  if (floor_rate > 0) row.floor_fraction = row.rate / floor_rate;
  add(std::move(row));
}

void Table::add(Row row) {
  if (!heading_.empty()) {
    std::printf("\n%s\n%-38s %14s %-14s %14s %7s %9s  %s\n", heading_.c_str(), "name", "rate",
                "unit", "baseline", "ratio", "of floor", "baseline is");
    heading_.clear();
  }
  std::printf("%-38s %14s %-14s", row.name.c_str(), figure(row.rate).c_str(), row.unit.c_str());
  if (row.baseline) {
    std::printf(" %14s %6.1fx", figure(*row.baseline).c_str(), row.rate / *row.baseline);
  } else {
    std::printf(" %14s %7s", "", "");
  }
  if (row.floor_fraction) {
    std::printf(" %9.2f", *row.floor_fraction);
  } else {
    std::printf(" %9s", "");
  }
  std::printf("  %s\n", row.baseline_name.c_str());
  std::fflush(stdout);
  rows_.push_back(std::move(row));
}

void Table::write_json(const std::string& path) const {
  nlohmann::json json = nlohmann::json::array();
  for (const Row& row : rows_) {
    nlohmann::json object{{"name", row.name},    {"rate", row.rate}, {"unit", row.unit},
                          {"baseline", nullptr}, {"ratio", nullptr}, {"floor_fraction", nullptr}};
    if (row.baseline) {
      object["baseline"] = *row.baseline;
      object["ratio"] = row.rate / *row.baseline;
    }
    if (row.floor_fraction) object["floor_fraction"] = *row.floor_fraction;
    json.push_back(std::move(object));
  }
  std::ofstream(path) << json.dump(1) << '\n';
}

}  // namespace aurora::bench

int main(int argc, char** argv) {
  using namespace aurora::bench;
  std::string json;
  std::string filter;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--json" && i + 1 < argc) {
      json = argv[++i];
    } else if (argument.starts_with("-")) {
      std::fprintf(stderr, "usage: bench [--json FILE] [FILTER]\n");
      return 2;
    } else {
      filter = argument;
    }
  }
  const char* instructions = std::getenv("AURORA_INSTRUCTIONS");
  if (instructions != nullptr && *instructions != 0) aurora::use_instruction_set(instructions);
  Table table(filter);
  maze_rows(table);
  robot_rows(table);
  autoencoder_rows(table);
  neighbour_rows(table);
  archive_rows(table);
  dominated_novelty_rows(table);
  run_rows(table);
  if (!json.empty()) table.write_json(json);
}
