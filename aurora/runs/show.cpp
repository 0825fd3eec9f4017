#include "aurora/runs/show.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"
#include "aurora/evaluation/replay.hpp"
#include "aurora/pictures/plot.hpp"
#include "aurora/pictures/text.hpp"
#include "aurora/storage/files.hpp"
#include "aurora/storage/film.hpp"
#include "aurora/storage/gif.hpp"
#include "aurora/storage/mp4.hpp"
#include "aurora/storage/paths.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSensorySide = 512;  // a small picture is enlarged to at least this
constexpr std::size_t kGap = 24;           // pixels between data and reconstruction
constexpr std::size_t kDivider = 2;        // the width of a line between them
constexpr std::size_t kNameHeight = 30;    // the strip above with their names
constexpr std::size_t kTextScale = 2;
constexpr Colour kInk = {70, 70, 70};

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

/// Pictures beside each other, enlarged, each under its name and with a line between two of them.
Image beside(const SensoryShape& shape, const std::vector<std::vector<float>>& pictures) {
  const std::size_t height = shape.extents[0];
  const std::size_t width = shape.extents[1];
  const std::size_t side = std::max(height, width);
  const std::size_t enlarge = (kSensorySide + side - 1) / side;
  const std::size_t pitch = width * enlarge + kGap;
  Image all(pictures.size() * pitch - kGap, kNameHeight + height * enlarge);
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    std::vector<std::uint8_t> bytes;
    for (const float value : pictures[i]) {
      bytes.push_back(static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0F, 1.0F))));
    }
    const char* name = i == 0 ? "sensed" : "reconstructed";
    const double middle = static_cast<double>(i * pitch) + static_cast<double>(pitch - kGap) / 2;
    draw_text(all, name, middle - static_cast<double>(text_width(name, kTextScale)) / 2, 8, kInk,
              kTextScale);
    paste(all, to_image(bytes, height, width, shape.extents[2], enlarge), i * pitch, kNameHeight);
    if (i > 0)
      paste(all, Image(kDivider, all.height, kInk), i * pitch - kGap / 2 - kDivider / 2, 0);
  }
  return all;
}

std::string description_of(const fs::path& path) {
  if (path.extension() == ".gif") return gif_description(path);
  return path.extension() == ".mp4" ? mp4_description(path) : film_description(path);
}

std::string bytes_of(const Picture& picture, const std::string& description) {
  const auto make = picture.name.ends_with(".gif") ? gif_bytes : film_bytes;
  return make(picture.images, picture.seconds_per_frame, description);
}

}  // namespace

Viewer::Viewer(const Parts& parts, const fs::path& run, std::optional<std::size_t> at)
    : found_(open_repertoire(parts, run, at)),
      encoder_(open_encoder(found_.plan, run, found_.source)) {
  if (found_.plan.encoder && !encoder_) {
    found_.notes.emplace_back(
        "there is no encoder yet: sensory data comes without its reconstruction");
  }
}

std::vector<std::size_t> Viewer::select(const Wanted& wanted) const {
  const int said = (wanted.best ? 1 : 0) + (wanted.id ? 1 : 0) + (wanted.random ? 1 : 0) +
                   (wanted.ground_truth ? 1 : 0);
  if (said > 1) {
    throw UsageError(
        "the best, one by its id, some at random and the nearest to a place exclude each other: "
        "choose one");
  }
  const Individuals& members = container().individuals;
  if (wanted.id) return {row_of(members.ids, *wanted.id)};
  if (wanted.random) return random_rows(members.size(), *wanted.random);
  if (wanted.ground_truth) {
    return {nearest_to_goal(container(), *wanted.ground_truth, 1).front().row};
  }
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

std::string Viewer::description(std::size_t row) const {
  const Individuals& members = container().individuals;
  return identity(container().task, members.ids[row], members.genotypes.row(row));
}

std::string Viewer::each_picture(std::size_t row, const PicturesWanted& wanted,
                                 const std::function<void(const Picture&)>& take) const {
  const Individuals& members = container().individuals;
  Workers alone;
  const Evaluation again =
      replay(*found_.plan.make_evaluator(alone), found_.plan.spec(), members, row);
  const Drawing drawing = found_.plan.task->draw(members.genotypes.row(row));
  const std::string stem = fmt::format("individual-{}", members.ids[row]);
  if (wanted.stills && !drawing.picture.empty()) take({stem + ".png", {&drawing.picture, 1}});
  if (wanted.film != FilmKind::none && !drawing.film.empty()) {
    take({fmt::format("{}-film.{}", stem, name_of(wanted.film)), drawing.film,
          drawing.seconds_per_frame});
  }
  if (wanted.stills && again.sensory.shape().size() > 0) {
    const Image sensory = sensory_image(again.sensory.view());
    if (!sensory.empty()) take({stem + "-sensory.png", {&sensory, 1}});
  }
  return difference(members, row, again, container().has_sensory);
}

Drawn Viewer::draw(std::size_t row, const PicturesWanted& wanted) const {
  if (wanted.film == FilmKind::mp4) throw UsageError("films as MP4 are written to files alone");
  Drawn drawn;
  drawn.difference = each_picture(row, wanted, [&](const Picture& picture) {
    drawn.files.push_back({picture.name, bytes_of(picture, description(row))});
  });
  return drawn;
}

Shown Viewer::show(std::size_t row, const fs::path& out, FilmKind film) const {
  if (film == FilmKind::mp4) require_ffmpeg();
  const Individuals& members = container().individuals;
  const auto truth = members.ground_truth.row(row);
  Shown shown{members.ids[row], members.fitness[row], {truth.begin(), truth.end()}, {}, {}};
  // Nothing is written before all is drawn and every name is known to be free.
  std::vector<std::function<void()>> writes;
  shown.difference = each_picture(row, {.stills = true, .film = film}, [&](const Picture& picture) {
    const fs::path path = out / picture.name;
    if (path_exists(path) && description_of(path) != description(row)) {
      throw FileError(
          fmt::format("{} exists already and does not show this individual; move it away or choose "
                      "another directory",
                      path.string()));
    }
    shown.files.push_back(path);
    if (path.extension() == ".mp4") {
      const std::vector<Image> frames(picture.images.begin(), picture.images.end());
      writes.push_back([=, this, seconds = picture.seconds_per_frame] {
        write_mp4(path, frames, seconds, description(row));
      });
    } else {
      writes.push_back([path, bytes = bytes_of(picture, description(row))] {
        write_file(path, std::string_view(bytes));
      });
    }
  });
  make_directories(out);
  for (const std::function<void()>& write : writes) write();
  return shown;
}

}  // namespace aurora
