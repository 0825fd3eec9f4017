// A network as the native engine sees it: parameters in one flat array (autoencoder_layout.hpp),
// and one function that takes a group of 16 individuals as far as a pass goes.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "aurora/encoders/autoencoder_layout.hpp"
#include "aurora/encoders/native/lanes.hpp"
#include "aurora/encoders/native/latent.hpp"

namespace aurora::native {

/// Where a layer's weight and bias start in the flat array of parameters.
struct LayerPlace {
  std::size_t weight = 0;
  std::size_t bias = 0;
};

inline std::vector<LayerPlace> layer_places(const AutoencoderLayout& layout) {
  std::vector<LayerPlace> places;
  std::size_t next = 0;
  for (const LayerSpec& layer : layout.layers) {
    places.push_back({next, next + layer.weights()});
    next += layer.weights() + layer.outputs;
  }
  return places;
}

/// How far a group goes through the network.
enum class Pass {
  descriptor,  // encoder only
  error,       // and the decoder: squared error of each individual
  picture,     // and the decoder: what it says, in scaled space
  gradient,    // squared errors, and the gradient of half their sum and the latent loss's
};

/// Buffers for one group on its way, and what the tasks leave in them; a thread needs its own.
/// Lanes from the group's count on hold nothing of use.
template <class T>
struct Scratch {
  virtual ~Scratch() = default;
  explicit Scratch(const Latent<T>& empty) : latent(empty) {}
  virtual const T* descriptor() const = 0;      // [n][16]
  Latent<T> latent;                             // and its loss
  alignas(64) std::array<T, kLanes> squares{};  // squared error in scaled space
};

class Network {
 public:
  virtual ~Network() = default;

  /// Takes over new values of all parameters; they are looked at until the next call.
  virtual void set_parameters(const float* parameters) = 0;
  virtual std::unique_ptr<Scratch<float>> make_scratch() const = 0;
  /// Pass::gradient adds to `gradient`, one value per parameter; others do not use it.
  virtual void run(Pass pass, const Group& group, Scratch<float>& scratch,
                   float* gradient) const = 0;
  /// After Pass::picture: what the decoder says of the individual in `lane`, one value a feature.
  virtual void picture(const Scratch<float>& scratch, std::size_t lane, float* out) const = 0;
  /// Groups worth waking a thread for.
  virtual std::size_t grain() const = 0;
};

}  // namespace aurora::native
