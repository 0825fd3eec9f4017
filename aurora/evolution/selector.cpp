#include "aurora/evolution/selector.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>

namespace aurora {

namespace {

class Uniform final : public Selector {
 public:
  std::vector<float> weights(SelectionView&, std::uint32_t) const override { return {}; }
  bool ranks() const override { return false; }
};

class Novelty final : public Selector {
 public:
  std::vector<float> weights(SelectionView& view, std::uint32_t) const override {
    return view.novelty();
  }
};

class Surprise final : public Selector {
 public:
  std::vector<float> weights(SelectionView& view, std::uint32_t) const override {
    return view.reconstruction_error();
  }
  bool reads_errors() const override { return true; }
};

/// One fair coin an iteration, for the whole batch.
class NoveltyOrSurprise final : public Selector {
 public:
  explicit NoveltyOrSurprise(std::uint64_t seed) : seed_(seed) {}
  std::vector<float> weights(SelectionView& view, std::uint32_t iteration) const override {
    Stream coin(seed_, Purpose::criterion, iteration);
    return coin.uniform() < 0.5 ? view.novelty() : view.reconstruction_error();
  }
  bool reads_errors() const override { return true; }

 private:
  std::uint64_t seed_;
};

class Nobody final : public Selector {
 public:
  std::vector<float> weights(SelectionView&, std::uint32_t) const override { return {}; }
  bool selects() const override { return false; }
  bool ranks() const override { return false; }
};

std::string needs_encoder(const NoOptions&, const Mix& mix) {
  if (mix.learned) return {};
  return "descriptor.kind=hand-coded: surprise is the reconstruction error of an encoder, and "
         "hand-coded descriptors have none; use descriptor.kind=learned or selection.kind=novelty";
}

}  // namespace

SelectorEntry uniform_selector() {
  return part<NoOptions>("uniform", "all members alike")
      .made_by(
          [](const NoOptions&, const SelectorContext&) { return std::make_unique<Uniform>(); });
}

SelectorEntry novelty_selector() {
  return part<NoOptions>("novelty", "prefers those far from their neighbours")
      .made_by(
          [](const NoOptions&, const SelectorContext&) { return std::make_unique<Novelty>(); });
}

SelectorEntry surprise_selector() {
  return part<NoOptions>("surprise", "prefers those the encoder reconstructs badly")
      .refuses(needs_encoder)
      .made_by(
          [](const NoOptions&, const SelectorContext&) { return std::make_unique<Surprise>(); });
}

SelectorEntry novelty_surprise_selector() {
  return part<NoOptions>("novelty+surprise", "one of the two, by a coin in each iteration")
      .refuses(needs_encoder)
      .made_by([](const NoOptions&, const SelectorContext& context) {
        return std::make_unique<NoveltyOrSurprise>(context.seed);
      });
}

SelectorEntry no_selector() {
  return part<NoOptions>("none", "nobody: every genotype is drawn afresh (Random Search)")
      .without("variation", "every genotype is drawn afresh")
      .made_by([](const NoOptions&, const SelectorContext&) { return std::make_unique<Nobody>(); });
}

void select_uniform(std::size_t size, std::span<std::uint32_t> parents, Stream& stream) {
  assert(size > 0);
  for (std::uint32_t& parent : parents) parent = static_cast<std::uint32_t>(stream.below(size));
}

void select_proportional(std::span<const float> weights, std::span<std::uint32_t> parents,
                         Stream& stream) {
  assert(!weights.empty());
  std::vector<double> cumulative(weights.size());
  double sum = 0;
  std::size_t last = 0;  // the last one that can be chosen at all
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (std::isfinite(weights[i]) && weights[i] > 0) {
      sum += static_cast<double>(weights[i]);
      last = i;
    }
    cumulative[i] = sum;
  }
  if (!(sum > 0)) return select_uniform(weights.size(), parents, stream);
  for (std::uint32_t& parent : parents) {
    const double at = stream.uniform() * sum;
    const auto chosen = std::ranges::upper_bound(cumulative, at) - cumulative.begin();
    parent =
        static_cast<std::uint32_t>(std::min<std::size_t>(static_cast<std::size_t>(chosen), last));
  }
}

}  // namespace aurora
