// Between encoder and decoder: what the latent layer adds to the loss, and its gradient
// (docs/algorithms.md). A few hundred numbers a group, so plain loops are enough.
//
// Of a variational auto-encoder `said` holds n means, then n logarithms of variances, and `code` is
// what the decoder gets. Otherwise there is no `said`, and the encoder writes to `code` itself.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "aurora/encoders/autoencoder_layout.hpp"
#include "aurora/encoders/native/lanes.hpp"

namespace aurora::native {

/// What a group leaves at the latent layer.
template <class T>
struct Latent {
  explicit Latent(const AutoencoderLayout& layout)
      : spec(layout.latent), n(layout.dimension), said(spec.variational() ? 2 * n * kLanes : 0) {
    said_gradient = said;
  }

  /// Where the encoder's last layer writes to, and its gradient.
  T* head(LineVector<T>& code) { return said.empty() ? code.data() : said.data(); }
  const T* descriptor(const LineVector<T>& code) const {
    return said.empty() ? code.data() : said.data();
  }

  LatentSpec spec;
  std::size_t n;
  LineVector<T> said, said_gradient;
  alignas(64) std::array<T, kLanes> loss{};  // weighted, in the units of squared errors
};

/// Divergence of N(mean, variance) from N(0, 1), summed over the dimensions of each lane; writes
/// the code: a sample if the group has noise, or else the mean.
template <class T>
void sample_code(const Group& group, Latent<T>& latent, LineVector<T>& code) {
  latent.loss.fill(T{0});
  const T half = T{1} / 2;
  for (std::size_t j = 0; j < latent.n; ++j) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const T mean = latent.said[j * kLanes + lane];
      const T log_variance = latent.said[(latent.n + j) * kLanes + lane];
      const T noise = group.noise[lane] == nullptr ? T{0} : static_cast<T>(group.noise[lane][j]);
      const T divergence = half * (mean * mean + std::exp(log_variance) - 1 - log_variance);
      if (!group.plain) latent.loss[lane] += static_cast<T>(latent.spec.weight) * divergence;
      code[j * kLanes + lane] = noise == T{0} ? mean : mean + std::exp(half * log_variance) * noise;
    }
  }
}

/// From the gradient of the code to that of means and log-variances, divergence included.
template <class T>
void sample_gradient(const Group& group, const LineVector<T>& code, const LineVector<T>& gradient,
                     Latent<T>& latent) {
  const T half = T{1} / 2;
  const T weight = group.plain ? T{0} : half * static_cast<T>(latent.spec.weight);  // of half of it
  for (std::size_t j = 0; j < latent.n; ++j) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::size_t at = j * kLanes + lane, variance_at = (latent.n + j) * kLanes + lane;
      const bool used = lane < group.count;
      const T mean = latent.said[at];
      latent.said_gradient[at] = used ? gradient[at] + weight * mean : T{0};
      // The code is mean + deviation * noise, so what the noise moved it by is code - mean.
      latent.said_gradient[variance_at] =
          used && !group.plain ? half * (gradient[at] * (code[at] - mean) +
                                         weight * (std::exp(latent.said[variance_at]) - 1))
                               : T{0};
    }
  }
}

/// The triplet of a lane: itself, and of the next two the one whose fitness is nearer and the
/// other one. `near` is the lane itself if there is none.
struct Triplet {
  std::size_t near = 0;
  std::size_t far = 0;
};

inline Triplet triplet_of(const Group& group, std::size_t lane) {
  if (group.count < 3) return {lane, lane};
  const std::size_t b = (lane + 1) % group.count, c = (lane + 2) % group.count;
  const float to_b = std::abs(group.fitness[b] - group.fitness[lane]);
  const float to_c = std::abs(group.fitness[c] - group.fitness[lane]);
  if (to_b == to_c) return {lane, lane};
  return to_b < to_c ? Triplet{b, c} : Triplet{c, b};
}

/// max(0, |code - near|^2 - |code - far|^2 + margin) of each lane; adds the gradient of half of it,
/// weighted, to `gradient` unless that is null.
template <class T>
void triplet_loss(const Group& group, const LineVector<T>& code, Latent<T>& latent,
                  std::type_identity_t<LineVector<T>*> gradient) {
  latent.loss.fill(T{0});
  const T weight = static_cast<T>(latent.spec.weight);
  for (std::size_t lane = 0; lane < group.count; ++lane) {
    const Triplet triplet = triplet_of(group, lane);
    if (triplet.near == lane) continue;
    T excess = static_cast<T>(latent.spec.margin);
    for (std::size_t j = 0; j < latent.n; ++j) {
      const T* values = code.data() + j * kLanes;
      const T to_near = values[lane] - values[triplet.near];
      const T to_far = values[lane] - values[triplet.far];
      excess += to_near * to_near - to_far * to_far;
    }
    if (!(excess > T{0})) continue;
    latent.loss[lane] = weight * excess;
    if (gradient == nullptr) continue;
    for (std::size_t j = 0; j < latent.n; ++j) {
      const T* values = code.data() + j * kLanes;
      T* slopes = gradient->data() + j * kLanes;
      const T to_near = weight * (values[lane] - values[triplet.near]);
      const T to_far = weight * (values[lane] - values[triplet.far]);
      slopes[lane] += to_near - to_far;
      slopes[triplet.near] -= to_near;
      slopes[triplet.far] += to_far;
    }
  }
}

/// After the encoder: makes the code of what it said, and the loss.
template <class T>
void enter_latent(const Group& group, Latent<T>& latent, LineVector<T>& code) {
  if (latent.spec.loss == LatentLoss::divergence) sample_code(group, latent, code);
  if (latent.spec.loss == LatentLoss::triplets) triplet_loss(group, code, latent, nullptr);
}

/// Before the encoder's gradient: what it is given for what it said.
template <class T>
const T* leave_latent(const Group& group, Latent<T>& latent, const LineVector<T>& code,
                      LineVector<T>& gradient) {
  if (latent.spec.loss == LatentLoss::triplets) triplet_loss(group, code, latent, &gradient);
  if (latent.spec.loss != LatentLoss::divergence) return gradient.data();
  sample_gradient(group, code, gradient, latent);
  return latent.said_gradient.data();
}

}  // namespace aurora::native
