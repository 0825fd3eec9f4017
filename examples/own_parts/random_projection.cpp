// An encoder: random directions, drawn once. Training finds the mean; `shift` is in encoder.csv.
#include <cmath>

#include "aurora/core/errors.hpp"
#include "examples/own_parts/parts.hpp"

using namespace aurora;

namespace {

class RandomProjection final : public Encoder {
 public:
  explicit RandomProjection(const EncoderContext& context)
      : mean_(context.shape.size()), axes_(context.dimension, context.shape.size()) {
    const double scale = 1 / std::sqrt(static_cast<double>(mean_.size()));
    for (std::size_t i = 0; i < axes_.rows(); ++i) {
      for (float& x : axes_.row(i)) x = static_cast<float>(scale * context.stream.normal());
    }
  }

  std::size_t dimension() const override { return axes_.rows(); }

  TrainingReport train(const TrainingSet& set, Stream&, Workers&, const AfterEpoch&) override {
    const SensoryView data = set.data;
    std::vector<double> sum(mean_.size());
    for (std::size_t i = 0; i < data.rows(); ++i) {
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += data.row<float>(i)[j];
    }
    const float before = mean_[0];
    const auto n = static_cast<double>(data.rows());
    for (std::size_t j = 0; j < sum.size(); ++j) mean_[j] = static_cast<float>(sum[j] / n);
    return {.examples = data.rows(), .epochs = 1, .extra = {{"shift", mean_[0] - before}}};
  }

  void encode(SensoryView data, MatrixView<float> out, std::span<float> error,
              Workers&) const override {
    for (std::size_t i = 0; i < data.rows(); ++i) {
      for (std::size_t a = 0; a < axes_.rows(); ++a) {
        out(i, a) = 0;
        for (std::size_t j = 0; j < mean_.size(); ++j) {
          out(i, a) += axes_(a, j) * (data.row<float>(i)[j] - mean_[j]);
        }
      }
      if (!error.empty()) error[i] = 0;  // it reconstructs nothing, so nothing surprises it
    }
  }

  void reconstruct(SensoryView data, MatrixView<float> out, Workers&) const override {
    for (std::size_t i = 0; i < data.rows(); ++i) std::ranges::copy(mean_, out.row(i).begin());
  }

  std::vector<NamedArray> state() const override {
    const float* end = axes_.data() + axes_.rows() * axes_.cols();
    return {{"mean", {mean_.size()}, mean_},
            {"axes", {axes_.rows(), axes_.cols()}, {axes_.data(), end}}};
  }
  void set_state(std::span<const NamedArray> state) override {
    const bool ours = state.size() == 2 && state[0].shape == std::vector{mean_.size()} &&
                      state[1].shape == std::vector{axes_.rows(), axes_.cols()};
    if (!ours) throw DataError("this is no state of a random projection");
    mean_ = state[0].values;
    std::ranges::copy(state[1].values, axes_.data());
  }

 private:
  std::vector<float> mean_;
  Matrix<float> axes_;  // dimension x features
};

}  // namespace

EncoderEntry random_projection() {
  return part<NoOptions>("random-projection", "random directions, drawn once")
      .refuses([](const NoOptions&, const Mix& mix) {
        const bool floats = mix.task.sensory.element == ElementType::float32;
        return floats ? "" : "the task '" + mix.task.name + "', which senses bytes, not floats";
      })
      .made_by([](const NoOptions&, const EncoderContext& context) {
        return std::make_unique<RandomProjection>(context);
      });
}
