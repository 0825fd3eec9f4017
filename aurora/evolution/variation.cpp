#include "aurora/evolution/variation.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>

namespace aurora {
namespace {

float clip(double gene) {
  return static_cast<float>(std::clamp(gene, 0.0, 1.0));
}

/// What both kinds begin with: simulated binary crossover (SBX) with a second parent.
struct CrossoverConfig {
  double crossover = 0;       // probability that a child is crossed
  double crossover_eta = 10;  // distribution index eta_c
};

struct PolynomialConfig : CrossoverConfig {
  double rate = 0.05;        // probability that a gene mutates
  double eta = 10;           // distribution index eta_m
  bool at_least_one = true;  // of the genes mutates; the paper's tasks do without
};

struct IsoLineConfig : CrossoverConfig {
  double iso_sigma = 0.01;  // isotropic deviation
  double line_sigma = 0.2;  // deviation along the line between two parents
};

constexpr Range kProbability{0, 1};
constexpr Range kIndex{0, 1000};
constexpr Range kUpToTen{0, 10};

template <class Config>
void crossover_options(Options<Config>& options) {
  options.add("crossover", &Config::crossover, kProbability,
              "probability of a second parent (SBX)");
  options.add("crossover_eta", &Config::crossover_eta, kIndex, "SBX: distribution index (eta_c)");
}

/// A copy of the parent or one of the two SBX children, gene by gene; each gene is exchanged with
/// probability 1/2.
void begin(const CrossoverConfig& config, std::span<const float> parent,
           std::span<const float> mate, std::span<float> child, Stream& stream) {
  assert(parent.size() == child.size());
  std::ranges::copy(parent, child.begin());
  if (!(config.crossover > 0 && stream.uniform() < config.crossover)) return;
  for (std::size_t i = 0; i < child.size(); ++i) {
    const double spread = sbx_spread(stream.uniform(), config.crossover_eta);
    const bool first = stream.uniform() < 0.5;
    const double a = first ? child[i] : mate[i];
    const double b = first ? mate[i] : child[i];
    child[i] = clip(0.5 * ((1 + spread) * a + (1 - spread) * b));
  }
}

class Polynomial final : public Variation {
 public:
  explicit Polynomial(const PolynomialConfig& config) : config_(config) {}
  bool needs_mate() const override { return config_.crossover > 0; }
  void vary(std::span<const float> parent, std::span<const float> mate, std::span<float> child,
            Stream& stream) const override {
    begin(config_, parent, mate, child, stream);
    bool mutated = false;
    for (float& gene : child) {
      if (stream.uniform() >= config_.rate) continue;
      mutate(gene, stream);
      mutated = true;
    }
    if (config_.at_least_one && !mutated) mutate(child[stream.below(child.size())], stream);
  }

 private:
  void mutate(float& gene, Stream& stream) const {
    gene = clip(static_cast<double>(gene) + polynomial_delta(stream.uniform(), config_.eta));
  }

  PolynomialConfig config_;
};

class IsoLine final : public Variation {
 public:
  explicit IsoLine(const IsoLineConfig& config) : config_(config) {}
  bool needs_mate() const override { return true; }
  void vary(std::span<const float> parent, std::span<const float> mate, std::span<float> child,
            Stream& stream) const override {
    begin(config_, parent, mate, child, stream);
    const double along = config_.line_sigma * stream.normal();
    for (std::size_t i = 0; i < child.size(); ++i) {
      const double line = static_cast<double>(mate[i]) - static_cast<double>(parent[i]);
      child[i] = clip(child[i] + config_.iso_sigma * stream.normal() + along * line);
    }
  }

 private:
  IsoLineConfig config_;
};

}  // namespace

double polynomial_delta(double r, double eta) {
  const double power = 1.0 / (eta + 1.0);
  return r < 0.5 ? std::pow(2.0 * r, power) - 1.0 : 1.0 - std::pow(2.0 * (1.0 - r), power);
}

double sbx_spread(double u, double eta) {
  const double power = 1.0 / (eta + 1.0);
  return u <= 0.5 ? std::pow(2.0 * u, power) : std::pow(1.0 / (2.0 * (1.0 - u)), power);
}

VariationEntry polynomial_variation() {
  using Config = PolynomialConfig;
  return part<Config>("polynomial", "polynomial mutation, gene by gene")
      .option("rate", &Config::rate, kProbability, "polynomial: probability that a gene mutates")
      .option("eta", &Config::eta, kIndex, "polynomial: distribution index (eta_m)")
      .option("at_least_one", &Config::at_least_one,
              "polynomial: a child of whom no gene would mutate gets one that does")
      .options(crossover_options<Config>)
      .made_by([](const Config& config, const VariationContext&) {
        return std::make_unique<Polynomial>(config);
      });
}

VariationEntry iso_line_variation() {
  using Config = IsoLineConfig;
  return part<Config>("iso+line", "a step in all directions and one along the line to a mate")
      .option("iso_sigma", &Config::iso_sigma, kUpToTen, "iso+line: deviation in all directions")
      .option("line_sigma", &Config::line_sigma, kUpToTen,
              "iso+line: deviation towards the other parent")
      .options(crossover_options<Config>)
      .made_by([](const Config& config, const VariationContext&) {
        return std::make_unique<IsoLine>(config);
      });
}

}  // namespace aurora
