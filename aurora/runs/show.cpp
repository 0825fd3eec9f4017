#include "aurora/runs/show.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"
#include "aurora/evaluation/replay.hpp"
#include "aurora/pictures/plot.hpp"
#include "aurora/storage/film.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSensorySide = 512;  // a small picture is enlarged to at least this
constexpr std::size_t kGap = 16;           // pixels between data and reconstruction

/// The container, if there is one, and the snapshots, the last first; relative to the run.
std::vector<fs::path> candidates(const fs::path& run) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(run / "snapshots", ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with('.')) found.push_back(fs::path("snapshots") / name);
  }
  std::ranges::sort(found, [](const fs::path& a, const fs::path& b) {
    const std::string left = a.string();
    const std::string right = b.string();
    return std::pair(left.size(), left) > std::pair(right.size(), right);  // numbers
  });
  const fs::path container = whole_directory(run / "container");
  if (fs::exists(container)) found.insert(found.begin(), container.lexically_relative(run));
  return found;
}

std::string identity(const std::string& task, std::uint64_t id, std::span<const float> genes) {
  Checksum checksum;
  checksum.update(std::as_bytes(genes));
  return fmt::format("aurora show: individual {} of {}, genes {}", id, task, checksum.text());
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : b - a;
}

std::size_t row_of(const std::vector<std::uint64_t>& ids, std::uint64_t id) {
  const auto nearest =
      std::ranges::min_element(ids, {}, [&](std::uint64_t other) { return distance(other, id); });
  if (*nearest != id) {
    throw UsageError(fmt::format(
        "there is no individual {} among the {} here (ids {} to {}); the nearest id is {}", id,
        ids.size(), ids.front(), ids.back(), *nearest));
  }
  return static_cast<std::size_t>(nearest - ids.begin());
}

std::size_t nearest_row(const SavedContainer& container, const std::vector<double>& wanted) {
  const std::vector<Axis>& axes = container.ground_truth;
  if (wanted.empty() || wanted.size() > axes.size() ||
      !std::ranges::all_of(wanted, [](double value) { return std::isfinite(value); })) {
    std::vector<std::string> names;
    names.reserve(axes.size());
    for (const Axis& axis : axes) names.push_back(axis.name);
    throw UsageError(
        fmt::format("a place in the ground truth is 1 to {} finite numbers, for {}, not {}",
                    axes.size(), fmt::join(names, ","), fmt::join(wanted, ",")));
  }
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t row = 0; row < container.individuals.size(); ++row) {
    double squared = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const double offset =
          (container.individuals.ground_truth(row, i) - wanted[i]) / (axes[i].max - axes[i].min);
      squared += offset * offset;
    }
    if (squared < least) {
      least = squared;
      best = row;
    }
  }
  return best;
}

std::vector<std::size_t> random_rows(std::size_t size, std::size_t count) {
  if (count == 0) throw UsageError("the number of random individuals must be at least 1");
  Stream stream(std::random_device{}(), Purpose::user);
  const std::vector<std::uint32_t> order = stream.permutation(size);
  return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(std::min(count, size))};
}

/// Sensory data as numbers, bytes as value / 255.
std::vector<float> numbers(SensoryView sensory) {
  if (sensory.shape().element == ElementType::float32) {
    const auto values = sensory.row<float>(0);
    return {values.begin(), values.end()};
  }
  std::vector<float> result;
  for (const std::uint8_t byte : sensory.row<std::uint8_t>(0)) {
    result.push_back(static_cast<float>(byte) / 255);
  }
  return result;
}

/// Pictures beside each other, enlarged.
Image beside(const SensoryShape& shape, const std::vector<std::vector<float>>& pictures) {
  const std::size_t height = shape.extents[0];
  const std::size_t width = shape.extents[1];
  const std::size_t side = std::max(height, width);
  const std::size_t enlarge = (kSensorySide + side - 1) / side;
  Image all(pictures.size() * (width * enlarge + kGap) - kGap, height * enlarge);
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    std::vector<std::uint8_t> bytes;
    for (const float value : pictures[i]) {
      bytes.push_back(static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0F, 1.0F))));
    }
    paste(all, to_image(bytes, height, width, shape.extents[2], enlarge),
          i * (width * enlarge + kGap), 0);
  }
  return all;
}

}  // namespace

Viewer::Viewer(const Parts& parts, fs::path run)
    : run_(std::move(run)), plan_(plan_of_run(parts, run_)) {
  open_container();
  open_encoder();
}

void Viewer::open_container() {
  std::string problem;
  for (const fs::path& candidate : candidates(run_)) {
    try {
      container_ = load_container(run_ / candidate);
      source_ = candidate.string();
      break;
    } catch (const Error& error) {
      notes_.push_back(fmt::format("cannot use {}: {}", candidate.string(), error.what()));
      if (problem.empty()) problem = error.what();
    }
  }
  if (source_.empty() && !problem.empty()) throw DataError(problem);
  if (source_.empty() || container_.individuals.size() == 0) {
    throw DataError(fmt::format(
        "there is nothing to show in '{}' yet: a run writes its container when it ends and a "
        "snapshot every {} iterations (run.snapshot_every)",
        run_.string(), plan_.run.snapshot_every));
  }
  const TaskSpec& spec = plan_.spec();
  if (container_.task != spec.name ||
      container_.individuals.genotypes.cols() != spec.genotype_size ||
      container_.ground_truth.size() != spec.ground_truth.size()) {
    throw DataError(fmt::format(
        "'{}' holds individuals of '{}' with {} genes and {} values of ground truth, but the task "
        "'{}' has {} and {}",
        (run_ / source_).string(), container_.task, container_.individuals.genotypes.cols(),
        container_.ground_truth.size(), spec.name, spec.genotype_size, spec.ground_truth.size()));
  }
  if (!container_.has_sensory) {
    notes_.push_back(fmt::format("there is no whole container: this is {}", source_));
  }
}

void Viewer::open_encoder() {
  if (!plan_.encoder) return;
  const fs::path directory = whole_directory(run_ / "encoder");
  if (!fs::exists(directory)) {
    notes_.push_back("there is no encoder yet: sensory data comes without its reconstruction");
    return;
  }
  const std::vector<NamedArray> state = load_encoder(directory);
  Stream weights(plan_.run.seed, Purpose::encoder_weights);
  encoder_ = plan_.make_encoder(plan_.run.dimension, weights);
  encoder_->set_state(state);
}

std::vector<std::size_t> Viewer::select(const Wanted& wanted) const {
  const int said = (wanted.best ? 1 : 0) + (wanted.id ? 1 : 0) + (wanted.random ? 1 : 0) +
                   (wanted.ground_truth ? 1 : 0);
  if (said > 1) {
    throw UsageError(
        "the best, one by its id, some at random and the nearest to a place exclude each other: "
        "choose one");
  }
  const Individuals& members = container_.individuals;
  if (wanted.id) return {row_of(members.ids, *wanted.id)};
  if (wanted.random) return random_rows(members.size(), *wanted.random);
  if (wanted.ground_truth) return {nearest_row(container_, *wanted.ground_truth)};
  const auto best = std::ranges::max_element(members.fitness);
  return {static_cast<std::size_t>(best - members.fitness.begin())};
}

Image Viewer::sensory_image(SensoryView sensory) const {
  const SensoryShape& shape = sensory.shape();
  std::vector<std::vector<float>> data = {numbers(sensory)};
  if (encoder_) {
    Matrix<float> reconstruction(1, shape.size());
    Workers workers;
    encoder_->reconstruct(sensory, reconstruction, workers);
    const auto values = reconstruction.row(0);
    data.emplace_back(values.begin(), values.end());
  }
  if (shape.is_picture() && (shape.extents[2] == 1 || shape.extents[2] == 3)) {
    return beside(shape, data);
  }
  // The first extent counts steps; a plain list of numbers is a sequence of single ones.
  const std::size_t values = shape.size() / shape.extents[0];
  return plot_sequence(data[0], values, encoder_ ? data[1] : std::vector<float>());
}

Shown Viewer::show(std::size_t row, const fs::path& out) const {
  const Individuals& members = container_.individuals;
  Workers alone;
  const Evaluation again = replay(*plan_.make_evaluator(alone), plan_.spec(), members, row);
  const Drawing drawing = plan_.task->draw(members.genotypes.row(row));
  const Image sensory =
      again.sensory.shape().size() > 0 ? sensory_image(again.sensory.view()) : Image();

  const std::string stem = fmt::format("individual-{}", members.ids[row]);
  std::vector<std::pair<fs::path, std::span<const Image>>> files;
  if (!drawing.picture.empty()) files.push_back({out / (stem + ".png"), {&drawing.picture, 1}});
  if (!drawing.film.empty()) files.push_back({out / (stem + "-film.png"), drawing.film});
  if (!sensory.empty()) files.push_back({out / (stem + "-sensory.png"), {&sensory, 1}});

  const std::string description =
      identity(container_.task, members.ids[row], members.genotypes.row(row));
  for (const auto& [path, images] : files) {
    if (fs::exists(path) && film_description(path) != description) {
      throw FileError(
          fmt::format("{} exists already and does not show this individual; move it away or choose "
                      "another directory",
                      path.string()));
    }
  }
  const auto truth = members.ground_truth.row(row);
  Shown shown{members.ids[row],
              members.fitness[row],
              {truth.begin(), truth.end()},
              difference(members, row, again, container_.has_sensory),
              {}};
  make_directories(out);
  for (const auto& [path, images] : files) {
    write_film(path, images, drawing.seconds_per_frame, description);
    shown.files.push_back(path);
  }
  return shown;
}

}  // namespace aurora
