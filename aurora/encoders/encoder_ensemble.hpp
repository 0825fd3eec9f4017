// Several encoders side by side: a descriptor is what each of them says, one after the other.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "aurora/encoders/encoder.hpp"

namespace aurora {

class EncoderEnsemble final : public Encoder {
 public:
  /// UsageError if there are none, or their dimensions differ.
  explicit EncoderEnsemble(std::vector<std::unique_ptr<Encoder>> encoders);

  /// From here on every encoder learns from a part of the data of its own. Which part an individual
  /// is in follows from its sensory data: it is the same at every training.
  void learn_from_shares() { shares_ = true; }

  /// That of all together.
  std::size_t dimension() const override;
  /// One after the other. Counts are those of all together, losses and the rest are means.
  TrainingReport train(const TrainingSet& set, Stream& stream, Workers& workers,
                       const AfterEpoch& after_epoch = {}) override;
  /// The error is the mean of theirs.
  void encode(SensoryView data, MatrixView<float> descriptors, std::span<float> error,
              Workers& workers) const override;
  /// The mean of what they say.
  void reconstruct(SensoryView data, MatrixView<float> out, Workers& workers) const override;
  /// Those of the first encoder are called 1.NAME, and so on.
  std::vector<NamedArray> state() const override;
  void set_state(std::span<const NamedArray> state) override;

 private:
  std::vector<std::unique_ptr<Encoder>> encoders_;
  bool shares_ = false;
};

}  // namespace aurora
