// An ensemble of encoders, each with a container of its own (docs/algorithms.md; after Cazenille
// 2021): the quality-diversity loop whose parents are drawn from a container that was drawn first.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "aurora/algorithms/quality_diversity.hpp"
#include "aurora/containers/container_ensemble.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"
#include "aurora/encoders/encoder_ensemble.hpp"

namespace aurora {
namespace {

struct EnsembleConfig : QualityDiversityConfig {
  std::size_t encoders = 3;  // as many containers
  bool shares = false;       // each encoder learns from a part of the data of its own
};

class Ensemble final : public QualityDiversity {
 public:
  Ensemble(LoopContext& context, const EnsembleConfig& config)
      : QualityDiversity(context, config),
        ensemble_(dynamic_cast<const ContainerEnsemble*>(container_.get())) {
    auto* encoder = dynamic_cast<EncoderEnsemble*>(encoder_.get());
    if (!ensemble_ || !encoder) {
      throw UsageError("an ensemble is made with several encoders and containers");
    }
    if (config.shares) encoder->learn_from_shares();
  }

 private:
  std::vector<std::uint32_t> select(std::size_t count, std::uint32_t draw) override {
    std::vector<Container*> inhabited;  // an extinction may leave one empty
    for (const auto& container : ensemble_->containers()) {
      if (container->size() > 0) inhabited.push_back(container.get());
    }
    Stream stream(seed_, Purpose::selection, address(iteration_), draw);
    std::vector<std::uint32_t> from(count);
    select_uniform(inhabited.size(), from, stream);
    std::vector<std::uint32_t> parents(count);
    for (std::uint32_t c = 0; c < inhabited.size(); ++c) {
      std::vector<std::uint32_t> rows(static_cast<std::size_t>(std::ranges::count(from, c)));
      if (!rows.empty()) draw_parents(*inhabited[c], rows, stream);
      auto next = rows.begin();
      for (std::size_t i = 0; i < count; ++i) {
        if (from[i] != c) continue;
        parents[i] = ContainerEnsemble::row_here(inhabited[c]->individuals(), *next++);
      }
    }
    return parents;
  }

  const ContainerEnsemble* ensemble_;
};

std::string why_not(const EnsembleConfig& config, const Mix& mix) {
  if (!mix.learned) {
    return "descriptor.kind=hand-coded: there is but one such descriptor, and no encoder";
  }
  if (mix.learns) {
    return "selection.kind=" + mix.selection + ": a member would have a score in each container";
  }
  return refuses(config, mix);
}

}  // namespace

LoopEntry ensemble_loop() {
  using Config = EnsembleConfig;
  return part<Config>("ensemble", "several encoders, each with a container of its own")
      .option(kEncodersOption, &Config::encoders, 1, 16,
              "ensemble: encoders, and as many containers of container.target_size each (K)")
      .option("shares", &Config::shares,
              "ensemble: each encoder learns from a part of the data of its own")
      .options(add_quality_diversity_options<Config>)
      .refuses(why_not)
      .idle([](const Config& config, const Mix&) { return idle(config); })
      .made_by([](const Config& config, LoopContext& context) {
        return std::make_unique<Ensemble>(context, config);
      });
}

}  // namespace aurora
