#include "aurora/encoders/torch_autoencoder.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "aurora/encoders/adam.hpp"
#include "aurora/encoders/autoencoder_layout.hpp"
#include "aurora/encoders/encoder_state.hpp"
#include "aurora/encoders/lane_sums.hpp"
#include "aurora/encoders/scaling.hpp"
#include "aurora/encoders/training.hpp"

namespace aurora {
namespace {

// Rows that go through the network together: enough to hide most of libtorch's cost per call (32
// are about 10 % faster a row), few enough that a mini-batch of 32 feeds two threads. Part of the
// bits.
constexpr std::size_t kChunk = 16;
// Chunks whose gradients are held at the same time; bounds the memory of large mini-batches.
constexpr std::size_t kWave = 16;

/// libtorch's setting is per thread, and read anew by its back ends at each call.
void use_one_thread() {
  at::set_num_threads(1);
}

std::int64_t signed_size(std::size_t n) {
  return static_cast<std::int64_t>(n);
}

std::vector<std::int64_t> signed_sizes(const std::vector<std::size_t>& sizes) {
  return {sizes.begin(), sizes.end()};
}

/// The layers as libtorch sees them. Tensors look at memory owned by somebody else: the parameters
/// and, if given, the place where autograd adds up their gradient.
class Network {
 public:
  Network(const AutoencoderLayout& layout, float* parameters, float* gradient = nullptr)
      : layout_(&layout) {
    const auto view = [&](const std::vector<std::int64_t>& sizes, std::size_t count) {
      at::Tensor tensor = at::from_blob(parameters, sizes);
      parameters += count;
      if (gradient != nullptr) {
        tensor.requires_grad_();
        tensor.mutable_grad() = at::from_blob(gradient, sizes);
        gradient += count;
      }
      return tensor;
    };
    for (const LayerSpec& layer : layout.layers) {
      const std::int64_t outputs = signed_size(layer.outputs);
      weights_.push_back(view(layer.convolution ? signed_sizes(layer.weight_shape)
                                                : std::vector{outputs, signed_size(layer.fan_in)},
                              layer.weights()));
      biases_.push_back(view({outputs}, layer.outputs));
    }
  }

  /// {rows, features} -> {rows, dimension}; of a variational encoder also the logarithms of the
  /// variances, {rows, 2 dimension}
  /// `lengths`: {rows}, how many steps of each sequence count, if it is masked.
  at::Tensor encode(at::Tensor x, const at::Tensor& lengths) const {
    std::size_t i = 0;
    if (layout_->kind == AutoencoderKind::lstm_ae) return encode_recurrently(x, lengths);
    if (layout_->kind == AutoencoderKind::conv1d_ae) {
      x = steps_of(x).permute({0, 2, 1});
      const std::int64_t steps = signed_size(padded_extent(layout_->input.extents[0]));
      x = at::constant_pad_nd(x, {0, steps - x.size(2)});
      for (; i < 3; ++i) x = at::relu(at::conv1d(x, kernel(i), biases_[i], 2, 1));
      x = x.permute({0, 2, 1}).reshape({x.size(0), -1});
    }
    if (layout_->kind == AutoencoderKind::conv_ae) {
      const auto& extents = layout_->input.extents;
      // Channels last in memory, as the data is: no copy here and the faster kernels in libtorch.
      x = x.view({x.size(0), signed_size(extents[0]), signed_size(extents[1]),
                  signed_size(extents[2])})
              .permute({0, 3, 1, 2});
      x = pad(x);
      for (; layout_->layers[i].convolution; ++i) x = at::max_pool2d(at::relu(apply(i, x)), 2);
      x = x.permute({0, 2, 3, 1}).reshape({x.size(0), -1});
    }
    for (; i + 1 < layout_->encoder_layers; ++i) x = at::relu(apply(i, x));
    return apply(i, x);
  }

  /// {rows, dimension} -> {rows, features}
  at::Tensor decode(at::Tensor x) const {
    std::size_t i = layout_->encoder_layers;
    const std::size_t last = layout_->layers.size() - 1;
    if (layout_->kind == AutoencoderKind::lstm_ae) return decode_recurrently(x);
    if (layout_->kind == AutoencoderKind::conv1d_ae) {
      for (; i + 3 <= last; ++i) x = at::relu(apply(i, x));
      const auto& map = layout_->layers[i - 1].bias_shape;  // steps, channels
      x = x.view({x.size(0), signed_size(map[0]), signed_size(map[1])}).permute({0, 2, 1});
      for (; i <= last; ++i) {
        x = at::upsample_nearest1d(x, c10::nullopt, std::vector{2.0});
        x = at::conv1d(x, kernel(i), biases_[i], 1, 1);
        if (i < last) x = at::relu(x);
      }
      return x.narrow(2, 0, signed_size(layout_->input.extents[0]))
          .permute({0, 2, 1})
          .reshape({x.size(0), -1});
    }
    for (; i < last && !layout_->layers[i].convolution; ++i) x = at::relu(apply(i, x));
    if (layout_->kind == AutoencoderKind::mlp_ae) return apply(last, x);
    const auto& map = layout_->layers[i - 1].bias_shape;  // height, width, channels
    x = x.view({x.size(0), signed_size(map[0]), signed_size(map[1]), signed_size(map[2])})
            .permute({0, 3, 1, 2});
    for (; i < last; ++i) {
      x = at::upsample_nearest2d(at::relu(apply(i, x)), c10::nullopt, std::vector{2.0, 2.0});
    }
    const auto& extents = layout_->input.extents;
    return apply(last, x)
        .narrow(2, 0, signed_size(extents[0]))
        .narrow(3, 0, signed_size(extents[1]))
        .permute({0, 2, 3, 1})
        .reshape({x.size(0), -1});
  }

 private:
  at::Tensor steps_of(const at::Tensor& x) const {
    return x.view({x.size(0), signed_size(layout_->input.extents[0]),
                   signed_size(layout_->input.extents[1])});
  }
  /// A convolution along time: {outputs, inputs, steps}
  at::Tensor kernel(std::size_t i) const {
    return weights_[i].view(signed_sizes(layout_->layers[i].weight_shape)).permute({0, 2, 1});
  }

  struct State {
    at::Tensor hidden, cell;  // {rows, units}
  };
  State still(std::int64_t rows) const {
    const std::int64_t units = signed_size(layout_->layers[0].outputs / 4);
    return {at::zeros({rows, units}), at::zeros({rows, units})};
  }
  State step(std::size_t layer, const at::Tensor& input, const State& before) const {
    const auto gates = apply(layer, at::cat({input, before.hidden}, 1)).chunk(4, 1);
    const at::Tensor cell =
        at::sigmoid(gates[1]) * before.cell + at::sigmoid(gates[0]) * at::tanh(gates[2]);
    return {at::sigmoid(gates[3]) * at::tanh(cell), cell};
  }
  at::Tensor encode_recurrently(const at::Tensor& x, const at::Tensor& lengths) const {
    const at::Tensor steps = steps_of(x);
    State state = still(x.size(0));
    for (std::int64_t t = 0; t < steps.size(1); ++t) {
      const State next = step(0, steps.select(1, t), state);
      if (!lengths.defined()) {
        state = next;
        continue;
      }
      const at::Tensor goes = lengths.gt(t).unsqueeze(1);
      state = {at::where(goes, next.hidden, state.hidden), at::where(goes, next.cell, state.cell)};
    }
    return apply(1, state.hidden);
  }
  at::Tensor decode_recurrently(const at::Tensor& code) const {
    std::vector<at::Tensor> said;
    State state = still(code.size(0));
    for (std::size_t t = 0; t < layout_->input.extents[0]; ++t) {
      state = step(2, code, state);
      said.push_back(apply(3, state.hidden));
    }
    return at::cat(said, 1);
  }

  /// Zeros below and on the right, up to what the poolings halve.
  at::Tensor pad(const at::Tensor& x) const {
    const auto& extents = layout_->input.extents;
    const std::int64_t below = signed_size(padded_extent(extents[0]) - extents[0]);
    const std::int64_t right = signed_size(padded_extent(extents[1]) - extents[1]);
    if (below == 0 && right == 0) return x;
    return at::constant_pad_nd(x, {0, right, 0, below});
  }
  at::Tensor apply(std::size_t i, const at::Tensor& x) const {
    return layout_->layers[i].convolution ? at::conv2d(x, weights_[i], biases_[i], 1, 1)
                                          : at::linear(x, weights_[i], biases_[i]);
  }

  const AutoencoderLayout* layout_;
  std::vector<at::Tensor> weights_;
  std::vector<at::Tensor> biases_;
};

/// A buffer of scaled rows that libtorch looks at.
class InputBuffer {
 public:
  explicit InputBuffer(std::size_t features) : features_(features), values_(kChunk * features) {}

  std::span<float> row(std::size_t i) {
    return std::span(values_).subspan(i * features_, features_);
  }
  at::Tensor tensor(std::size_t rows) {
    return at::from_blob(values_.data(), {signed_size(rows), signed_size(features_)});
  }

 private:
  std::size_t features_;
  std::vector<float> values_;
};

/// The descriptor in what the encoder says.
at::Tensor descriptor_of(const AutoencoderLayout& layout, const at::Tensor& said) {
  return said.narrow(1, 0, signed_size(layout.dimension));
}

/// Of each row, the steps before the first whose last channel is below one half, as sensed.
at::Tensor lengths_of(const AutoencoderLayout& layout, const InputScaling& scaling,
                      const at::Tensor& x) {
  if (!layout.masked) return {};
  const auto& extents = layout.input.extents;
  at::Tensor lengths = at::zeros({x.size(0)}, at::kLong);
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    std::size_t t = 0;
    for (; t < extents[0]; ++t) {
      const std::size_t j = (t + 1) * extents[1] - 1;
      const float sensed = x[i][signed_size(j)].item<float>() / scaling.scale[j] + scaling.mean[j];
      if (sensed < 0.5F) break;
    }
    lengths[i] = signed_size(t);
  }
  return lengths;
}

/// `said` where there was something to say, `x` elsewhere.
at::Tensor where_it_counts(const AutoencoderLayout& layout, const at::Tensor& lengths,
                           const at::Tensor& said, const at::Tensor& x) {
  if (!lengths.defined()) return said;
  const std::int64_t channels = signed_size(layout.input.extents[1]);
  const at::Tensor step = at::arange(x.size(1)).div(channels, "floor").unsqueeze(0);
  return at::where(step.lt(lengths.unsqueeze(1)), said, x);
}

/// What else than the rows a chunk's loss depends on.
struct ChunkExtras {
  at::Tensor noise;            // {rows, dimension}, or none
  std::vector<float> fitness;  // of the rows, for triplets
  bool plain = false;          // a variational encoder has no divergence here
};

/// Sums over a chunk.
struct ChunkLoss {
  at::Tensor error;   // squared, of the reconstruction
  at::Tensor latent;  // weighted; none if there is no such loss

  at::Tensor sum() const { return latent.defined() ? error + latent : error; }
};

/// Of each row in turn and the next two, max(0, |row - nearer|^2 - |row - other|^2 + margin), where
/// `nearer` is of nearer fitness; summed.
at::Tensor triplet_loss(const at::Tensor& code, const std::vector<float>& fitness, double margin) {
  at::Tensor sum = at::zeros({}, code.options());
  const std::size_t count = fitness.size();
  for (std::size_t a = 0; a < count && count > 2; ++a) {
    std::size_t nearer = (a + 1) % count, other = (a + 2) % count;
    const float to_nearer = std::abs(fitness[nearer] - fitness[a]);
    const float to_other = std::abs(fitness[other] - fitness[a]);
    if (to_nearer == to_other) continue;
    if (to_other < to_nearer) std::swap(nearer, other);
    const auto distance = [&](std::size_t to) {
      return (code[signed_size(a)] - code[signed_size(to)]).square().sum();
    };
    sum = sum + at::relu(distance(nearer) - distance(other) + margin);
  }
  return sum;
}

ChunkLoss chunk_loss(const AutoencoderLayout& layout, const InputScaling& scaling,
                     const Network& network, const at::Tensor& x, const ChunkExtras& extras) {
  const at::Tensor lengths = lengths_of(layout, scaling, x);
  const at::Tensor said = network.encode(x, lengths);
  const at::Tensor mean = descriptor_of(layout, said);
  at::Tensor code = mean;
  at::Tensor latent;
  if (layout.latent.variational() && !extras.plain) {
    const at::Tensor log_variance =
        said.narrow(1, signed_size(layout.dimension), signed_size(layout.dimension));
    if (extras.noise.defined()) code = mean + at::exp(0.5 * log_variance) * extras.noise;
    latent = 0.5 * (mean.square() + at::exp(log_variance) - 1 - log_variance).sum();
  } else if (layout.latent.loss == LatentLoss::triplets) {
    latent = triplet_loss(code, extras.fitness, layout.latent.margin);
  }
  const at::Tensor picture = where_it_counts(layout, lengths, network.decode(code), x);
  const at::Tensor error = at::mse_loss(picture, x, at::Reduction::Sum);
  return {error, latent.defined() ? layout.latent.weight * latent : latent};
}

/// What one chunk of a mini-batch needs to compute its gradient while others compute theirs.
struct Replica {
  std::vector<float> gradient;
  Network network;
  InputBuffer input;
  double error = 0;

  Replica(const AutoencoderLayout& layout, float* parameters)
      : gradient(layout.parameters()),
        network(layout, parameters, gradient.data()),
        input(layout.input.size()) {}
};

class TorchTrainer final : public Trainable {
 public:
  TorchTrainer(const AutoencoderLayout& layout, const InputScaling& scaling,
               std::vector<float>& parameters, double learning_rate, const TrainingSet& set,
               Stream& stream, Workers& workers)
      : layout_(layout),
        scaling_(scaling),
        parameters_(parameters),
        adam_(learning_rate),
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
    gradient_.assign(parameters_.size(), 0.0F);
    const bool noisy = layout_.latent.variational() && !plain_;
    noise_.resize(noisy ? rows.size() * layout_.dimension : 0);
    for (float& value : noise_) value = static_cast<float>(stream_.normal());
    const double values = value_count(rows.size());
    double error = 0;
    for (std::size_t begin = 0; begin < rows.size(); begin += kWave * kChunk) {
      const auto wave = rows.subspan(begin, std::min(rows.size() - begin, kWave * kChunk));
      error += add_gradient(wave, begin, values);
    }
    adam_.step(parameters_, gradient_);
    return error / values;
  }

  Loss loss(std::span<const std::uint32_t> rows) override {
    const Network network(layout_, parameters_.data());
    std::vector<Loss> losses((rows.size() + kChunk - 1) / kChunk);
    workers_.parallel_for(rows.size(), kChunk, [&](std::size_t begin, std::size_t end) {
      use_one_thread();
      const c10::InferenceMode no_gradient;
      InputBuffer input(layout_.input.size());
      const auto some = rows.subspan(begin, end - begin);
      fill(input, some);
      const ChunkLoss loss = chunk_loss(layout_, scaling_, network, input.tensor(some.size()),
                                        {{}, fitness_of(some), plain_});
      losses[begin / kChunk] = {loss.error.item<float>(),
                                loss.latent.defined() ? loss.latent.item<float>() : 0};
    });
    Loss sum;
    for (const Loss& loss : losses) sum += loss;
    return sum / value_count(rows.size());
  }

  void keep_weights() override { kept_ = parameters_; }
  // The networks look at the memory of parameters_: copy into it, never swap.
  void restore_weights() override { std::ranges::copy(kept_, parameters_.begin()); }

 private:
  double value_count(std::size_t rows) const {
    return static_cast<double>(rows) * static_cast<double>(layout_.input.size());
  }

  void fill(InputBuffer& input, std::span<const std::uint32_t> rows) const {
    for (std::size_t i = 0; i < rows.size(); ++i) scaling_.apply(set_.data, rows[i], input.row(i));
  }

  std::vector<float> fitness_of(std::span<const std::uint32_t> rows) const {
    std::vector<float> fitness;
    if (set_.fitness.empty()) return fitness;
    for (const std::uint32_t row : rows) fitness.push_back(set_.fitness[row]);
    return fitness;
  }

  /// Of `count` rows of the mini-batch from `first` on.
  at::Tensor noise_of(std::size_t first, std::size_t count) {
    if (noise_.empty()) return {};
    return at::from_blob(noise_.data() + first * layout_.dimension,
                         {signed_size(count), signed_size(layout_.dimension)});
  }

  /// Adds the gradient of the loss of these rows, the mini-batch's from `first` on, / `values`;
  /// returns the loss.
  double add_gradient(std::span<const std::uint32_t> rows, std::size_t first, double values) {
    const std::size_t chunks = (rows.size() + kChunk - 1) / kChunk;
    while (replicas_.size() < chunks) {
      replicas_.push_back(std::make_unique<Replica>(layout_, parameters_.data()));
    }
    workers_.parallel_for(rows.size(), kChunk, [&](std::size_t begin, std::size_t end) {
      use_one_thread();
      Replica& replica = *replicas_[begin / kChunk];
      std::ranges::fill(replica.gradient, 0.0F);
      const auto some = rows.subspan(begin, end - begin);
      fill(replica.input, some);
      const at::Tensor error =
          chunk_loss(layout_, scaling_, replica.network, replica.input.tensor(some.size()),
                     {noise_of(first + begin, some.size()), fitness_of(some), plain_})
              .sum();
      (error / values).backward();
      replica.error = error.item<float>();
    });
    double sum = 0;
    for (std::size_t c = 0; c < chunks; ++c) {
      sum += replicas_[c]->error;
      const std::vector<float>& part = replicas_[c]->gradient;
      for (std::size_t i = 0; i < part.size(); ++i) gradient_[i] += part[i];
    }
    return sum;
  }

  const AutoencoderLayout& layout_;
  const InputScaling& scaling_;
  std::vector<float>& parameters_;
  Adam adam_;
  const TrainingSet& set_;
  Stream& stream_;
  Workers& workers_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<float> gradient_;
  std::vector<float> noise_;  // of the mini-batch, for variational encoders
  std::vector<float> kept_;
  bool plain_ = false;  // a variational encoder that does not explain anything yet
};

class TorchAutoencoder final : public Encoder {
 public:
  TorchAutoencoder(const AutoencoderConfig& config, AutoencoderLayout layout, Stream& stream)
      : config_(config),
        layout_(std::move(layout)),
        scaling_(InputScaling::identity(layout_.input.size())),
        parameters_(draw_parameters(layout_, stream)) {}

  std::size_t dimension() const override { return layout_.dimension; }

  TrainingReport train(const TrainingSet& set, Stream& stream, Workers& workers,
                       const AfterEpoch& after_epoch) override {
    check_training_set(layout_, set);
    scaling_ = InputScaling::fit(set.data, workers);
    TorchTrainer trainer(layout_, scaling_, parameters_, config_.learning_rate, set, stream,
                         workers);
    return fit(trainer, set.data.rows(), config_, stream, after_epoch);
  }

  void encode(SensoryView data, MatrixView<float> descriptors, std::span<float> error,
              Workers& workers) const override {
    check_shape(layout_.input, data);
    check_outputs(data.rows(), dimension(), descriptors, error);
    for_chunks(
        data, workers,
        [&](const Network& network, const at::Tensor& x, std::size_t begin, std::size_t count) {
          const at::Tensor lengths = lengths_of(layout_, scaling_, x);
          const at::Tensor latent = descriptor_of(layout_, network.encode(x, lengths)).contiguous();
          std::copy_n(latent.data_ptr<float>(), count * dimension(), descriptors.row(begin).data());
          if (error.empty()) return;
          const at::Tensor difference =
              (where_it_counts(layout_, lengths, network.decode(latent), x) - x).contiguous();
          const std::size_t features = layout_.input.size();
          for (std::size_t i = 0; i < count; ++i) {
            error[begin + i] = lane_norm({difference.data_ptr<float>() + i * features, features});
          }
        });
  }

  void reconstruct(SensoryView data, MatrixView<float> out, Workers& workers) const override {
    check_shape(layout_.input, data);
    check_outputs(data.rows(), layout_.input.size(), out, {});
    for_chunks(
        data, workers,
        [&](const Network& network, const at::Tensor& x, std::size_t begin, std::size_t count) {
          const at::Tensor lengths = lengths_of(layout_, scaling_, x);
          const at::Tensor code = descriptor_of(layout_, network.encode(x, lengths));
          const at::Tensor picture =
              where_it_counts(layout_, lengths, network.decode(code), x).contiguous();
          const float* scaled = picture.data_ptr<float>();
          for (std::size_t i = 0; i < count; ++i) {
            const std::span<float> row = out.row(begin + i);
            for (std::size_t j = 0; j < row.size(); ++j) {
              row[j] = *scaled++ / scaling_.scale[j] + scaling_.mean[j];
            }
          }
        });
  }

  std::vector<NamedArray> state() const override {
    return to_state(layout_, scaling_, parameters_);
  }

  void set_state(std::span<const NamedArray> state) override {
    from_state(state, layout_, scaling_, parameters_);
  }

 private:
  /// Calls body(network, x, begin, count) for every chunk; x holds the scaled rows from `begin` on.
  /// The last chunk is filled up with zeros: matrix products may add in another order for other
  /// sizes, and a row's descriptor must not depend on how many rows come with it.
  template <class Body>
  void for_chunks(SensoryView data, Workers& workers, const Body& body) const {
    // libtorch has no constant tensors; nothing writes to this one.
    const Network network(layout_, const_cast<float*>(parameters_.data()));
    workers.parallel_for(data.rows(), kChunk, [&](std::size_t begin, std::size_t end) {
      use_one_thread();
      const c10::InferenceMode no_gradient;
      InputBuffer input(layout_.input.size());
      for (std::size_t i = begin; i < end; ++i) scaling_.apply(data, i, input.row(i - begin));
      body(network, input.tensor(kChunk), begin, end - begin);
    });
  }

  AutoencoderConfig config_;
  AutoencoderLayout layout_;
  InputScaling scaling_;
  std::vector<float> parameters_;
};

}  // namespace

std::unique_ptr<Encoder> make_torch_autoencoder(const AutoencoderConfig& config,
                                                const SensoryShape& shape, std::size_t dimension,
                                                Stream& stream) {
  use_one_thread();
  return std::make_unique<TorchAutoencoder>(config, autoencoder_layout(config, shape, dimension),
                                            stream);
}

}  // namespace aurora

// What encoder.cpp looks up once this library is loaded.
extern "C" std::unique_ptr<aurora::Encoder> aurora_make_torch_autoencoder(
    const aurora::AutoencoderConfig& config, const aurora::SensoryShape& shape,
    std::size_t dimension, aurora::Stream& stream) {
  return aurora::make_torch_autoencoder(config, shape, dimension, stream);
}
