// A group of 16 pictures through the convolutional auto-encoder and back; compiled once per
// instruction set.
#if defined(AURORA_ENCODERS_NATIVE_CONV_NETWORK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_ENCODERS_NATIVE_CONV_NETWORK_INL_HPP
#undef AURORA_ENCODERS_NATIVE_CONV_NETWORK_INL_HPP
#else
#define AURORA_ENCODERS_NATIVE_CONV_NETWORK_INL_HPP
#endif

#include <algorithm>
#include <cstddef>

#include "aurora/encoders/native/after_inl.hpp"
#include "aurora/encoders/native/conv_inl.hpp"
#include "aurora/encoders/native/conv_network.hpp"
#include "aurora/encoders/native/dense_inl.hpp"
#include "aurora/encoders/native/pack_inl.hpp"
#include "aurora/encoders/native/pooled_conv_inl.hpp"
#include "aurora/encoders/native/up_conv_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::native::HWY_NAMESPACE {

/// Between maps with their border and the flat values of a linear layer, (y, x, channel).
template <class T>
void flatten(const Planes<T>& map, T* out) {
  const std::size_t row = map.width * map.pixel_stride();
  for (std::size_t y = 0; y < map.height; ++y) std::copy_n(map.at(y, 0), row, out + y * row);
}
template <class T>
void unflatten(const T* values, Planes<T>& map) {
  const std::size_t row = map.width * map.pixel_stride();
  for (std::size_t y = 0; y < map.height; ++y) std::copy_n(values + y * row, row, map.at(y, 0));
}

template <class T>
void encode(const ConvNetwork<T>& net, const Group& group, bool keep_winners, ConvScratch<T>& s) {
  const std::size_t row = net.width * kColours;
  for (std::size_t y = 0; y < net.height; ++y) pack_bytes(group, y * row, row, s.input.at(y, 0));
  const auto winners = [&](Winners& w) { return keep_winners ? &w : nullptr; };
  pooled_conv<kColours>(s.input, net.encoder[0].forward.data(), net.bias(0), s.e1,
                        winners(s.winners1));
  pooled_conv<kMaps>(s.e1, net.encoder[1].forward.data(), net.bias(1), s.e2, winners(s.winners2));
  pooled_conv<kMaps>(s.e2, net.encoder[2].forward.data(), net.bias(2), s.e3, winners(s.winners3));
  flatten(s.e3, s.values[0].data());
  for (std::size_t k = 0; k < 3; ++k) {
    dense(net.dense[k], net.parameters, s.values[k].data(), s.values[k + 1].data());
  }
}

template <class T>
void decode(const ConvNetwork<T>& net, const Group& group, Pass pass, ConvScratch<T>& s) {
  for (std::size_t k = 3; k < 6; ++k) {
    dense(net.dense[k], net.parameters, s.values[k].data(), s.values[k + 1].data());
  }
  unflatten(s.values[6].data(), s.d0);
  plain_conv<kMaps, kMaps>(s.d0, net.decoder_first.forward.data(), net.bias(9),
                           Store<true, T>(s.d1));
  up_conv<kMaps, kMaps>(s.d1, net.decoder[0], net.bias(10), Store<true, T>(s.d2));
  up_conv<kMaps, kMaps>(s.d2, net.decoder[1], net.bias(11), Store<true, T>(s.d3));
  const UpKernels<T>& last = net.decoder[2];
  const T* bias = net.bias(12);
  T* squares = s.squares.data();
  if (pass == Pass::picture) {
    up_conv<kMaps, kColours>(s.d3, last, bias, Store<false, T>(s.output));
  } else if (pass == Pass::error) {
    up_conv<kMaps, kColours>(s.d3, last, bias,
                             Compare<false, kColours, T>(s.input, group.count, s.output, squares));
  } else {
    up_conv<kMaps, kColours>(s.d3, last, bias,
                             Compare<true, kColours, T>(s.input, group.count, s.output, squares));
  }
}

/// Adds the sums of a convolution's layer to the gradient and clears them.
template <class T, class Kernels>
void add_conv_gradient(const Kernels& kernels, LayerPlace place, ConvScratch<T>& s, T* gradient) {
  kernels.add_gradient(s.weight_sums.data(), gradient + place.weight);
  for (std::size_t o = 0; o < kernels.out; ++o) {
    gradient[place.bias + o] += sum_lanes(s.bias_sums.data() + o * kLanes);
  }
  std::ranges::fill(s.weight_sums, T{0});
  std::ranges::fill(s.bias_sums, T{0});
}

/// Weight and bias of the up-sampling layer between `input` and a picture with this gradient.
template <std::size_t Outs, class T>
void add_up_gradient(const UpKernels<T>& kernels, LayerPlace place, const Planes<T>& input,
                     const Planes<T>& output_gradient, ConvScratch<T>& s, T* gradient) {
  up_conv_weight_gradient<kMaps, Outs>(input, output_gradient, s.weight_sums.data());
  sum_pixels<Outs>(output_gradient, s.bias_sums.data());
  add_conv_gradient(kernels, place, s, gradient);
}

template <class T>
void decoder_gradient(const ConvNetwork<T>& net, ConvScratch<T>& s, T* gradient) {
  add_up_gradient<kColours>(net.decoder[2], net.places[12], s.d3, s.output, s, gradient);
  up_conv_input_gradient<kMaps, kColours>(s.output, net.decoder[2], StoreMasked(s.d3, s.half[0]));
  add_up_gradient<kMaps>(net.decoder[1], net.places[11], s.d2, s.half[0], s, gradient);
  up_conv_input_gradient<kMaps, kMaps>(s.half[0], net.decoder[1], StoreMasked(s.d2, s.quarter[0]));
  add_up_gradient<kMaps>(net.decoder[0], net.places[10], s.d1, s.quarter[0], s, gradient);
  up_conv_input_gradient<kMaps, kMaps>(s.quarter[0], net.decoder[0], StoreMasked(s.d1, s.eighth));

  plain_weight_gradient<kMaps, kMaps>(s.d0, s.eighth, s.weight_sums.data());
  sum_pixels<kMaps>(s.eighth, s.bias_sums.data());
  add_conv_gradient(net.decoder_first, net.places[9], s, gradient);
  const T* no_bias = nullptr;
  plain_conv<kMaps, kMaps>(s.eighth, net.decoder_first.backward.data(), no_bias,
                           StoreMasked(s.d0, s.d1));  // d1 is not needed any more
  flatten(s.d1, s.value_gradients[6].data());
}

template <class T>
void dense_gradient(const ConvNetwork<T>& net, ConvScratch<T>& s, T* gradient) {
  for (std::size_t k = 6; k-- > 0;) {
    const T* output_gradient = s.value_gradients[k + 1].data();
    dense_weight_gradient(net.dense[k], s.values[k].data(), output_gradient, s.transposed.data(),
                          gradient);
    // The input comes out of a ReLU if the layer before has one; the pooled maps see to theirs.
    const bool relu = k > 0 && net.dense[k - 1].relu;
    dense_input_gradient(net.dense[k], net.parameters, output_gradient,
                         relu ? s.values[k].data() : nullptr, s.value_gradients[k].data());
  }
}

/// A pooled convolution that is not the first: parameters, and the gradient of its input.
template <class T>
void pooled_gradient(const PlainKernels<T>& kernels, LayerPlace place, const Planes<T>& input,
                     const Planes<T>& output, const Winners& winners,
                     const Planes<T>& output_gradient, Planes<T>& unpooled,
                     Planes<T>& input_gradient, ConvScratch<T>& s, T* gradient) {
  for (std::size_t y = 0; y < output.height; ++y) {
    unpool_row(output, output_gradient, winners, y, unpooled.at(2 * y, 0), unpooled.row_stride(),
               s.bias_sums.data());
  }
  plain_weight_gradient<kMaps, kMaps>(input, unpooled, s.weight_sums.data());
  add_conv_gradient(kernels, place, s, gradient);
  const T* no_bias = nullptr;
  plain_conv<kMaps, kMaps>(unpooled, kernels.backward.data(), no_bias,
                           Store<false, T>(input_gradient));
}

template <class T>
void encoder_gradient(const ConvNetwork<T>& net, ConvScratch<T>& s, T* gradient) {
  unflatten(s.value_gradients[0].data(), s.eighth);
  pooled_gradient(net.encoder[2], net.places[2], s.e2, s.e3, s.winners3, s.eighth, s.quarter[0],
                  s.quarter[1], s, gradient);
  pooled_gradient(net.encoder[1], net.places[1], s.e1, s.e2, s.winners2, s.quarter[1], s.half[0],
                  s.half[1], s, gradient);
  // The first layer's input needs no gradient: two rows at a time stay in the cache.
  for (std::size_t y = 0; y < s.e1.height; ++y) {
    unpool_row(s.e1, s.half[1], s.winners1, y, s.rows.at(0, 0), s.rows.row_stride(),
               s.bias_sums.data());
    for (std::size_t r = 0; r < 2; ++r) {
      plain_weight_rows<kColours, kMaps>(s.input, 2 * y + r, 1, s.rows.at(r, 0),
                                         s.rows.row_stride(), s.weight_sums.data());
    }
  }
  add_conv_gradient(net.encoder[0], net.places[0], s, gradient);
}

template <class T>
void run_network(const ConvNetwork<T>& net, Pass pass, const Group& group, ConvScratch<T>& scratch,
                 T* gradient) {
  encode(net, group, pass == Pass::gradient, scratch);
  if (pass == Pass::descriptor) return;
  decode(net, group, pass, scratch);
  if (pass != Pass::gradient) return;
  decoder_gradient(net, scratch, gradient);
  dense_gradient(net, scratch, gradient);
  encoder_gradient(net, scratch, gradient);
}

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
