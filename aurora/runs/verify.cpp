#include "aurora/runs/verify.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"
#include "aurora/evaluation/replay.hpp"
#include "aurora/runs/checkpoint.hpp"
#include "aurora/runs/internal/seal.hpp"
#include "aurora/runs/plan.hpp"
#include "aurora/runs/retrain.hpp"
#include "aurora/runs/run.hpp"
#include "aurora/runs/run_directory.hpp"
#include "aurora/storage/internal/csv.hpp"
#include "aurora/storage/internal/toml.hpp"
#include "aurora/storage/paths.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxTable = std::uint64_t{1} << 30;  // bytes of a metrics.csv

/// Thrown inside a check: what is wrong.
void require(bool good, const std::string& problem) {
  if (!good) throw DataError(problem);
}

/// False only if it is surely not there: who looks at it closer finds out why it cannot be seen.
bool may_exist(const fs::path& path) {
  try {
    return path_exists(path);
  } catch (const FileError&) {
    return true;
  }
}

class Verifier {
 public:
  Verifier(const Parts& parts, fs::path run) : parts_(parts), run_(std::move(run)) {}

  std::vector<Check> verify(std::size_t replay) {
    look_at_config();
    check("run.json", [&] { return look_at_summary(); });
    check("metrics.csv", [&] { return look_at_metrics(); });
    look_at_files();
    look_at_snapshots();
    look_at_checkpoint();
    // A run that is going on, or was killed, has no result yet.
    if (summary_ && summary_->status == RunStatus::running) return std::move(checks_);
    check("container", [&] { return look_at_container(); });
    if (plan_ && plan_->encoder) {
      check("encoder", [&] {
        return fmt::format("{} arrays, checksums match", load_encoder(run_ / "encoder").size());
      });
    }
    // Earlier versions wrote no reconstructions; a re-training is there if somebody asked for it.
    if (may_exist(whole_directory(run_ / "reconstructions"))) {
      check("reconstructions", [&] {
        return fmt::format("of {} individuals, checksums match",
                           load_reconstructions(run_ / "reconstructions").ids.size());
      });
    }
    if (may_exist(whole_directory(run_ / "retrained"))) {
      check("retrained", [&] { return look_at_retrained(); });
    }
    if (container_ && summary_) check("container hash", [&] { return compare_hash(); });
    if (container_ && plan_ && summary_) {
      check("metrics", [&] { return compare_metrics(); });
      check("promise", [&] { return ask_container(); });
      if (replay > 0) check("replay", [&] { return evaluate_again(replay); });
    }
    return std::move(checks_);
  }

 private:
  void check(const std::string& subject, const std::function<std::string()>& look) {
    try {
      checks_.push_back({true, subject, look()});
    } catch (const std::exception& problem) {
      checks_.push_back({false, subject, problem.what()});
    }
  }

  /// A task that is not in this program is no damage, but much cannot be looked at without it.
  void look_at_config() {
    std::string task;
    try {
      const toml::table table = read_toml(run_ / "config.toml");
      task = table["run"]["task"].value_or(std::string());
    } catch (const Error&) {
      // The check below says so.
    }
    const std::vector<std::string> known = parts_.tasks.names();
    if (task.empty() || std::ranges::find(known, task) != known.end()) {
      return check("config.toml", [&] { return read_config(); });
    }
    not_looked_at(
        fmt::format("configuration, checkpoint's meaning, metrics, promise, replay: this program "
                    "has no task '{}'",
                    task));
  }

  std::string read_config() {
    plan_ = plan_of_run(parts_, run_);
    return fmt::format("{} on {}, seed {}", plan_->variant, plan_->spec().name, plan_->run.seed);
  }

  std::string look_at_summary() {
    summary_ = read_summary(run_ / "run.json");
    if (plan_) {
      require(summary_->task == plan_->spec().name && summary_->variant == plan_->variant &&
                  summary_->seed == plan_->run.seed,
              "task, variant or seed are not those of config.toml");
    }
    if (summary_->status == RunStatus::running) {
      return std::string("the run has not ended, or was killed: there is no result yet");
    }
    return fmt::format("{} after {} iterations", name_of(summary_->status), summary_->iterations);
  }

  /// Every file against the seal, which a run gets at its end. Without run.json the manifest is
  /// believed alone.
  void look_at_files() {
    if (summary_ && summary_->manifest.empty()) {
      const std::string why = summary_->status == RunStatus::running
                                  ? "the run has not ended"
                                  : "an earlier version wrote the run, or could not end it";
      return not_looked_at("nothing vouches for config.toml, tables and failures/: " + why);
    }
    std::optional<SealReport> report;
    check("manifest.json", [&] {
      report = check_seal(run_);
      if (summary_ && report->checksum != summary_->manifest) {
        throw DataError(fmt::format("its checksum is {}, but run.json says {}", report->checksum,
                                    summary_->manifest));
      }
      return fmt::format("{} files, checksums match", report->files);
    });
    if (!report) return;
    for (const std::string& damage : report->damaged) checks_.push_back({false, "file", damage});
    // By what lies in the run's own folder.
    std::set<std::string> unknown;
    for (const std::string& name : report->unknown) unknown.insert(name.substr(0, name.find('/')));
    if (!unknown.empty()) {
      not_looked_at(fmt::format("nothing vouches for {}", fmt::join(unknown, ", ")));
    }
  }

  void not_looked_at(const std::string& what) { checks_.push_back({true, "not looked at", what}); }

  /// Rows of numbers under the header, iterations ascending.
  std::string look_at_metrics() {
    if (!fs::exists(run_ / "metrics.csv") && summary_ && plan_ &&
        summary_->iterations < plan_->run.log_every) {
      return "no row yet";
    }
    const std::string text = read_file(run_ / "metrics.csv", kMaxTable);
    require(text.ends_with('\n'), "the last line is not whole");
    std::vector<std::vector<double>> rows;
    std::size_t columns = 0;
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text.size(); ++number) {
      const std::size_t end = text.find('\n', begin);
      const std::vector<std::string> cells = split_cells(text.substr(begin, end - begin));
      begin = end + 1;
      if (number == 0) {
        columns = cells.size();
        require(cells[0] == "iteration", "the header is not that of a metrics.csv");
        continue;
      }
      require(cells.size() == columns,
              fmt::format("line {} has {} cells instead of {}", number + 1, cells.size(), columns));
      std::vector<double>& row = rows.emplace_back();
      for (const std::string& cell : cells) {
        char* rest = nullptr;
        row.push_back(std::strtod(cell.c_str(), &rest));
        require(!cell.empty() && *rest == 0,
                fmt::format("line {} has '{}' where a number belongs", number + 1, cell));
      }
      require(rows.size() < 2 || rows[rows.size() - 2][0] < row[0],
              fmt::format("line {}: iterations do not ascend", number + 1));
    }
    if (summary_ && summary_->status != RunStatus::running && !rows.empty()) {
      require(rows.back()[0] <= static_cast<double>(summary_->iterations),
              "there are rows after the last iteration of run.json");
    }
    return fmt::format("{} rows", rows.size());
  }

  std::string look_at_container() {
    container_ = load_container(whole_directory(run_ / "container"));
    return fmt::format("{} individuals, checksums match, all finite",
                       container_->individuals.size());
  }

  void look_at_snapshots() {
    std::vector<fs::path> snapshots;
    try {
      snapshots = entries_of(run_ / "snapshots");
    } catch (const FileError& error) {
      checks_.push_back({false, "snapshots", error.what()});
    }
    for (const fs::path& snapshot : snapshots) {
      if (snapshot.filename().string().starts_with('.')) continue;
      check("snapshots/" + snapshot.filename().string(), [&] {
        return fmt::format("{} individuals, checksums match",
                           load_container(snapshot).individuals.size());
      });
    }
  }

  void look_at_checkpoint() {
    std::optional<FoundCheckpoint> found;
    check("checkpoint", [&] {
      found = find_checkpoint(run_);
      if (!found) return std::string("none");
      require(found->damage.empty(), found->damage);
      return fmt::format("of iteration {}, {} individuals, checksums match",
                         found->checkpoint.algorithm.iteration,
                         found->checkpoint.algorithm.container.size());
    });
    if (found && plan_) {
      check("resuming", [&] { return resume(found->checkpoint); });
    }
  }

  /// Takes the checkpoint as a run would that goes on.
  std::string resume(Checkpoint& checkpoint) const {
    check_resumable(parts_, checkpoint, *plan_);
    Workers alone(1);
    plan_->make_loop(alone)->restore(std::move(checkpoint.algorithm));
    return "the checkpoint is a state of this task and configuration";
  }

  std::string look_at_retrained() const {
    const Retrained retrained = load_retrained(run_ / "retrained");
    const bool current = summary_ && retrained.container_hash == summary_->container_hash;
    return fmt::format("dimension {}, {} epochs, checksums match{}", *retrained.options.dimension,
                       retrained.training.epochs,
                       current ? "" : "; of an earlier container of this run");
  }

  std::string compare_hash() const {
    std::string hash = container_hash_text(container_->individuals);
    require(hash == summary_->container_hash,
            fmt::format("is {}, but run.json says {}", hash, summary_->container_hash));
    return hash;
  }

  /// What is measured now, of those numbers that run.json has.
  std::string compare_metrics() const {
    const Individuals& members = container_->individuals;
    require(members.size() == summary_->container_size,
            fmt::format("the container has {} individuals, but run.json says {}", members.size(),
                        summary_->container_size));
    std::vector<std::string> same;
    for (const auto& metric : plan_->make_metrics()) {
      const std::vector<MetricColumn> columns = metric->columns();
      std::vector<double> values(columns.size());
      metric->measure(members, values);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const double said = number_called(summary_->metrics, columns[i].name,
                                          std::numeric_limits<double>::quiet_NaN());
        if (std::isnan(said)) continue;  // an older version did not measure it
        // Sums may come in another order, and differ by rounding.
        require(std::abs(values[i] - said) <= 1e-9 * std::abs(said),
                fmt::format("{} is {}, but run.json says {}", columns[i].name, values[i], said));
        same.push_back(columns[i].name);
      }
    }
    return fmt::format("{}: as in run.json", fmt::join(same, ", "));
  }

  /// The container knows what is true of its members. Loops without one promise nothing.
  std::string ask_container() const {
    Workers alone(1);
    const std::unique_ptr<Container> container = plan_->make_container(alone);
    if (!container) return "a container that takes everybody promises nothing";
    container->restore(container_->individuals, container_->state);
    return container->check(alone);
  }

  std::string evaluate_again(std::size_t count) const {
    const TaskSpec& spec = plan_->spec();
    const Individuals& members = container_->individuals;
    require(container_->has_sensory, "the container has no sensory data to compare with");
    require(
        members.genotypes.cols() == spec.genotype_size && members.sensory.shape() == spec.sensory,
        "genotypes or sensory data do not have the task's shape");
    Stream stream(std::random_device{}(), Purpose::user);
    std::vector<std::uint32_t> rows = stream.permutation(members.size());
    rows.resize(std::min(count, rows.size()));
    Workers alone(1);
    const std::unique_ptr<Evaluator> evaluator = plan_->make_evaluator(alone);
    for (const std::uint32_t row : rows) {
      const std::string different =
          difference(members, row, replay(*evaluator, spec, members, row), true);
      require(different.empty(),
              fmt::format("individual {} evaluates to something else than is stored: {}",
                          members.ids[row], different));
    }
    return fmt::format("{} individuals evaluate to the stored bits", rows.size());
  }

  const Parts& parts_;
  fs::path run_;
  std::vector<Check> checks_;
  std::optional<Plan> plan_;
  std::optional<RunSummary> summary_;
  std::optional<SavedContainer> container_;
};

}  // namespace

std::vector<Check> verify_run(const Parts& parts, const fs::path& run, std::size_t replay) {
  if (!directory_exists(run)) {
    throw FileError(fmt::format("there is no run directory '{}'", run.string()));
  }
  refuse_digest(run);
  return Verifier(parts, run).verify(replay);
}

}  // namespace aurora
