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

/// Between the first `channels` channels of maps with their border and the flat values of a linear
/// layer, (y, x, channel).
template <class T>
void flatten(const Planes<T>& map, std::size_t channels, T* out) {
  for (std::size_t y = 0; y < map.height; ++y) {
    for (std::size_t x = 0; x < map.width; ++x) {
      out = std::copy_n(map.at(y, x), channels * kLanes, out);
    }
  }
}
template <class T>
void unflatten(const T* values, std::size_t channels, Planes<T>& map) {
  for (std::size_t y = 0; y < map.height; ++y) {
    for (std::size_t x = 0; x < map.width; ++x, values += channels * kLanes) {
      std::copy_n(values, channels * kLanes, map.at(y, x));
    }
  }
}

/// Channels that pictures have room for.
template <Tiles tiles>
inline constexpr std::size_t kColours = tiles == Tiles::one ? kFewColours : kTile;

template <Tiles tiles, class T>
void encode(const ConvNetwork<T>& net, const Group& group, bool keep_winners, ConvScratch<T>& s) {
  const std::size_t row = net.width * net.colours.count;
  for (std::size_t y = 0; y < net.height; ++y) {
    T* pixels = s.input.at(y, 0);
    pack_bytes(group, y * row, row, pixels);
    spread(net.width, net.colours.count, net.colours.room(), pixels);
  }
  const auto winners = [&](Winners& w) { return keep_winners ? &w : nullptr; };
  pooled_conv<tiles, kColours<tiles>>(s.input, net.encoder[0].to_output(), s.e1,
                                      winners(s.winners1));
  pooled_conv<tiles, kTile>(s.e1, net.encoder[1].to_output(), s.e2, winners(s.winners2));
  pooled_conv<tiles, kTile>(s.e2, net.encoder[2].to_output(), s.e3, winners(s.winners3));
  flatten(s.e3, net.maps.count, s.values[0].data());
  for (std::size_t k = 0; k < 3; ++k) {
    T* output = k == 2 ? s.latent.head(s.values[3]) : s.values[k + 1].data();
    dense(net.dense[k], net.parameters, s.values[k].data(), output);
  }
}

template <Tiles tiles, class T>
void decode(const ConvNetwork<T>& net, const Group& group, Pass pass, ConvScratch<T>& s) {
  enter_latent(group, s.latent, s.values[3]);
  for (std::size_t k = 3; k < 6; ++k) {
    dense(net.dense[k], net.parameters, s.values[k].data(), s.values[k + 1].data());
  }
  unflatten(s.values[6].data(), net.maps.count, s.d0);
  plain_conv<tiles>(s.d0, net.decoder_first.to_output(), Store<true, T>(s.d1));
  const auto hidden = [](const Planes<T>& input, const UpKernels<T>& kernels, Planes<T>& output) {
    up_conv<tiles, kTile>(input, kernels.to_output(), output.height, output.width,
                          Store<true, T>(output));
  };
  hidden(s.d1, net.decoder[0], s.d2);
  hidden(s.d2, net.decoder[1], s.d3);
  // Of the padding nothing is computed, and it stays 0 in `output`: it is in no error or gradient.
  constexpr std::size_t kOuts = kColours<tiles>;
  const auto last = [&](auto after) {
    up_conv<tiles, kOuts>(s.d3, net.decoder[2].to_output(), net.height, net.width, after);
  };
  T* squares = s.squares.data();
  if (pass == Pass::picture) {
    last(Store<false, T>(s.output));
  } else if (pass == Pass::error) {
    last(Compare<false, kOuts, T>(s.input, group.count, s.output, squares));
  } else {
    last(Compare<true, kOuts, T>(s.input, group.count, s.output, squares));
  }
}

/// Adds the sums of a convolution's layer to the gradient and clears them.
template <class T, class Kernels>
void add_conv_gradient(const Kernels& kernels, LayerPlace place, ConvScratch<T>& s, T* gradient) {
  kernels.add_gradient(s.weight_sums.data(), gradient + place.weight);
  for (std::size_t o = 0; o < kernels.out.count; ++o) {
    gradient[place.bias + o] += sum_lanes(s.bias_sums.data() + o * kLanes);
  }
  std::fill_n(s.weight_sums.begin(), kernels.size() * kLanes, T{0});
  std::ranges::fill(s.bias_sums, T{0});
}

/// An up-sampling layer: parameters, and the gradient of its input.
template <Tiles tiles, std::size_t Outs, class T>
void up_gradient(const UpKernels<T>& kernels, LayerPlace place, const Planes<T>& input,
                 const Planes<T>& output_gradient, Planes<T>& input_gradient, ConvScratch<T>& s,
                 T* gradient) {
  up_conv_weight_gradient<tiles, Outs>(input, output_gradient, s.weight_sums.data());
  sum_pixels<tiles, Outs>(output_gradient, s.bias_sums.data());
  add_conv_gradient(kernels, place, s, gradient);
  up_conv_input_gradient<tiles, Outs>(output_gradient, kernels.to_input(),
                                      StoreMasked(input, input_gradient));
}

template <Tiles tiles, class T>
void decoder_gradient(const ConvNetwork<T>& net, ConvScratch<T>& s, T* gradient) {
  up_gradient<tiles, kColours<tiles>>(net.decoder[2], net.places[12], s.d3, s.output, s.half[0], s,
                                      gradient);
  up_gradient<tiles, kTile>(net.decoder[1], net.places[11], s.d2, s.half[0], s.quarter[0], s,
                            gradient);
  up_gradient<tiles, kTile>(net.decoder[0], net.places[10], s.d1, s.quarter[0], s.eighth, s,
                            gradient);

  plain_weight_gradient<tiles>(s.d0, s.eighth, s.weight_sums.data());
  sum_pixels<tiles, kTile>(s.eighth, s.bias_sums.data());
  add_conv_gradient(net.decoder_first, net.places[9], s, gradient);
  plain_conv<tiles>(s.eighth, net.decoder_first.to_input(),
                    StoreMasked(s.d0, s.d1));  // d1 is not needed any more
  flatten(s.d1, net.maps.count, s.value_gradients[6].data());
}

template <class T>
void dense_gradient(const ConvNetwork<T>& net, const Group& group, ConvScratch<T>& s, T* gradient) {
  for (std::size_t k = 6; k-- > 0;) {
    const T* output_gradient =
        k == 2 ? leave_latent(group, s.latent, s.values[3], s.value_gradients[3])
               : s.value_gradients[k + 1].data();
    dense_weight_gradient(net.dense[k], s.values[k].data(), output_gradient, s.transposed.data(),
                          gradient);
    // The input comes out of a ReLU if the layer before has one; the pooled maps see to theirs.
    const bool relu = k > 0 && net.dense[k - 1].relu;
    dense_input_gradient(net.dense[k], net.parameters, output_gradient,
                         relu ? s.values[k].data() : nullptr, s.value_gradients[k].data());
  }
}

/// A pooled convolution that is not the first: parameters, and the gradient of its input.
template <Tiles tiles, class T>
void pooled_gradient(const PlainKernels<T>& kernels, LayerPlace place, const Planes<T>& input,
                     const Planes<T>& output, const Winners& winners,
                     const Planes<T>& output_gradient, Planes<T>& unpooled,
                     Planes<T>& input_gradient, ConvScratch<T>& s, T* gradient) {
  for (std::size_t y = 0; y < output.height; ++y) {
    unpool_row<tiles>(output, output_gradient, winners, y, unpooled.at(2 * y, 0),
                      unpooled.row_stride(), s.bias_sums.data());
  }
  plain_weight_gradient<tiles>(input, unpooled, s.weight_sums.data());
  add_conv_gradient(kernels, place, s, gradient);
  plain_conv<tiles>(unpooled, kernels.to_input(), Store<false, T>(input_gradient));
}

template <Tiles tiles, class T>
void encoder_gradient(const ConvNetwork<T>& net, ConvScratch<T>& s, T* gradient) {
  unflatten(s.value_gradients[0].data(), net.maps.count, s.eighth);
  pooled_gradient<tiles>(net.encoder[2], net.places[2], s.e2, s.e3, s.winners3, s.eighth,
                         s.quarter[0], s.quarter[1], s, gradient);
  pooled_gradient<tiles>(net.encoder[1], net.places[1], s.e1, s.e2, s.winners2, s.quarter[1],
                         s.half[0], s.half[1], s, gradient);
  // The first layer's input needs no gradient: two rows at a time stay in the cache.
  for (std::size_t y = 0; y < s.e1.height; ++y) {
    unpool_row<tiles>(s.e1, s.half[1], s.winners1, y, s.rows.at(0, 0), s.rows.row_stride(),
                      s.bias_sums.data());
    for (std::size_t r = 0; r < 2; ++r) {
      plain_weight_rows<tiles, kColours<tiles>>(s.input, 2 * y + r, s.rows, r, 1,
                                                s.weight_sums.data());
    }
  }
  add_conv_gradient(net.encoder[0], net.places[0], s, gradient);
}

template <Tiles tiles, class T>
void run_tiles(const ConvNetwork<T>& net, Pass pass, const Group& group, ConvScratch<T>& scratch,
               T* gradient) {
  encode<tiles>(net, group, pass == Pass::gradient, scratch);
  if (pass == Pass::descriptor) return;
  decode<tiles>(net, group, pass, scratch);
  if (pass != Pass::gradient) return;
  decoder_gradient<tiles>(net, scratch, gradient);
  dense_gradient(net, group, scratch, gradient);
  encoder_gradient<tiles>(net, scratch, gradient);
}

template <class T>
void run_network(const ConvNetwork<T>& net, Pass pass, const Group& group, ConvScratch<T>& scratch,
                 T* gradient) {
  const auto run = net.one_tile ? run_tiles<Tiles::one, T> : run_tiles<Tiles::any, T>;
  run(net, pass, group, scratch, gradient);
}

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
