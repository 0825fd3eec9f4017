// A group of 16 individuals through the fully connected auto-encoder and back; compiled once per
// instruction set.
#if defined(AURORA_ENCODERS_NATIVE_MLP_NETWORK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_ENCODERS_NATIVE_MLP_NETWORK_INL_HPP
#undef AURORA_ENCODERS_NATIVE_MLP_NETWORK_INL_HPP
#else
#define AURORA_ENCODERS_NATIVE_MLP_NETWORK_INL_HPP
#endif

#include <cstddef>

#include "aurora/encoders/native/compare_inl.hpp"
#include "aurora/encoders/native/dense_inl.hpp"
#include "aurora/encoders/native/mlp_network.hpp"
#include "aurora/encoders/native/pack_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::native::HWY_NAMESPACE {

template <class T>
void run_network(const MlpNetwork<T>& net, Pass pass, const Group& group, MlpScratch<T>& s,
                 T* gradient) {
  pack(group, net.dense.front().in, s.values[0].data());
  const std::size_t last = pass == Pass::descriptor ? net.encoder_layers : net.dense.size();
  LineVector<T>& code = s.values[net.encoder_layers];
  for (std::size_t k = 0; k < last; ++k) {
    if (k == net.encoder_layers) enter_latent(group, s.latent, code);
    T* output = k + 1 == net.encoder_layers ? s.latent.head(code) : s.values[k + 1].data();
    dense(net.dense[k], net.parameters, s.values[k].data(), output);
  }
  if (pass == Pass::descriptor || pass == Pass::picture) return;
  compare(s.values.front().data(), s.values.back().data(), s.values.back().size(), group.count,
          s.gradients.back().data(), s.squares.data());
  if (pass != Pass::gradient) return;
  for (std::size_t k = net.dense.size(); k-- > 0;) {
    const T* output_gradient = k + 1 == net.encoder_layers
                                   ? leave_latent(group, s.latent, code, s.gradients[k + 1])
                                   : s.gradients[k + 1].data();
    dense_weight_gradient(net.dense[k], s.values[k].data(), output_gradient, s.transposed.data(),
                          gradient);
    if (k == 0) break;
    dense_input_gradient(net.dense[k], net.parameters, output_gradient,
                         net.dense[k - 1].relu ? s.values[k].data() : nullptr,
                         s.gradients[k].data());
  }
}

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
