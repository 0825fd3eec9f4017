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
    // Memory likes it sorted.
    std::ranges::sort(validation);
  }
  report.validation = validation.size();
  model.reset_optimiser();
  if (!validation.empty()) report.validation_loss = model.loss(validation).sum();
  if (config.training == Training::none) {
    report.train_loss = model.loss(training).sum();
    if (validation.empty()) report.validation_loss = report.train_loss;
    return report;
  }

  model.keep_weights();
  bool best_is_last = true;
  double reached = report.validation_loss;  // when the last progress was made
  std::size_t waited = 0;
  while (report.epochs < config.epochs && waited < config.patience) {
    if (model.begin_epoch() && !validation.empty()) {
      report.validation_loss = reached = model.loss(validation).sum();
      model.keep_weights();
      waited = 0;
    }
    report.train_loss = run_epoch(model, training, config.batch, stream);
    ++report.epochs;
    if (validation.empty()) {
      // The last weights count, unless the training diverged.
      report.validation_loss = report.train_loss;
      best_is_last = std::isfinite(report.train_loss);
      if (!best_is_last) waited = config.patience;
    } else {
      const double loss = model.loss(validation).sum();
      best_is_last = loss < report.validation_loss;
      if (best_is_last) {
        report.validation_loss = loss;
        model.keep_weights();
      }
      const bool progress = loss < reached * (1 - config.progress);
      waited = progress ? 0 : waited + 1;
      if (progress) reached = loss;
    }
    if (after_epoch) after_epoch(report);
  }
  if (!best_is_last) model.restore_weights();
  return report;
}

std::vector<std::uint32_t> some_rows(std::size_t rows) {
  constexpr std::size_t kLookedAt = 1024;
  std::vector<std::uint32_t> some(std::min(rows, kLookedAt));
  for (std::size_t i = 0; i < some.size(); ++i) {
    some[i] = static_cast<std::uint32_t>(i * rows / some.size());
  }
  return some;
}

double explained(Trainable& model, const AutoencoderLayout& layout, const InputScaling& scaling,
                 SensoryView data) {
  const std::vector<std::uint32_t> rows = some_rows(data.rows());
  const double variance = spread(layout, scaling, data, rows);
  return variance > 0 ? 1 - model.loss(rows).error / variance : 1;
}

}  // namespace aurora
