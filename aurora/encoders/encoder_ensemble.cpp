#include "aurora/encoders/encoder_ensemble.hpp"

#include <xxhash.h>

#include <algorithm>
#include <string>
#include <utility>

#include "aurora/core/errors.hpp"
#include "aurora/encoders/encoder_state.hpp"

namespace aurora {
namespace {

/// The part of the data that is for encoder `which` of `count`.
struct Share {
  Share(const TrainingSet& set, std::size_t which, std::size_t count) : data(set.data.shape()) {
    data.freeze();
    for (std::size_t row = 0; row < set.data.rows(); ++row) {
      const std::span<const std::byte> bytes = set.data.bytes(row);
      if (XXH3_64bits(bytes.data(), bytes.size()) % count != which) continue;
      data.resize_rows(data.rows() + 1);
      data.fill_row(data.rows() - 1,
                    [&](std::span<std::byte> out) { std::ranges::copy(bytes, out.begin()); });
      if (!set.fitness.empty()) fitness.push_back(set.fitness[row]);
    }
  }

  SensoryData data;
  std::vector<float> fitness;
};

std::string name_prefix_of(std::size_t encoder) {
  return std::to_string(encoder + 1) + ".";
}

/// Adds what one encoder reports to the sums.
void add_to(TrainingReport& sums, const TrainingReport& one) {
  sums.examples += one.examples;
  sums.validation += one.validation;
  sums.epochs += one.epochs;
  sums.train_loss += one.train_loss;
  sums.validation_loss += one.validation_loss;
  sums.extra.resize(one.extra.size());
  for (std::size_t i = 0; i < one.extra.size(); ++i) {
    sums.extra[i].name = one.extra[i].name;
    sums.extra[i].value += one.extra[i].value;
  }
}

}  // namespace

EncoderEnsemble::EncoderEnsemble(std::vector<std::unique_ptr<Encoder>> encoders)
    : encoders_(std::move(encoders)) {
  if (encoders_.empty()) throw UsageError("an ensemble has at least one encoder");
  for (const auto& encoder : encoders_) {
    if (encoder->dimension() != encoders_.front()->dimension()) {
      throw UsageError("the encoders of an ensemble have the same dimension");
    }
  }
}

std::size_t EncoderEnsemble::dimension() const {
  return encoders_.size() * encoders_.front()->dimension();
}

TrainingReport EncoderEnsemble::train(const TrainingSet& set, Stream& stream, Workers& workers,
                                      const AfterEpoch& after_epoch) {
  TrainingReport report;
  for (std::size_t i = 0; i < encoders_.size(); ++i) {
    if (shares_) {
      const Share share(set, i, encoders_.size());
      // Whose share is empty still has to learn the scale of things.
      const bool any = share.data.rows() > 0;
      add_to(report, encoders_[i]->train(any ? TrainingSet(share.data.view(), share.fitness) : set,
                                         stream, workers, after_epoch));
    } else {
      add_to(report, encoders_[i]->train(set, stream, workers, after_epoch));
    }
  }
  const auto count = static_cast<double>(encoders_.size());
  report.train_loss /= count;
  report.validation_loss /= count;
  for (NamedNumber& number : report.extra) number.value /= count;
  return report;
}

void EncoderEnsemble::encode(SensoryView data, MatrixView<float> descriptors,
                             std::span<float> error, Workers& workers) const {
  check_outputs(data.rows(), dimension(), descriptors, error);
  const std::size_t n = encoders_.front()->dimension();
  Matrix<float> one(data.rows(), n);
  std::vector<float> errors(error.size());
  std::ranges::fill(error, 0.0F);
  for (std::size_t i = 0; i < encoders_.size(); ++i) {
    encoders_[i]->encode(data, one, errors, workers);
    for (std::size_t row = 0; row < data.rows(); ++row) {
      std::ranges::copy(one.row(row), descriptors.row(row).subspan(i * n, n).begin());
    }
    for (std::size_t row = 0; row < error.size(); ++row) error[row] += errors[row];
  }
  for (float& value : error) value /= static_cast<float>(encoders_.size());
}

void EncoderEnsemble::reconstruct(SensoryView data, MatrixView<float> out, Workers& workers) const {
  Matrix<float> one(out.rows(), out.cols());
  for (std::size_t i = 0; i < encoders_.size(); ++i) {
    encoders_[i]->reconstruct(data, one, workers);
    for (std::size_t row = 0; row < out.rows(); ++row) {
      for (std::size_t column = 0; column < out.cols(); ++column) {
        const float before = i == 0 ? 0 : out(row, column);
        out(row, column) = before + one(row, column) / static_cast<float>(encoders_.size());
      }
    }
  }
}

std::vector<NamedArray> EncoderEnsemble::state() const {
  std::vector<NamedArray> all;
  for (std::size_t i = 0; i < encoders_.size(); ++i) {
    for (NamedArray& array : encoders_[i]->state()) {
      array.name = name_prefix_of(i) + array.name;
      all.push_back(std::move(array));
    }
  }
  return all;
}

void EncoderEnsemble::set_state(std::span<const NamedArray> state) {
  std::vector<std::vector<NamedArray>> parts(encoders_.size());
  std::size_t known = 0;
  for (std::size_t i = 0; i < encoders_.size(); ++i) {
    for (const NamedArray& array : state) {
      if (!array.name.starts_with(name_prefix_of(i))) continue;
      parts[i].push_back(array);
      parts[i].back().name.erase(0, name_prefix_of(i).size());
      ++known;
    }
  }
  if (known != state.size()) {
    throw DataError("the state of an ensemble of " + std::to_string(encoders_.size()) +
                    " encoders holds an array that is none of theirs");
  }
  for (std::size_t i = 0; i < encoders_.size(); ++i) {
    std::vector<NamedArray> before = encoders_[i]->state();
    try {
      encoders_[i]->set_state(parts[i]);
    } catch (const DataError&) {
      while (i-- > 0) encoders_[i]->set_state(parts[i]);
      throw;
    }
    parts[i] = std::move(before);
  }
}

}  // namespace aurora
