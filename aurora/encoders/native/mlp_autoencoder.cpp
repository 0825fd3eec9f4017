#include "aurora/encoders/native/targets.hpp"
// The first include above must come before Highway's.
#include "aurora/encoders/native/mlp_autoencoder.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aurora/encoders/native/mlp_autoencoder.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aurora/encoders/native/mlp_network_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::native::HWY_NAMESPACE {

void run_mlp_network(const MlpNetwork<float>& net, Pass pass, const Group& group,
                     MlpScratch<float>& scratch, float* gradient) {
  run_network(net, pass, group, scratch, gradient);
}

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "aurora/encoders/native/autoencoder.hpp"

namespace aurora {
namespace native {

HWY_EXPORT(run_mlp_network);

namespace {

class NativeMlp final : public Network {
 public:
  explicit NativeMlp(const AutoencoderLayout& layout)
      : net_(layout), grain_(1 + kWorthWaking / (3 * layout.parameters())) {}

  void set_parameters(const float* parameters) override { net_.set_parameters(parameters); }

  std::unique_ptr<Scratch<float>> make_scratch() const override {
    return std::make_unique<MlpScratch<float>>(net_);
  }

  void run(Pass pass, const Group& group, Scratch<float>& scratch, float* gradient) const override {
    HWY_DYNAMIC_DISPATCH(run_mlp_network)
    (net_, pass, group, static_cast<MlpScratch<float>&>(scratch), gradient);
  }

  void picture(const Scratch<float>& scratch, std::size_t lane, float* out) const override {
    const LineVector<float>& output = static_cast<const MlpScratch<float>&>(scratch).values.back();
    for (std::size_t i = lane; i < output.size(); i += kLanes) *out++ = output[i];
  }

  std::size_t grain() const override { return grain_; }

 private:
  // Register multiply-adds that take about as long as waking a thread, some 50 us.
  static constexpr std::size_t kWorthWaking = 200000;

  MlpNetwork<float> net_;
  std::size_t grain_;
};

}  // namespace
}  // namespace native

std::unique_ptr<Encoder> make_native_mlp_autoencoder(const AutoencoderConfig& config,
                                                     const SensoryShape& shape,
                                                     std::size_t dimension, Stream& stream) {
  AutoencoderConfig mlp = config;
  mlp.kind = AutoencoderKind::mlp_ae;
  const AutoencoderLayout layout = autoencoder_layout(mlp, shape, dimension);
  return native::make_autoencoder(mlp, layout, std::make_unique<native::NativeMlp>(layout), stream);
}

}  // namespace aurora
#endif
