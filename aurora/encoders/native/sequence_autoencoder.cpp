#include "aurora/encoders/native/targets.hpp"
// The first include above must come before Highway's.
#include "aurora/encoders/native/sequence_autoencoder.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aurora/encoders/native/sequence_autoencoder.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aurora/encoders/native/lstm_network_inl.hpp"
#include "aurora/encoders/native/sequence_conv_network_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::native::HWY_NAMESPACE {

void run_sequence_conv_network(const SequenceConvNetwork<float>& net, Pass pass, const Group& group,
                               SequenceConvScratch<float>& scratch, float* gradient) {
  run_network(net, pass, group, scratch, gradient);
}

void run_lstm_network(const LstmNetwork<float>& net, Pass pass, const Group& group,
                      LstmScratch<float>& scratch, float* gradient) {
  run_network(net, pass, group, scratch, gradient);
}

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "aurora/encoders/native/autoencoder.hpp"

namespace aurora {
namespace native {

HWY_EXPORT(run_sequence_conv_network);
HWY_EXPORT(run_lstm_network);

namespace {

void copy_lane(const float* values, std::size_t count, std::size_t lane, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = values[i * kLanes + lane];
}

class NativeSequenceConv final : public Network {
 public:
  explicit NativeSequenceConv(const AutoencoderLayout& layout) : net_(layout) {}

  void set_parameters(const float* parameters) override { net_.set_parameters(parameters); }
  std::unique_ptr<Scratch<float>> make_scratch() const override {
    return std::make_unique<SequenceConvScratch<float>>(net_);
  }
  void run(Pass pass, const Group& group, Scratch<float>& scratch, float* gradient) const override {
    HWY_DYNAMIC_DISPATCH(run_sequence_conv_network)
    (net_, pass, group, static_cast<SequenceConvScratch<float>&>(scratch), gradient);
  }
  void picture(const Scratch<float>& scratch, std::size_t lane, float* out) const override {
    const Track<float>& said = static_cast<const SequenceConvScratch<float>&>(scratch).out.back();
    copy_lane(said.values.data() + said.at(0), net_.steps * net_.channels, lane, out);
  }
  std::size_t grain() const override { return 1; }

 private:
  SequenceConvNetwork<float> net_;
};

class NativeLstm final : public Network {
 public:
  explicit NativeLstm(const AutoencoderLayout& layout) : net_(layout) {}

  void set_parameters(const float* parameters) override { net_.set_parameters(parameters); }
  std::unique_ptr<Scratch<float>> make_scratch() const override {
    return std::make_unique<LstmScratch<float>>(net_);
  }
  void run(Pass pass, const Group& group, Scratch<float>& scratch, float* gradient) const override {
    HWY_DYNAMIC_DISPATCH(run_lstm_network)
    (net_, pass, group, static_cast<LstmScratch<float>&>(scratch), gradient);
  }
  void picture(const Scratch<float>& scratch, std::size_t lane, float* out) const override {
    copy_lane(static_cast<const LstmScratch<float>&>(scratch).output.data(),
              net_.steps * net_.channels, lane, out);
  }
  std::size_t grain() const override { return 1; }

 private:
  LstmNetwork<float> net_;
};

}  // namespace
}  // namespace native

std::unique_ptr<Encoder> make_native_sequence_autoencoder(const AutoencoderConfig& config,
                                                          const SensoryShape& shape,
                                                          std::size_t dimension, Stream& stream) {
  const AutoencoderLayout layout = autoencoder_layout(config, shape, dimension);
  std::unique_ptr<native::Network> network;
  if (config.kind == AutoencoderKind::lstm_ae) {
    network = std::make_unique<native::NativeLstm>(layout);
  } else {
    network = std::make_unique<native::NativeSequenceConv>(layout);
  }
  return native::make_autoencoder(config, layout, std::move(network), stream);
}

}  // namespace aurora
#endif
