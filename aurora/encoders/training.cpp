#include "aurora/encoders/training.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

constexpr std::size_t kSmallestSplit = 500;  // fewer individuals than this are all trained on

/// One pass over `rows` in random order; returns the mean loss.
double run_epoch(Trainable& model, std::vector<std::uint32_t>& rows, std::size_t batch,
                 Stream& stream) {
  for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[stream.below(i)]);
  double sum = 0;
  for (std::size_t begin = 0; begin < rows.size(); begin += batch) {
    const std::size_t count = std::min(batch, rows.size() - begin);
    sum += model.step(std::span(rows).subspan(begin, count)) * static_cast<double>(count);
  }
  return sum / static_cast<double>(rows.size());
}

}  // namespace

TrainingReport fit(Trainable& model, std::size_t rows, const AutoencoderConfig& config,
                   Stream& stream, const AfterEpoch& after_epoch) {
  if (rows == 0) throw DataError("an encoder cannot be trained on no data");
  std::vector<std::uint32_t> training = stream.permutation(rows);
  training.resize(std::min(rows, config.max_examples));

  TrainingReport report;
  report.examples = training.size();
  std::vector<std::uint32_t> validation;
  if (training.size() >= kSmallestSplit) {
    validation.assign(training.end() - static_cast<std::ptrdiff_t>(training.size() / 4),
                      training.end());
    training.resize(training.size() - validation.size());
    // Validation order does not matter to the loss, but memory likes it sorted.
    std::ranges::sort(validation);
  }
  report.validation = validation.size();

  model.reset_optimiser();
  model.keep_weights();
  if (!validation.empty()) report.validation_loss = model.loss(validation);
  std::size_t since_best = 0;
  while (report.epochs < config.epochs && since_best < config.patience) {
    report.train_loss = run_epoch(model, training, config.batch, stream);
    ++report.epochs;
    if (validation.empty()) {
      // The last weights count, unless the training diverged.
      report.validation_loss = report.train_loss;
      if (!std::isfinite(report.train_loss)) since_best = config.patience;
    } else if (const double loss = model.loss(validation); loss < report.validation_loss) {
      report.validation_loss = loss;
      since_best = 0;
      model.keep_weights();
    } else {
      ++since_best;
    }
    if (after_epoch) after_epoch(report);
  }
  if (since_best > 0) model.restore_weights();
  return report;
}

}  // namespace aurora
