// Fully connected layers on groups of 16 individuals; compiled once per instruction set.
//
// Values are [feature][16], weights [output][input] as they are kept. In the forward pass and for
// the gradient of the input, lanes are individuals and weights are broadcast. For the gradient of
// the weights, which sums over individuals, lanes are inputs: values are transposed to
// [16][feature] and the gradients of the outputs are broadcast, so nothing is summed across lanes.
#if defined(AURORA_ENCODERS_NATIVE_DENSE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_ENCODERS_NATIVE_DENSE_INL_HPP
#undef AURORA_ENCODERS_NATIVE_DENSE_INL_HPP
#else
#define AURORA_ENCODERS_NATIVE_DENSE_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "aurora/encoders/native/dense.hpp"
#include "aurora/encoders/native/lanes.hpp"
#include "aurora/encoders/native/loops_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::native::HWY_NAMESPACE {

/// Outputs [first, first + Outs): weights are read row by row.
template <std::size_t Outs, class D, class T = hn::TFromD<D>>
HWY_INLINE void dense_outputs(D d, const DenseLayer& layer, const T* weights, std::size_t first,
                              const T* HWY_RESTRICT input, T* HWY_RESTRICT output) {
  using V = hn::Vec<D>;
  const T* HWY_RESTRICT weight = weights + layer.place.weight + first * layer.in;
  V sums[Outs];
  HWY_UNROLL(8) for (std::size_t o = 0; o < Outs; ++o) {
    sums[o] = hn::Set(d, weights[layer.place.bias + first + o]);
  }
  for (std::size_t i = 0; i < layer.in; ++i) {
    const V in = hn::Load(d, input + i * kLanes);
    HWY_UNROLL(8) for (std::size_t o = 0; o < Outs; ++o) {
      sums[o] = hn::MulAdd(in, hn::Set(d, weight[o * layer.in + i]), sums[o]);
    }
  }
  HWY_UNROLL(8) for (std::size_t o = 0; o < Outs; ++o) {
    const V value = layer.relu ? hn::Max(sums[o], hn::Zero(d)) : sums[o];
    hn::Store(value, d, output + (first + o) * kLanes);
  }
}

/// output = weight * input + bias, through a ReLU if the layer has one.
template <class T>
HWY_NOINLINE void dense(const DenseLayer& layer, const T* weights, const T* input, T* output) {
  const Tag<T> d;
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
    std::size_t o = 0;
    for (; o + 8 <= layer.out; o += 8) {
      dense_outputs<8>(d, layer, weights, o, input + lane, output + lane);
    }
    for (; o < layer.out; ++o) {
      dense_outputs<1>(d, layer, weights, o, input + lane, output + lane);
    }
  }
}

/// Inputs [first, first + Ins) of the gradient. `map`, unless null, is the input as the ReLU that
/// made it left it: nothing passes where it is 0.
template <std::size_t Ins, class D, class T = hn::TFromD<D>>
HWY_INLINE void dense_inputs(D d, const DenseLayer& layer, const T* weights, std::size_t first,
                             const T* HWY_RESTRICT gradient, const T* HWY_RESTRICT map,
                             T* HWY_RESTRICT input_gradient) {
  using V = hn::Vec<D>;
  const T* HWY_RESTRICT weight = weights + layer.place.weight + first;
  V sums[Ins];
  HWY_UNROLL(8) for (std::size_t i = 0; i < Ins; ++i) sums[i] = hn::Zero(d);
  for (std::size_t o = 0; o < layer.out; ++o, weight += layer.in) {
    const V g = hn::Load(d, gradient + o * kLanes);
    HWY_UNROLL(8) for (std::size_t i = 0; i < Ins; ++i) {
      sums[i] = hn::MulAdd(g, hn::Set(d, weight[i]), sums[i]);
    }
  }
  HWY_UNROLL(8) for (std::size_t i = 0; i < Ins; ++i) {
    const std::size_t place = (first + i) * kLanes;
    V value = sums[i];
    if (map != nullptr) {
      value = hn::IfThenElseZero(hn::Gt(hn::Load(d, map + place), hn::Zero(d)), value);
    }
    hn::Store(value, d, input_gradient + place);
  }
}

template <class T>
HWY_NOINLINE void dense_input_gradient(const DenseLayer& layer, const T* weights, const T* gradient,
                                       const T* map, T* input_gradient) {
  const Tag<T> d;
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
    const T* map_lanes = map == nullptr ? nullptr : map + lane;
    std::size_t i = 0;
    for (; i + 8 <= layer.in; i += 8) {
      dense_inputs<8>(d, layer, weights, i, gradient + lane, map_lanes, input_gradient + lane);
    }
    for (; i < layer.in; ++i) {
      dense_inputs<1>(d, layer, weights, i, gradient + lane, map_lanes, input_gradient + lane);
    }
  }
}

/// Adds the weight gradient of outputs [first, first + Outs) for the inputs of Vectors registers
/// from `input` on, as far as there are inputs.
template <std::size_t Outs, std::size_t Vectors, class D, class T = hn::TFromD<D>>
HWY_INLINE void dense_weight_tile(D d, const DenseLayer& layer, std::size_t first,
                                  std::size_t input, const T* HWY_RESTRICT transposed,
                                  std::size_t row, const T* HWY_RESTRICT gradient,
                                  T* HWY_RESTRICT weight_gradient) {
  using V = hn::Vec<D>;
  V sums[Outs][Vectors];
  HWY_UNROLL(8) for (std::size_t o = 0; o < Outs; ++o) {
    HWY_UNROLL(8) for (std::size_t v = 0; v < Vectors; ++v) sums[o][v] = hn::Zero(d);
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    V in[Vectors];
    HWY_UNROLL(8) for (std::size_t v = 0; v < Vectors; ++v) {
      in[v] = hn::Load(d, transposed + lane * row + input + v * hn::Lanes(d));
    }
    HWY_UNROLL(8) for (std::size_t o = 0; o < Outs; ++o) {
      const V g = hn::Set(d, gradient[(first + o) * kLanes + lane]);
      HWY_UNROLL(8) for (std::size_t v = 0; v < Vectors; ++v) {
        sums[o][v] = hn::MulAdd(in[v], g, sums[o][v]);
      }
    }
  }
  HWY_UNROLL(8) for (std::size_t o = 0; o < Outs; ++o) {
    HWY_UNROLL(8) for (std::size_t v = 0; v < Vectors; ++v) {
      const std::size_t begin = input + v * hn::Lanes(d);
      T* out = weight_gradient + (first + o) * layer.in + begin;
      if (begin + hn::Lanes(d) <= layer.in) {
        hn::StoreU(hn::Add(hn::LoadU(d, out), sums[o][v]), d, out);
      } else {
        alignas(64) T last[kLanes];
        hn::Store(sums[o][v], d, last);
        for (std::size_t i = begin; i < layer.in; ++i) out[i - begin] += last[i - begin];
      }
    }
  }
}

/// Adds the gradient of weights and bias. `transposed` is room for [16][padded inputs].
template <class T>
HWY_NOINLINE void dense_weight_gradient(const DenseLayer& layer, const T* input, const T* gradient,
                                        T* transposed, T* parameter_gradient) {
  const Tag<T> d;
  const std::size_t row = padded(layer.in);
  for (std::size_t i = 0; i < layer.in; ++i) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      transposed[lane * row + i] = input[i * kLanes + lane];
    }
  }
  T* weight_gradient = parameter_gradient + layer.place.weight;
  constexpr std::size_t kVectors = 2;
  for (std::size_t i = 0; i < layer.in; i += kVectors * hn::Lanes(d)) {
    std::size_t o = 0;
    for (; o + 4 <= layer.out; o += 4) {
      dense_weight_tile<4, kVectors>(d, layer, o, i, transposed, row, gradient, weight_gradient);
    }
    for (; o < layer.out; ++o) {
      dense_weight_tile<1, kVectors>(d, layer, o, i, transposed, row, gradient, weight_gradient);
    }
  }
  T* bias_gradient = parameter_gradient + layer.place.bias;
  for (std::size_t o = 0; o < layer.out; ++o) bias_gradient[o] += sum_lanes(gradient + o * kLanes);
}

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
