// A group of 16 sequences through the convolutional auto-encoder and back; compiled once per
// instruction set.
#if defined(AURORA_ENCODERS_NATIVE_SEQUENCE_CONV_NETWORK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_ENCODERS_NATIVE_SEQUENCE_CONV_NETWORK_INL_HPP
#undef AURORA_ENCODERS_NATIVE_SEQUENCE_CONV_NETWORK_INL_HPP
#else
#define AURORA_ENCODERS_NATIVE_SEQUENCE_CONV_NETWORK_INL_HPP
#endif

#include <algorithm>
#include <cstddef>

#include "aurora/encoders/native/compare_inl.hpp"
#include "aurora/encoders/native/dense_inl.hpp"
#include "aurora/encoders/native/pack_inl.hpp"
#include "aurora/encoders/native/sequence_conv_network.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::native::HWY_NAMESPACE {

/// Output step t looks at the input from step `stride` t - 1 on.
template <class T>
void slide(const DenseLayer& layer, const T* parameters, std::size_t stride, const Track<T>& input,
           Track<T>& output) {
  for (std::size_t t = 0; t < output.steps; ++t) {
    dense(layer, parameters, input.values.data() + input.at(stride * t - 1),
          output.values.data() + output.at(t));
  }
}

/// Adds the gradient of the layer's parameters, and writes that of its input.
template <class T>
void slide_back(const DenseLayer& layer, const T* parameters, std::size_t stride, Track<T>& input,
                const Track<T>& output, SequenceConvScratch<T>& s, T* gradient) {
  std::ranges::fill(input.slopes, T{0});
  for (std::size_t t = 0; t < output.steps; ++t) {
    const std::size_t first = input.at(stride * t - 1);
    const T* slopes = output.slopes.data() + output.at(t);
    dense_weight_gradient(layer, input.values.data() + first, slopes, s.transposed.data(),
                          gradient);
    dense_input_gradient(layer, parameters, slopes, static_cast<const T*>(nullptr),
                         s.window.data());
    for (std::size_t i = 0; i < layer.in * kLanes; ++i) input.slopes[first + i] += s.window[i];
  }
}

/// Nothing passes a ReLU that was 0.
template <class T>
void mask(Track<T>& track) {
  for (std::size_t i = 0; i < track.slopes.size(); ++i) {
    if (!(track.values[i] > T{0})) track.slopes[i] = T{0};
  }
}

/// Every step twice.
template <class T>
void up_sample(const T* values, Track<T>& to) {
  const std::size_t step = to.channels * kLanes;
  for (std::size_t t = 0; t < to.steps; ++t) {
    std::copy_n(values + t / 2 * step, step, to.values.data() + to.at(t));
  }
}

/// The gradient of `values`, which come out of a ReLU, where they were up-sampled.
template <class T>
void down_sample(const Track<T>& from, const T* values, T* slopes) {
  const std::size_t step = from.channels * kLanes;
  for (std::size_t t = 0; t < from.steps / 2; ++t) {
    const T* twice = from.slopes.data() + from.at(2 * t);
    for (std::size_t i = 0; i < step; ++i, ++values, ++slopes) {
      *slopes = *values > T{0} ? twice[i] + twice[step + i] : T{0};
    }
  }
}

template <class T>
void encode(const SequenceConvNetwork<T>& net, const Group& group, SequenceConvScratch<T>& s) {
  Track<T>& input = s.down.front();
  pack(group, net.steps * net.channels, input.values.data() + input.at(0));
  for (std::size_t i = 0; i < net.kConvolutions; ++i) {
    slide(net.layers[i], net.parameters, 2, s.down[i], s.down[i + 1]);
  }
  const Track<T>& map = s.down.back();
  std::copy_n(map.values.data() + map.at(0), s.values[0].size(), s.values[0].data());
  dense(net.layers[3], net.parameters, s.values[0].data(), s.values[1].data());
  dense(net.layers[4], net.parameters, s.values[1].data(), s.latent.head(s.values[2]));
}

template <class T>
void decode(const SequenceConvNetwork<T>& net, const Group& group, SequenceConvScratch<T>& s) {
  enter_latent(group, s.latent, s.values[2]);
  dense(net.layers[5], net.parameters, s.values[2].data(), s.values[3].data());
  dense(net.layers[6], net.parameters, s.values[3].data(), s.values[4].data());
  for (std::size_t i = 0; i < net.kConvolutions; ++i) {
    up_sample(i == 0 ? s.values[4].data() : s.out[i - 1].values.data() + s.out[i - 1].at(0),
              s.up[i]);
    slide(net.layers[net.kDecoder + i], net.parameters, 1, s.up[i], s.out[i]);
  }
}

template <class T>
void add_gradient(const SequenceConvNetwork<T>& net, const Group& group, SequenceConvScratch<T>& s,
                  T* gradient) {
  for (std::size_t i = net.kConvolutions; i-- > 0;) {
    slide_back(net.layers[net.kDecoder + i], net.parameters, 1, s.up[i], s.out[i], s, gradient);
    Track<T>* before = i == 0 ? nullptr : &s.out[i - 1];
    down_sample(s.up[i], before ? before->values.data() + before->at(0) : s.values[4].data(),
                before ? before->slopes.data() + before->at(0) : s.slopes[4].data());
  }
  for (std::size_t k = 4; k-- > 0;) {
    const DenseLayer& layer = net.layers[net.kConvolutions + k];
    const T* slopes =
        k == 1 ? leave_latent(group, s.latent, s.values[2], s.slopes[2]) : s.slopes[k + 1].data();
    dense_weight_gradient(layer, s.values[k].data(), slopes, s.transposed.data(), gradient);
    const bool relu = k != 2;  // what enters it comes out of one
    dense_input_gradient(layer, net.parameters, slopes, relu ? s.values[k].data() : nullptr,
                         s.slopes[k].data());
  }
  Track<T>& map = s.down.back();
  std::copy_n(s.slopes[0].data(), s.slopes[0].size(), map.slopes.data() + map.at(0));
  for (std::size_t i = net.kConvolutions; i-- > 0;) {
    slide_back(net.layers[i], net.parameters, 2, s.down[i], s.down[i + 1], s, gradient);
    mask(s.down[i]);
  }
}

template <class T>
void run_network(const SequenceConvNetwork<T>& net, Pass pass, const Group& group,
                 SequenceConvScratch<T>& s, T* gradient) {
  encode(net, group, s);
  if (pass == Pass::descriptor) return;
  decode(net, group, s);
  if (pass == Pass::picture) return;
  // Of the padding nothing is compared, and its gradient stays 0.
  Track<T>& said = s.out.back();
  compare(s.down.front().values.data() + s.down.front().at(0), said.values.data() + said.at(0),
          net.steps * net.channels * kLanes, group.count, said.slopes.data() + said.at(0),
          s.squares.data());
  if (pass == Pass::gradient) add_gradient(net, group, s, gradient);
}

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
