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

  /// {rows, features} -> {rows, dimension}
  at::Tensor encode(at::Tensor x) const {
    std::size_t i = 0;
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

/// Sum over the chunk of the squared reconstruction error.
at::Tensor squared_error(const Network& network, const at::Tensor& x) {
  return at::mse_loss(network.decode(network.encode(x)), x, at::Reduction::Sum);
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
               std::vector<float>& parameters, double learning_rate, SensoryView data,
               Workers& workers)
      : layout_(layout),
        scaling_(scaling),
        parameters_(parameters),
        adam_(learning_rate),
        data_(data),
        workers_(workers) {}

  void reset_optimiser() override { adam_.reset(); }

  double step(std::span<const std::uint32_t> rows) override {
    gradient_.assign(parameters_.size(), 0.0F);
    const double values = value_count(rows.size());
    double error = 0;
    for (std::size_t begin = 0; begin < rows.size(); begin += kWave * kChunk) {
      const auto wave = rows.subspan(begin, std::min(rows.size() - begin, kWave * kChunk));
      error += add_gradient(wave, values);
    }
    adam_.step(parameters_, gradient_);
    return error / values;
  }

  double loss(std::span<const std::uint32_t> rows) override {
    const Network network(layout_, parameters_.data());
    std::vector<double> errors((rows.size() + kChunk - 1) / kChunk);
    workers_.parallel_for(rows.size(), kChunk, [&](std::size_t begin, std::size_t end) {
      use_one_thread();
      const c10::InferenceMode no_gradient;
      InputBuffer input(layout_.input.size());
      fill(input, rows.subspan(begin, end - begin));
      errors[begin / kChunk] = squared_error(network, input.tensor(end - begin)).item<float>();
    });
    double sum = 0;
    for (const double error : errors) sum += error;
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
    for (std::size_t i = 0; i < rows.size(); ++i) scaling_.apply(data_, rows[i], input.row(i));
  }

  /// Adds the gradient of these rows' squared error / `values`; returns the squared error.
  double add_gradient(std::span<const std::uint32_t> rows, double values) {
    const std::size_t chunks = (rows.size() + kChunk - 1) / kChunk;
    while (replicas_.size() < chunks) {
      replicas_.push_back(std::make_unique<Replica>(layout_, parameters_.data()));
    }
    workers_.parallel_for(rows.size(), kChunk, [&](std::size_t begin, std::size_t end) {
      use_one_thread();
      Replica& replica = *replicas_[begin / kChunk];
      std::ranges::fill(replica.gradient, 0.0F);
      fill(replica.input, rows.subspan(begin, end - begin));
      const at::Tensor error = squared_error(replica.network, replica.input.tensor(end - begin));
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
  SensoryView data_;
  Workers& workers_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<float> gradient_;
  std::vector<float> kept_;
};

class TorchAutoencoder final : public Encoder {
 public:
  TorchAutoencoder(const AutoencoderConfig& config, AutoencoderLayout layout, Stream& stream)
      : config_(config),
        layout_(std::move(layout)),
        scaling_(InputScaling::identity(layout_.input.size())),
        parameters_(draw_parameters(layout_, stream)) {}

  std::size_t dimension() const override { return layout_.dimension; }

  TrainingReport train(SensoryView data, Stream& stream, Workers& workers,
                       const AfterEpoch& after_epoch) override {
    check_shape(layout_.input, data);
    scaling_ = InputScaling::fit(data, workers);
    TorchTrainer trainer(layout_, scaling_, parameters_, config_.learning_rate, data, workers);
    return fit(trainer, data.rows(), config_, stream, after_epoch);
  }

  void encode(SensoryView data, MatrixView<float> descriptors, std::span<float> error,
              Workers& workers) const override {
    check_shape(layout_.input, data);
    check_outputs(data.rows(), dimension(), descriptors, error);
    for_chunks(
        data, workers,
        [&](const Network& network, const at::Tensor& x, std::size_t begin, std::size_t count) {
          const at::Tensor latent = network.encode(x).contiguous();
          std::copy_n(latent.data_ptr<float>(), count * dimension(), descriptors.row(begin).data());
          if (error.empty()) return;
          const at::Tensor difference = (network.decode(latent) - x).contiguous();
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
          const at::Tensor picture = network.decode(network.encode(x)).contiguous();
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
