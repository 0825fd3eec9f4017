// The few functions that a step of the maze needs, in single precision and the same on every
// machine: additions, multiplications and one division in a fixed order, nothing from the C library
// (whose last bits differ between systems) and no fused multiply-adds. episodes.cpp has the same
// functions for many robots at once; both give the same bits.
//
// The coefficients are minimax fits of our own over the ranges that are stated.
#pragma once

#include <algorithm>
#include <array>
#include <numbers>

namespace aurora::maze {

inline constexpr float kPi = std::numbers::pi_v<float>;

// tanh(x) = x P(x^2) / Q(x^2) for |x| <= kTanhLimit, and constant beyond: at most 4e-7 off, and
// never beyond [-1, 1].
inline constexpr float kTanhLimit = 7.9F;
inline constexpr std::array<float, 5> kTanhP{1.0F, 0.13444452F, 0.0035716966F, 2.1903426e-05F,
                                             1.5259698e-08F};
inline constexpr std::array<float, 5> kTanhQ{1.0F, 0.46777773F, 0.026164414F, 0.0003411744F,
                                             8.530554e-07F};

inline float tanh_of(float x) {
  x = std::clamp(x, -kTanhLimit, kTanhLimit);
  const float u = x * x;
  float p = kTanhP[4];
  float q = kTanhQ[4];
  for (std::size_t i = 4; i-- > 0;) {
    p = p * u + kTanhP[i];
    q = q * u + kTanhQ[i];
  }
  return x * p / q;
}

/// A unit vector: the cosine and the sine of an angle.
struct Direction {
  float cos = 1;
  float sin = 0;
};

// sin(r) = r + r^3 S(r^2) and cos(r) = 1 - r^2 / 2 + r^4 C(r^2) for |r| <= pi / 4.
inline constexpr std::array<float, 3> kSin{-0.16666655F, 0.008332173F, -0.00019516656F};
inline constexpr std::array<float, 3> kCos{0.041666646F, -0.0013887362F, 2.443773e-05F};
// pi / 2 in two parts.
inline constexpr float kQuarterTurn = 1.5707964F;
inline constexpr float kQuarterTurnRest = -4.371139e-08F;

/// Of an angle within [-4, 4].
inline Direction direction_of(float angle) {
  const float quarters = angle * (2 / kPi);
  const int k = static_cast<int>(quarters + (quarters < 0 ? -0.5F : 0.5F));
  const float n = static_cast<float>(k);
  const float r = angle - n * kQuarterTurn - n * kQuarterTurnRest;
  const float u = r * r;
  const float sin = r + r * u * ((kSin[2] * u + kSin[1]) * u + kSin[0]);
  const float cos = 1 - 0.5F * u + u * u * ((kCos[2] * u + kCos[1]) * u + kCos[0]);
  const bool swapped = (k & 1) != 0;
  Direction direction{swapped ? sin : cos, swapped ? cos : sin};
  if (((k + 1) & 2) != 0) direction.cos = -direction.cos;
  if ((k & 2) != 0) direction.sin = -direction.sin;
  return direction;
}

// sin(h) / h and cos(h) for |h| <= 1/4: half the turn of one step.
inline constexpr std::array<float, 2> kSmallSinc{-0.16666633F, 0.008316085F};
inline constexpr std::array<float, 2> kSmallCos{-0.49999768F, 0.041545965F};

inline float small_sinc(float h) {
  const float u = h * h;
  return (kSmallSinc[1] * u + kSmallSinc[0]) * u + 1;
}

inline float small_cos(float h) {
  const float u = h * h;
  return (kSmallCos[1] * u + kSmallCos[0]) * u + 1;
}

}  // namespace aurora::maze
