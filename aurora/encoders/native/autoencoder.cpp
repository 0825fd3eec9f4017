#include "aurora/encoders/native/autoencoder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "aurora/encoders/encoder_state.hpp"
#include "aurora/encoders/native/adam.hpp"
#include "aurora/encoders/scaling.hpp"
#include "aurora/encoders/training.hpp"

namespace aurora::native {
namespace {

// Gradients that are added up apart and then in order: the most threads that share a mini-batch,
// and part of the bits.
constexpr std::size_t kShards = 16;

constexpr std::size_t kMostDraws = 5;  // of weights, in an update: there may be nothing to explain

/// Buffers that nobody uses at the moment. The last one given back is the first to go out again, so
/// a thread finds it in its cache.
class ScratchPool {
 public:
  explicit ScratchPool(const Network& network) : network_(network) {}

  std::unique_ptr<Scratch<float>> take() {
    {
      const std::scoped_lock lock(mutex_);
      if (!free_.empty()) {
        auto scratch = std::move(free_.back());
        free_.pop_back();
        return scratch;
      }
    }
    return network_.make_scratch();
  }
  void give_back(std::unique_ptr<Scratch<float>> scratch) {
    const std::scoped_lock lock(mutex_);
    free_.push_back(std::move(scratch));
  }

 private:
  const Network& network_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch<float>>> free_;
};

/// The group of the individuals row(0), row(1), ... row(count - 1) of `data`.
template <class Row>
Group make_group(SensoryView data, const InputScaling& scaling, std::size_t count, const Row& row) {
  Group group{.count = count, .element = data.shape().element, .scaling = &scaling};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    group.rows[lane] = data.bytes(row(lane < count ? lane : 0)).data();
  }
  return group;
}

/// Group g of a list of rows of the set.
Group group_of(const TrainingSet& set, const InputScaling& scaling,
               std::span<const std::uint32_t> rows, std::size_t g) {
  const auto some = rows.subspan(g * kLanes, std::min(kLanes, rows.size() - g * kLanes));
  Group group = make_group(set.data, scaling, some.size(), [&](std::size_t i) { return some[i]; });
  if (set.fitness.empty()) return group;
  for (std::size_t lane = 0; lane < some.size(); ++lane) {
    group.fitness[lane] = set.fitness[some[lane]];
  }
  return group;
}

/// Of the individuals of a group, summed.
Loss loss_of(const Scratch<float>& scratch, std::size_t count) {
  Loss loss;
  for (std::size_t i = 0; i < count; ++i) {
    loss.error += static_cast<double>(scratch.squares[i]);
    loss.latent += static_cast<double>(scratch.latent.loss[i]);
  }
  return loss;
}

class Trainer final : public Trainable {
 public:
  /// `stream`: for the noise of variational encoders.
  Trainer(const AutoencoderLayout& layout, Network& network, ScratchPool& pool,
          const InputScaling& scaling, std::vector<float>& parameters, double learning_rate,
          const TrainingSet& set, Stream& stream, Workers& workers)
      : layout_(layout),
        network_(network),
        pool_(pool),
        scaling_(scaling),
        parameters_(parameters),
        adam_(parameters.size(), learning_rate),
        set_(set),
        stream_(stream),
        workers_(workers) {}

  void reset_optimiser() override {
    adam_.reset();
    plain_ = layout_.latent.variational();
  }

  bool begin_epoch() override {
    if (!plain_) return false;
    plain_ = !(explained(*this, layout_, scaling_, set_.data) >= kExplained);
    return !plain_;
  }

  double step(std::span<const std::uint32_t> rows) override {
    // Shard s takes the groups s, s + shards, ...
    const std::size_t groups = groups_of(rows.size()), shards = std::min(groups, kShards);
    while (gradients_.size() < shards) gradients_.emplace_back(parameters_.size());
    losses_.assign(shards, {});
    const std::size_t noisy = layout_.latent.variational() && !plain_ ? layout_.dimension : 0;
    noise_.resize(rows.size() * noisy);
    for (float& value : noise_) value = static_cast<float>(stream_.normal());
    parts_.clear();
    for (std::size_t s = 0; s < shards; ++s) parts_.push_back(gradients_[s].data());

    workers_.parallel_for(shards, network_.grain(), [&](std::size_t begin, std::size_t end) {
      auto scratch = pool_.take();
      for (std::size_t s = begin; s < end; ++s) {
        std::ranges::fill(gradients_[s], 0.0F);
        for (std::size_t g = s; g < groups; g += shards) {
          Group group = group_of(set_, scaling_, rows, g);
          group.plain = plain_;
          for (std::size_t lane = 0; noisy > 0 && lane < group.count; ++lane) {
            group.noise[lane] = noise_.data() + (g * kLanes + lane) * noisy;
          }
          network_.run(Pass::gradient, group, *scratch, gradients_[s].data());
          losses_[s] += loss_of(*scratch, group.count);
        }
      }
      pool_.give_back(std::move(scratch));
    });

    // The gradient of half the squared error, to that of the mean squared error.
    adam_.step(parameters_, parts_, 2.0 / values(rows.size()));
    network_.set_parameters(parameters_.data());
    return total().sum() / values(rows.size());
  }

  Loss loss(std::span<const std::uint32_t> rows) override {
    const std::size_t groups = groups_of(rows.size());
    losses_.assign(groups, {});
    workers_.parallel_for(groups, network_.grain(), [&](std::size_t begin, std::size_t end) {
      auto scratch = pool_.take();
      for (std::size_t g = begin; g < end; ++g) {
        Group group = group_of(set_, scaling_, rows, g);
        group.plain = plain_;
        network_.run(Pass::error, group, *scratch, nullptr);
        losses_[g] = loss_of(*scratch, group.count);
      }
      pool_.give_back(std::move(scratch));
    });
    return total() / values(rows.size());
  }

  void keep_weights() override { kept_ = parameters_; }
  void restore_weights() override {
    std::ranges::copy(kept_, parameters_.begin());
    network_.set_parameters(parameters_.data());
  }

 private:
  double values(std::size_t rows) const {
    return static_cast<double>(rows) * static_cast<double>(scaling_.mean.size());
  }

  Loss total() const {
    Loss total;
    for (const Loss& loss : losses_) total += loss;
    return total;
  }

  const AutoencoderLayout& layout_;
  Network& network_;
  ScratchPool& pool_;
  const InputScaling& scaling_;
  std::vector<float>& parameters_;
  Adam adam_;
  const TrainingSet& set_;
  Stream& stream_;
  Workers& workers_;
  std::vector<LineVector<float>> gradients_;  // one per shard
  std::vector<const float*> parts_;
  std::vector<Loss> losses_;
  std::vector<float> noise_;
  std::vector<float> kept_;
  bool plain_ = false;  // a variational encoder that does not explain anything yet
};

class NativeAutoencoder final : public Encoder {
 public:
  NativeAutoencoder(const AutoencoderConfig& config, const AutoencoderLayout& layout,
                    std::unique_ptr<Network> network, Stream& stream)
      : config_(config),
        layout_(layout),
        network_(std::move(network)),
        pool_(*network_),
        scaling_(InputScaling::identity(layout.input.size())),
        parameters_(draw_parameters(layout, stream)) {
    network_->set_parameters(parameters_.data());
  }

  std::size_t dimension() const override { return layout_.dimension; }

  TrainingReport train(const TrainingSet& set, Stream& stream, Workers& workers,
                       const AfterEpoch& after_epoch) override {
    check_training_set(layout_, set);
    scaling_ = InputScaling::fit(set.data, workers);
    Trainer trainer(layout_, *network_, pool_, scaling_, parameters_, config_.learning_rate, set,
                    stream, workers);
    TrainingReport report = fit(trainer, set.data.rows(), config_, stream, after_epoch);
    if (config_.redraw) {
      // A layer whose units are all negative says nothing, and learns nothing any more.
      std::size_t redrawn = 0;
      const auto is_dead = [&] {
        return !(explained(trainer, layout_, scaling_, set.data) >= kExplained);
      };
      for (; redrawn < kMostDraws && is_dead(); ++redrawn) {
        parameters_ = draw_parameters(layout_, stream);
        network_->set_parameters(parameters_.data());
        report = fit(trainer, set.data.rows(), config_, stream, after_epoch);
      }
      report.extra.push_back({"redrawn", static_cast<double>(redrawn)});
    }
    if (layout_.latent.loss != LatentLoss::none) {
      report.extra.push_back({"latent_loss", trainer.loss(some_rows(set.data.rows())).latent});
    }
    return report;
  }

  void encode(SensoryView data, MatrixView<float> descriptors, std::span<float> error,
              Workers& workers) const override {
    check_shape(layout_.input, data);
    check_outputs(data.rows(), dimension(), descriptors, error);
    const Pass pass = error.empty() ? Pass::descriptor : Pass::error;
    for_groups(pass, data, workers,
               [&](const Scratch<float>& scratch, std::size_t lane, std::size_t row) {
                 const std::span<float> out = descriptors.row(row);
                 for (std::size_t j = 0; j < out.size(); ++j) {
                   out[j] = scratch.descriptor()[j * kLanes + lane];
                 }
                 if (!error.empty()) error[row] = std::sqrt(scratch.squares[lane]);
               });
  }

  void reconstruct(SensoryView data, MatrixView<float> out, Workers& workers) const override {
    check_shape(layout_.input, data);
    check_outputs(data.rows(), layout_.input.size(), out, {});
    for_groups(Pass::picture, data, workers,
               [&](const Scratch<float>& scratch, std::size_t lane, std::size_t row) {
                 const std::span<float> picture = out.row(row);
                 network_->picture(scratch, lane, picture.data());
                 for (std::size_t j = 0; j < picture.size(); ++j) {
                   picture[j] = picture[j] / scaling_.scale[j] + scaling_.mean[j];
                 }
               });
  }

  std::vector<NamedArray> state() const override {
    return to_state(layout_, scaling_, parameters_);
  }

  void set_state(std::span<const NamedArray> state) override {
    from_state(state, layout_, scaling_, parameters_);
    network_->set_parameters(parameters_.data());
  }

 private:
  /// Takes all rows through the network and calls take(scratch, lane, row) for each.
  template <class Take>
  void for_groups(Pass pass, SensoryView data, Workers& workers, const Take& take) const {
    workers.parallel_for(
        groups_of(data.rows()), network_->grain(), [&](std::size_t begin, std::size_t end) {
          auto scratch = pool_.take();
          for (std::size_t g = begin; g < end; ++g) {
            const std::size_t first = g * kLanes;
            const Group group = make_group(data, scaling_, std::min(kLanes, data.rows() - first),
                                           [&](std::size_t i) { return first + i; });
            network_->run(pass, group, *scratch, nullptr);
            for (std::size_t i = 0; i < group.count; ++i) take(*scratch, i, first + i);
          }
          pool_.give_back(std::move(scratch));
        });
  }

  AutoencoderConfig config_;
  AutoencoderLayout layout_;
  std::unique_ptr<Network> network_;
  mutable ScratchPool pool_;
  InputScaling scaling_;
  std::vector<float> parameters_;
};

}  // namespace

std::unique_ptr<Encoder> make_autoencoder(const AutoencoderConfig& config,
                                          const AutoencoderLayout& layout,
                                          std::unique_ptr<Network> network, Stream& stream) {
  return std::make_unique<NativeAutoencoder>(config, layout, std::move(network), stream);
}

}  // namespace aurora::native
