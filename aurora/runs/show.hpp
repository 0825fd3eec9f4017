// Behaviours of a run, one by one: evaluated again, compared with what is stored, and drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
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

/// What came of showing an individual.
struct Shown {
  std::uint64_t id = 0;
  float fitness = 0;                // stored, as is
  std::vector<float> ground_truth;  // this
  std::string difference;           // empty if another evaluation gives the stored bits
  std::vector<std::filesystem::path> files;
};

class Viewer {
 public:
  /// Opens a finished or running run: its container or, while there is none, its newest snapshot
  /// that is whole. FileError if there is no such directory, DataError if nothing in it can be
  /// shown.
  Viewer(const Parts& parts, std::filesystem::path run);

  /// What the user should know about it, a line each.
  const std::vector<std::string>& notes() const { return found_.notes; }
  const SavedContainer& container() const { return found_.container; }
  /// Whether there is an encoder: then sensory data comes with its reconstruction.
  bool reconstructs() const { return encoder_ != nullptr; }

  /// Rows of the container. UsageError if there is no such id (it names the nearest), if more than
  /// one thing is wanted, or if values make no sense.
  std::vector<std::size_t> select(const Wanted& wanted) const;

  /// Evaluates a row again, compares, and writes into the directory `out`, which is made:
  ///   individual-ID.png          the task's picture of the episode  } if the task
  ///   individual-ID-film.apng    the task's film of it (.gif, .mp4) } draws
  ///   individual-ID-sensory.png  sensory data, beside its reconstruction if there is an encoder
  /// FileError, before anything is written, if one of them exists, unless it was written for the
  /// same individual (same task, id and genes): then it is replaced. FileError, before anything is
  /// evaluated, if a film shall be MP4 and there is no ffmpeg.
  Shown show(std::size_t row, const std::filesystem::path& out,
             FilmKind film = FilmKind::apng) const;

 private:
  Image sensory_image(SensoryView sensory) const;

  Repertoire found_;
  std::unique_ptr<Encoder> encoder_;
};

}  // namespace aurora
