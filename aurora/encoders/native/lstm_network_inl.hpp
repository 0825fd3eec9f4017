// A group of 16 sequences through the recurrent auto-encoder and back; compiled once per
// instruction set.
//
// Gates are those of Hochreiter & Schmidhuber with forget gates: i, f, o sigmoid and g tanh of one
// linear layer of [input, hidden]; cell = f cell + i g, hidden = o tanh(cell).
#if defined(AURORA_ENCODERS_NATIVE_LSTM_NETWORK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_ENCODERS_NATIVE_LSTM_NETWORK_INL_HPP
#undef AURORA_ENCODERS_NATIVE_LSTM_NETWORK_INL_HPP
#else
#define AURORA_ENCODERS_NATIVE_LSTM_NETWORK_INL_HPP
#endif

#include <hwy/contrib/math/math-inl.h>

#include <algorithm>
#include <cstddef>

#include "aurora/encoders/native/compare_inl.hpp"
#include "aurora/encoders/native/dense_inl.hpp"
#include "aurora/encoders/native/lstm_network.hpp"
#include "aurora/encoders/native/pack_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::native::HWY_NAMESPACE {

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, 1);
  // exp() of what is far below 0 is 0, and of -x no overflow as long as x is bounded.
  const V bounded = hn::Max(x, hn::Set(d, -80));
  return hn::Div(one, hn::Add(one, hn::CallExp(d, hn::Neg(bounded))));
}

/// Step t; in lanes whose sequence has ended (`lengths`, unless null) the state stays.
template <class T>
HWY_NOINLINE void lstm_step(const DenseLayer& layer, const T* parameters, std::size_t t,
                            const std::size_t* lengths, Recurrence<T>& r) {
  const Tag<T> d;
  const std::size_t size = r.units * kLanes;
  T* gate = r.gate(t);
  dense(layer, parameters, r.input(t), gate);
  alignas(64) T going[kLanes];
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    going[lane] = lengths == nullptr || t < lengths[lane] ? T{1} : T{0};
  }
  for (std::size_t j = 0; j < size; j += hn::Lanes(d)) {
    const auto goes = hn::Gt(hn::Load(d, going + j % kLanes), hn::Zero(d));
    const auto i = sigmoid(d, hn::Load(d, gate + j));
    const auto f = sigmoid(d, hn::Load(d, gate + size + j));
    const auto g = hn::CallTanh(d, hn::Load(d, gate + 2 * size + j));
    const auto o = sigmoid(d, hn::Load(d, gate + 3 * size + j));
    const auto before = hn::Load(d, r.cell_before(t) + j);
    const auto cell = hn::MulAdd(f, before, hn::Mul(i, g));
    const auto squashed = hn::CallTanh(d, cell);
    hn::Store(i, d, gate + j);
    hn::Store(f, d, gate + size + j);
    hn::Store(g, d, gate + 2 * size + j);
    hn::Store(o, d, gate + 3 * size + j);
    hn::Store(squashed, d, r.squashed_cell(t) + j);
    hn::Store(hn::IfThenElse(goes, cell, before), d, r.cell_before(t + 1) + j);
    hn::Store(hn::IfThenElse(goes, hn::Mul(o, squashed), hn::Load(d, r.hidden_before(t) + j)), d,
              r.hidden_before(t + 1) + j);
  }
}

/// Step t on the way back. `hidden_slopes` and `cell_slopes` are of the state after it, and then of
/// the state before; `input_slopes` gets those of [input, hidden].
template <class T>
HWY_NOINLINE void lstm_step_back(const DenseLayer& layer, const T* parameters, std::size_t t,
                                 const std::size_t* lengths, Recurrence<T>& r, LstmScratch<T>& s,
                                 T* gradient) {
  const std::size_t size = r.units * kLanes;
  const T *gate = r.gate(t), *squashed = r.squashed_cell(t), *before = r.cell_before(t);
  for (std::size_t j = 0; j < size; ++j) {
    const bool goes = lengths == nullptr || t < lengths[j % kLanes];
    const T i = gate[j], f = gate[size + j], g = gate[2 * size + j], o = gate[3 * size + j];
    const T hidden = goes ? s.hidden_slopes[j] : T{0};
    const T cell = (goes ? s.cell_slopes[j] : T{0}) + hidden * o * (1 - squashed[j] * squashed[j]);
    s.gate_slopes[j] = cell * g * i * (1 - i);
    s.gate_slopes[size + j] = cell * before[j] * f * (1 - f);
    s.gate_slopes[2 * size + j] = cell * i * (1 - g * g);
    s.gate_slopes[3 * size + j] = hidden * squashed[j] * o * (1 - o);
    if (goes) s.cell_slopes[j] = cell * f;
  }
  dense_weight_gradient(layer, r.input(t), s.gate_slopes.data(), s.transposed.data(), gradient);
  dense_input_gradient(layer, parameters, s.gate_slopes.data(), static_cast<const T*>(nullptr),
                       s.input_slopes.data());
  for (std::size_t j = 0; j < size; ++j) {
    const bool goes = lengths == nullptr || t < lengths[j % kLanes];
    if (goes) s.hidden_slopes[j] = s.input_slopes[r.width * kLanes + j];
  }
}

/// How many steps of each lane count.
template <class T>
void find_lengths(const LstmNetwork<T>& net, const Group& group, LstmScratch<T>& s) {
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    s.lengths[lane] = sequence_length(group.rows[lane], group.element, net.steps, net.channels);
  }
}

template <class T>
void encode(const LstmNetwork<T>& net, const Group& group, LstmScratch<T>& s) {
  const std::size_t step = net.channels * kLanes;
  pack(group, net.steps * net.channels, s.packed.data());
  if (net.masked) find_lengths(net, group, s);
  for (std::size_t t = 0; t < net.steps; ++t) {
    std::copy_n(s.packed.data() + t * step, step, s.encoder.input(t));
    lstm_step(net.encoder(), net.parameters, t, net.masked ? s.lengths.data() : nullptr, s.encoder);
  }
  dense(net.to_latent(), net.parameters, s.encoder.hidden_before(net.steps), s.latent.head(s.code));
}

template <class T>
void decode(const LstmNetwork<T>& net, const Group& group, LstmScratch<T>& s) {
  enter_latent(group, s.latent, s.code);
  for (std::size_t t = 0; t < net.steps; ++t) {
    std::copy_n(s.code.data(), s.code.size(), s.decoder.input(t));
    lstm_step(net.decoder(), net.parameters, t, static_cast<const std::size_t*>(nullptr),
              s.decoder);
    dense(net.to_output(), net.parameters, s.decoder.hidden_before(t + 1),
          s.output.data() + t * net.channels * kLanes);
  }
  if (!net.masked) return;
  // What nobody sensed is what nobody is asked for.
  const std::size_t step = net.channels * kLanes;
  for (std::size_t i = 0; i < s.output.size(); ++i) {
    if (i / step >= s.lengths[i % kLanes]) s.output[i] = s.packed[i];
  }
}

template <class T>
void add_gradient(const LstmNetwork<T>& net, const Group& group, LstmScratch<T>& s, T* gradient) {
  std::ranges::fill(s.code_slopes, T{0});
  std::ranges::fill(s.hidden_slopes, T{0});
  std::ranges::fill(s.cell_slopes, T{0});
  for (std::size_t t = net.steps; t-- > 0;) {
    const T* slopes = s.difference.data() + t * net.channels * kLanes;
    dense_weight_gradient(net.to_output(), s.decoder.hidden_before(t + 1), slopes,
                          s.transposed.data(), gradient);
    dense_input_gradient(net.to_output(), net.parameters, slopes, static_cast<const T*>(nullptr),
                         s.output_slopes.data());
    for (std::size_t j = 0; j < s.hidden_slopes.size(); ++j) {
      s.hidden_slopes[j] += s.output_slopes[j];
    }
    lstm_step_back(net.decoder(), net.parameters, t, static_cast<const std::size_t*>(nullptr),
                   s.decoder, s, gradient);
    for (std::size_t j = 0; j < s.code_slopes.size(); ++j) s.code_slopes[j] += s.input_slopes[j];
  }
  const T* said = leave_latent(group, s.latent, s.code, s.code_slopes);
  dense_weight_gradient(net.to_latent(), s.encoder.hidden_before(net.steps), said,
                        s.transposed.data(), gradient);
  dense_input_gradient(net.to_latent(), net.parameters, said, static_cast<const T*>(nullptr),
                       s.hidden_slopes.data());
  std::ranges::fill(s.cell_slopes, T{0});
  for (std::size_t t = net.steps; t-- > 0;) {
    lstm_step_back(net.encoder(), net.parameters, t, net.masked ? s.lengths.data() : nullptr,
                   s.encoder, s, gradient);
  }
}

template <class T>
void run_network(const LstmNetwork<T>& net, Pass pass, const Group& group, LstmScratch<T>& s,
                 T* gradient) {
  encode(net, group, s);
  if (pass == Pass::descriptor) return;
  decode(net, group, s);
  if (pass == Pass::picture) return;
  compare(s.packed.data(), s.output.data(), s.packed.size(), group.count, s.difference.data(),
          s.squares.data());
  if (pass == Pass::gradient) add_gradient(net, group, s, gradient);
}

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
