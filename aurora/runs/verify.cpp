#include "aurora/runs/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <set>

#include "aurora/algorithms/offspring.hpp"
#include "aurora/containers/cells.hpp"
#include "aurora/containers/container_hash.hpp"
#include "aurora/containers/nearest_neighbours.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"
#include "aurora/metrics/grid.hpp"
#include "aurora/runs/checkpoint.hpp"
#include "aurora/runs/config.hpp"
#include "aurora/runs/retrain.hpp"
#include "aurora/runs/run.hpp"
#include "aurora/runs/run_directory.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxTable = std::uint64_t{1} << 30;  // bytes of a metrics.csv

/// Thrown inside a check: what is wrong.
void require(bool good, const std::string& problem) {
  if (!good) throw DataError(problem);
}

/// For an algorithm that does no step.
class NoEvaluations : public Evaluator {
 public:
  void evaluate(MatrixView<const float> /*genotypes*/, EvaluationView /*out*/) override {
    assert(false);
  }
};

class Verifier {
 public:
  Verifier(const TaskRegistry& tasks, fs::path run) : tasks_(tasks), run_(std::move(run)) {}

  std::vector<Check> verify(std::size_t replay) {
    check("config.toml", [&] { return read_config(); });
    check("run.json", [&] { return look_at_summary(); });
    check("metrics.csv", [&] { return look_at_metrics(); });
    look_at_snapshots();
    look_at_checkpoint();
    // A run that is going on, or was killed, has no result yet.
    if (summary_ && summary_->status == RunStatus::running) return std::move(checks_);
    check("container", [&] { return look_at_container(); });
    if (config_ && config_->algorithm.descriptor == DescriptorKind::learned) {
      check("encoder", [&] {
        return fmt::format("{} arrays, checksums match", load_encoder(run_ / "encoder").size());
      });
    }
    // Earlier versions wrote no reconstructions; a re-training is there if somebody asked for it.
    if (fs::exists(whole_directory(run_ / "reconstructions"))) {
      check("reconstructions", [&] {
        return fmt::format("of {} individuals, checksums match",
                           load_reconstructions(run_ / "reconstructions").ids.size());
      });
    }
    if (fs::exists(whole_directory(run_ / "retrained"))) {
      check("retrained", [&] { return look_at_retrained(); });
    }
    if (container_ && summary_) {
      check("container hash", [&] { return compare_hash(); });
      check("grid metrics", [&] { return compare_metrics(); });
    }
    if (container_ && config_ && summary_) {
      check("spacing", [&] { return look_at_spacing(); });
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

  std::string read_config() {
    config_ = config_of_run(tasks_, run_);
    return fmt::format("{} on {}, seed {}", config_->variant, config_->task,
                       config_->algorithm.seed);
  }

  std::string look_at_summary() {
    summary_ = read_summary(run_ / "run.json");
    if (config_) {
      require(summary_->task == config_->task && summary_->variant == config_->variant &&
                  summary_->seed == config_->algorithm.seed,
              "task, variant or seed are not those of config.toml");
    }
    if (summary_->status == RunStatus::running) {
      return std::string("the run has not ended, or was killed: there is no result yet");
    }
    return fmt::format("{} after {} iterations", name_of(summary_->status), summary_->iterations);
  }

  /// Rows of numbers under the header, iterations ascending; remembers the smallest threshold that
  /// members may have been added with since the last container update.
  std::string look_at_metrics() {
    const std::string text = read_file(run_ / "metrics.csv", kMaxTable);
    require(text.ends_with('\n'), "the last line is not whole");
    std::vector<std::vector<double>> rows;
    std::size_t columns = 0;
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text.size(); ++number) {
      const std::size_t end = text.find('\n', begin);
      const std::vector<std::string> cells = split(text.substr(begin, end - begin));
      begin = end + 1;
      if (number == 0) {
        columns = cells.size();
        require(columns > kThreshold && cells[0] == "iteration" && cells[kThreshold] == "threshold",
                "the header is not that of a metrics.csv");
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
    if (config_ && !rows.empty()) {
      const double period = static_cast<double>(config_->algorithm.update_period);
      for (const auto& row : rows) {
        if (row[0] + 2 * period >= rows.back()[0]) {
          least_threshold_ = std::min(least_threshold_, row[kThreshold]);
        }
      }
    }
    return fmt::format("{} rows", rows.size());
  }

  std::string look_at_container() {
    container_ = load_container(whole_directory(run_ / "container"));
    return fmt::format("{} individuals, checksums match, all finite",
                       container_->individuals.size());
  }

  void look_at_snapshots() {
    std::error_code error;
    std::set<fs::path> snapshots;
    for (const auto& entry : fs::directory_iterator(run_ / "snapshots", error)) {
      if (!entry.path().filename().string().starts_with('.')) snapshots.insert(entry.path());
    }
    for (const fs::path& snapshot : snapshots) {
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
    if (found && config_) {
      check("resuming", [&] { return resume(found->checkpoint); });
    }
  }

  /// Takes the checkpoint as a run would that goes on.
  std::string resume(Checkpoint& checkpoint) const {
    const TaskSpec spec = tasks_.spec(config_->task, config_->task_options);
    check_resumable(checkpoint, spec, *config_);
    NoEvaluations nothing;
    Workers alone(1);
    make_algorithm(spec, config_->algorithm, nothing, alone)
        ->restore(std::move(checkpoint.algorithm));
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

  std::string compare_metrics() const {
    const std::vector<Axis>& axes = container_->ground_truth;
    require(axes.size() >= 2, "the ground truth has fewer than two columns");
    const Grid grid{axes[0].min, axes[0].max, axes[1].min, axes[1].max};
    const Individuals& members = container_->individuals;
    const GridMetrics metrics = grid_metrics(grid, members.ground_truth, members.fitness,
                                             tasks_.spec(summary_->task).worst_fitness);
    require(members.size() == summary_->container_size,
            fmt::format("the container has {} individuals, but run.json says {}", members.size(),
                        summary_->container_size));
    require(metrics.coverage == summary_->coverage, "coverage is not what run.json says");
    // The best of a cell may come in another order: sums may differ by rounding.
    const auto close = [](double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); };
    require(close(metrics.grid_mean_fitness, summary_->grid_mean_fitness) &&
                close(metrics.qd_score, summary_->qd_score),
            "grid mean fitness or QD score are not what run.json says");
    return fmt::format("coverage {:.2f} %, grid mean fitness {:.2f}: as in run.json",
                       metrics.coverage, metrics.grid_mean_fitness);
  }

  /// Members of an unstructured container were added with a distance above (1 - epsilon) d_min to
  /// all others but the one they replaced. d_min has moved since the last container update, by a
  /// few per cent at the most; a grid has one member in a cell.
  std::string look_at_spacing() const {
    const AlgorithmConfig& config = config_->algorithm;
    const Individuals& members = container_->individuals;
    if (config.kind != AlgorithmKind::quality_diversity) return "an archive without spacing";
    if (config.container == ContainerKind::grid) {
      GridCells cells({{container_->ground_truth[0].min, container_->ground_truth[0].max},
                       {container_->ground_truth[1].min, container_->ground_truth[1].max}},
                      config.target_size);
      std::set<std::size_t> taken;
      for (std::size_t row = 0; row < members.size(); ++row) {
        const std::size_t cell = cells.cell(members.descriptors.row(row));
        require(
            cell != Cells::kOutside && taken.insert(cell).second,
            fmt::format("individual {} is outside the grid or shares its cell", members.ids[row]));
      }
      return "one individual in a cell";
    }
    if (config.container == ContainerKind::cvt) return "Voronoi cells: not looked at";
    if (members.size() < 2) return "fewer than two individuals";
    NeighbourIndex index(members.descriptors.cols());
    for (std::size_t row = 0; row < members.size(); ++row) {
      index.insert(row, members.descriptors.row(row), members.ids[row]);
    }
    NeighbourIndex::Workspace workspace;
    double closest = std::numeric_limits<double>::infinity();
    for (std::size_t row = 0; row < members.size(); ++row) {
      const auto nearest = index.nearest(members.descriptors.row(row), 2, workspace);
      closest = std::min(closest, std::sqrt(static_cast<double>(nearest[1].squared_distance)));
    }
    constexpr double kMovement = 0.9;
    const double threshold = std::min(least_threshold_, summary_->threshold);
    const double allowed = kMovement * (1 - config.archive.epsilon) * threshold;
    require(closest >= allowed,
            fmt::format("two individuals are {:.6g} apart, closer than the {:.6g} that d_min = "
                        "{:.6g} allows",
                        closest, allowed, threshold));
    return fmt::format("closest pair {:.4g} apart, d_min {:.4g}", closest, summary_->threshold);
  }

  std::string evaluate_again(std::size_t count) const {
    const auto task = tasks_.make(config_->task, config_->task_options);
    const Individuals& members = container_->individuals;
    require(container_->has_sensory, "the container has no sensory data to compare with");
    require(members.genotypes.cols() == task->spec().genotype_size &&
                members.sensory.shape() == task->spec().sensory,
            "genotypes or sensory data do not have the task's shape");
    Stream stream(std::random_device{}(), Purpose::user);
    std::vector<std::uint32_t> rows = stream.permutation(members.size());
    rows.resize(std::min(count, rows.size()));
    for (const std::uint32_t row : rows) {
      Evaluation again(task->spec(), 1);
      task->evaluate(members.genotypes.view().slice(row, 1), again.view());
      const auto same = [](auto a, auto b) {
        return std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
      };
      require(same(std::span(&members.fitness[row], 1), std::span(again.fitness)) &&
                  same(members.ground_truth.row(row), again.ground_truth.row(0)) &&
                  same(members.sensory.view().bytes(row), again.sensory.view().bytes(0)),
              fmt::format("individual {} evaluates to something else than is stored",
                          members.ids[row]));
    }
    return fmt::format("{} individuals evaluate to the stored bits", rows.size());
  }

  static std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> cells(1);
    for (const char c : line) {
      if (c == ',') {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    return cells;
  }

  static constexpr std::size_t kThreshold = 8;  // the column of metrics.csv

  const TaskRegistry& tasks_;
  fs::path run_;
  std::vector<Check> checks_;
  std::optional<RunConfig> config_;
  std::optional<RunSummary> summary_;
  std::optional<SavedContainer> container_;
  double least_threshold_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::vector<Check> verify_run(const TaskRegistry& tasks, const fs::path& run, std::size_t replay) {
  if (!fs::is_directory(run)) {
    throw FileError(fmt::format("there is no run directory '{}'", run.string()));
  }
  return Verifier(tasks, run).verify(replay);
}

}  // namespace aurora
