// A new encoder for the container of a finished run, trained from scratch, as the paper does to
// find out why a two-dimensional latent space is tangled (claim C17).
//
// In a run the encoder is trained again and again while the container grows. Here one of the same
// kind begins with fresh weights and sees the final container alone. It is written beside the run:
//
//   retrained/manifest.json  settings, losses, and which container it was
//   retrained/...            ids, descriptors and reconstruction errors, a row per individual
//   retrained/encoder/       weights and scaling, as in the run's own encoder/
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "aurora/encoders/encoder.hpp"
#include "aurora/runs/parts.hpp"

namespace aurora {

/// A from-scratch training goes on until it stops getting better: it has no later update to catch
/// up in, as the updates of a run have.
struct RetrainOptions {
  std::uint32_t seed = 1;  // with the run's own: another one gives other weights
  std::optional<std::size_t> dimension = std::nullopt;  // the run's, unless said
  std::size_t epochs = 200;                             // at most
  std::size_t patience = 20;       // epochs without a lower validation loss before it stops
  std::size_t threads = 1;         // changes no result
  std::filesystem::path out = {};  // RUN/retrained, unless said
  bool force = false;              // replace a re-training that has other settings
  std::function<void(std::size_t individuals)> begins = {};  // called before it takes long
  AfterEpoch after_epoch = {};
};

struct Retrained {
  std::filesystem::path directory;
  std::string container_hash;  // of the container that it is about
  RetrainOptions options;      // as they were; settings alone
  TrainingReport training;
  bool was_there = false;  // the very same had been written before, and was left alone
};

/// Trains and writes, unless the very same is there already. UsageError if the descriptors of the
/// run are hand-coded, FileError or DataError if it is no run, not finished, has nothing to train
/// on, or something else is in the place of the result.
Retrained retrain(const Parts& parts, const std::filesystem::path& run,
                  const RetrainOptions& options);

/// Reads what retrain() wrote, and holds all of its files against the checksums.
Retrained load_retrained(const std::filesystem::path& directory);

/// Whether RUN/retrained is there and about the container that the run has now.
bool is_retrained(const std::filesystem::path& run);

}  // namespace aurora
