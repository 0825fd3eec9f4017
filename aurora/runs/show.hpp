// Behaviours of a run, one by one: evaluated again, compared with what is stored, and drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aurora/core/names.hpp"
#include "aurora/runs/repertoire.hpp"

namespace aurora {

/// Which individuals to show: at most one of these may be said; none is the same as `best`.
struct Wanted {
  bool best = false;  // the highest fitness
  std::optional<std::uint64_t> id = std::nullopt;
  std::optional<std::size_t> random = std::nullopt;  // this many, each at most once
  /// The one nearest to these values of the first axes, in units of the axes' lengths.
  std::optional<std::vector<double>> ground_truth = std::nullopt;
};

/// As what a film is written; MP4 is for machines that have the program ffmpeg.
enum class FilmKind { apng, gif, mp4, none };

template <>
struct Names<FilmKind> {
  static constexpr std::pair<FilmKind, std::string_view> entries[] = {{FilmKind::apng, "apng"},
                                                                      {FilmKind::gif, "gif"},
                                                                      {FilmKind::mp4, "mp4"},
                                                                      {FilmKind::none, "none"}};
};

/// Which pictures of an individual are made.
struct PicturesWanted {
  bool stills = true;  // of the episode and of the sensory data
  FilmKind film = FilmKind::apng;
};

/// What came of drawing an individual.
struct Drawn {
  struct File {
    std::string name;  // "individual-5.png"
    std::string bytes;
  };
  std::string difference;   // empty if another evaluation gives the stored bits
  std::vector<File> files;  // those that there are, in the order of Viewer::draw()
};

/// What came of showing an individual.
struct Shown {
  std::uint64_t id = 0;
  float fitness = 0;                // stored, as is
  std::vector<float> ground_truth;  // this
  std::string difference;           // empty if another evaluation gives the stored bits
  std::vector<std::filesystem::path> files;
};

/// A picture or a film, before it is a file; the ending of its name says how it becomes one.
struct Picture {
  std::string name;
  std::span<const Image> images;
  double seconds_per_frame = 0;
};

class Viewer {
 public:
  /// Opens a finished or running run, as open_repertoire() does.
  Viewer(const Parts& parts, const std::filesystem::path& run,
         std::optional<std::size_t> at = std::nullopt);
  /// What is open already; no encoder, no reconstructions.
  Viewer(Repertoire found, std::unique_ptr<Encoder> encoder)
      : found_(std::move(found)), encoder_(std::move(encoder)) {}

  /// What the user should know about it, a line each.
  const std::vector<std::string>& notes() const { return found_.notes; }
  const SavedContainer& container() const { return found_.container; }
  /// Whether there is an encoder: then sensory data comes with its reconstruction.
  bool reconstructs() const { return encoder_ != nullptr; }

  /// Rows of the container. UsageError if there is no such id (it names the nearest), if more than
  /// one thing is wanted, or if values make no sense.
  std::vector<std::size_t> select(const Wanted& wanted) const;

  /// Evaluates a row again, compares, and draws what is wanted, as files:
  ///   individual-ID.png          the task's picture of the episode  } if the task
  ///   individual-ID-film.apng    the task's film of it (.gif)       } draws
  ///   individual-ID-sensory.png  sensory data, beside its reconstruction if there is an encoder
  /// UsageError if the film shall be MP4: that is made by another program, and as a file alone.
  Drawn draw(std::size_t row, const PicturesWanted& wanted = {}) const;

  /// Draws and writes all of it into the directory `out`, which is made. FileError, before anything
  /// is written, if one of the files exists, unless it was written for the same individual (same
  /// task, id and genes): then it is replaced. FileError, before anything is evaluated, if a film
  /// shall be MP4 and there is no ffmpeg.
  Shown show(std::size_t row, const std::filesystem::path& out,
             FilmKind film = FilmKind::apng) const;

 private:
  Image sensory_image(SensoryView sensory) const;
  /// Hands every picture on as it is, and says what differs.
  std::string each_picture(std::size_t row, const PicturesWanted& wanted,
                           const std::function<void(const Picture&)>& take) const;
  std::string description(std::size_t row) const;

  Repertoire found_;
  std::unique_ptr<Encoder> encoder_;
};

}  // namespace aurora
