#include "aurora/encoders/native/targets.hpp"
// The first include above must come before Highway's.
#include "aurora/encoders/native/conv_autoencoder.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aurora/encoders/native/conv_autoencoder.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aurora/encoders/native/conv_network_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::native::HWY_NAMESPACE {

void run_conv_network(const ConvNetwork<float>& net, Pass pass, const Group& group,
                      ConvScratch<float>& scratch, float* gradient) {
  run_network(net, pass, group, scratch, gradient);
}

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "aurora/encoders/native/autoencoder.hpp"

namespace aurora {
namespace native {

HWY_EXPORT(run_conv_network);

namespace {

class NativeConv final : public Network {
 public:
  explicit NativeConv(const AutoencoderLayout& layout) : net_(layout) {}

  void set_parameters(const float* parameters) override { net_.set_parameters(parameters); }

  std::unique_ptr<Scratch<float>> make_scratch() const override {
    return std::make_unique<ConvScratch<float>>(net_);
  }

  void run(Pass pass, const Group& group, Scratch<float>& scratch, float* gradient) const override {
    HWY_DYNAMIC_DISPATCH(run_conv_network)
    (net_, pass, group, static_cast<ConvScratch<float>&>(scratch), gradient);
  }

  void picture(const Scratch<float>& scratch, std::size_t lane, float* out) const override {
    const Planes<float>& output = static_cast<const ConvScratch<float>&>(scratch).output;
    for (std::size_t y = 0; y < net_.height; ++y) {
      for (std::size_t x = 0; x < net_.width; ++x) {
        const float* pixel = output.at(y, x) + lane;
        for (std::size_t c = 0; c < net_.colours.count; ++c) *out++ = pixel[c * kLanes];
      }
    }
  }

  std::size_t grain() const override { return 1; }

 private:
  ConvNetwork<float> net_;
};

}  // namespace
}  // namespace native

std::unique_ptr<Encoder> make_native_conv_autoencoder(const AutoencoderConfig& config,
                                                      const SensoryShape& shape,
                                                      std::size_t dimension, Stream& stream) {
  AutoencoderConfig conv = config;
  conv.kind = AutoencoderKind::conv_ae;
  const AutoencoderLayout layout = autoencoder_layout(conv, shape, dimension);
  return native::make_autoencoder(conv, layout, std::make_unique<native::NativeConv>(layout),
                                  stream);
}

}  // namespace aurora
#endif
