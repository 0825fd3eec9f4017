// A group of 16 individuals through the fully connected auto-encoder and back; compiled once per
// instruction set.
#if defined(AURORA_ENCODERS_NATIVE_MLP_NETWORK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_ENCODERS_NATIVE_MLP_NETWORK_INL_HPP
#undef AURORA_ENCODERS_NATIVE_MLP_NETWORK_INL_HPP
#else
#define AURORA_ENCODERS_NATIVE_MLP_NETWORK_INL_HPP
#endif

#include <cstddef>

#include "aurora/encoders/native/dense_inl.hpp"
#include "aurora/encoders/native/mlp_network.hpp"
#include "aurora/encoders/native/pack_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::native::HWY_NAMESPACE {

/// difference = output - input in the group's lanes, 0 in others; squares = its sum of squares.
template <class T>
void compare(const LineVector<T>& input, const LineVector<T>& output, std::size_t count,
             LineVector<T>& difference, T* squares) {
  const Tag<T> d;
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
    const auto used = hn::FirstN(d, count > lane ? count - lane : 0);
    auto sum = hn::Zero(d);
    for (std::size_t i = lane; i < input.size(); i += kLanes) {
      const auto difference_i =
          hn::Sub(hn::Load(d, output.data() + i), hn::Load(d, input.data() + i));
      sum = hn::MulAdd(difference_i, difference_i, sum);
      hn::Store(hn::IfThenElseZero(used, difference_i), d, difference.data() + i);
    }
    hn::Store(sum, d, squares + lane);
  }
}

template <class T>
void run_network(const MlpNetwork<T>& net, Pass pass, const Group& group, MlpScratch<T>& s,
                 T* gradient) {
  pack(group, net.dense.front().in, s.values[0].data());
  const std::size_t last = pass == Pass::descriptor ? net.encoder_layers : net.dense.size();
  for (std::size_t k = 0; k < last; ++k) {
    dense(net.dense[k], net.parameters, s.values[k].data(), s.values[k + 1].data());
  }
  if (pass == Pass::descriptor || pass == Pass::picture) return;
  compare(s.values.front(), s.values.back(), group.count, s.gradients.back(), s.squares.data());
  if (pass != Pass::gradient) return;
  for (std::size_t k = net.dense.size(); k-- > 0;) {
    dense_weight_gradient(net.dense[k], s.values[k].data(), s.gradients[k + 1].data(),
                          s.transposed.data(), gradient);
    if (k == 0) break;
    dense_input_gradient(net.dense[k], net.parameters, s.gradients[k + 1].data(),
                         net.dense[k - 1].relu ? s.values[k].data() : nullptr,
                         s.gradients[k].data());
  }
}

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
