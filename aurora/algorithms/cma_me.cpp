// CMA-ME (Fontaine, Togelius, Nikolaidis & Hoover 2020): the quality-diversity loop with emitters.
// Each is a CMA-ES that follows those of its children which improve the container, and begins anew
// at a random member when none does. They share the batch, or a part of it; the rest are children
// of selected members.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aurora/algorithms/cma_es.hpp"
#include "aurora/algorithms/quality_diversity.hpp"
#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

struct CmaMeConfig : QualityDiversityConfig {
  std::size_t emitters = 2;  // K
  double sigma = 0.2;        // step size that an emitter begins with; genes are in [0, 1]
  double emitted = 1;        // share of the batch that comes from emitters
};

std::size_t emitted_of(const CmaMeConfig& config, std::size_t batch) {
  return static_cast<std::size_t>(std::round(config.emitted * static_cast<double>(batch)));
}

/// What there is to say against a number of emitters; empty if nothing is.
std::string too_many(const CmaMeConfig& config, std::size_t batch) {
  if (emitted_of(config, batch) >= 2 * config.emitters) return {};
  return fmt::format(
      "algorithm.emitters={}: each needs two children, and {} of run.batch={} are "
      "emitted",
      config.emitters, emitted_of(config, batch), batch);
}

/// The arrays of emitters' states, and which part of a state each holds: two floats for a number.
struct Column {
  const char* name;
  std::vector<double> CmaEs::State::*values;
};
constexpr Column kColumns[] = {{"mean", &CmaEs::State::mean},
                               {"sigma_path", &CmaEs::State::sigma_path},
                               {"path", &CmaEs::State::path},
                               {"covariance", &CmaEs::State::covariance}};

class CmaMe final : public QualityDiversity {
 public:
  CmaMe(LoopContext& context, const CmaMeConfig& config)
      : QualityDiversity(context, config), config_(config) {
    if (config.emitters == 0 || !too_many(config, context.batch).empty()) {
      throw UsageError(config.emitters == 0 ? "algorithm.emitters must be at least 1"
                                            : too_many(config, context.batch));
    }
    if (!variation_) throw UsageError("CMA-ME needs a selection of parents");
    container_->gains();
  }

  std::vector<NamedNumber> numbers() const override {
    std::vector<NamedNumber> all = QualityDiversity::numbers();
    all.push_back({"restarts", static_cast<double>(restarts_)});
    return all;
  }

 private:
  /// Children [first, last) of a batch.
  struct Share {
    std::size_t first, last;
  };
  Share share_of(std::size_t emitter) const {
    const std::size_t all = emitted_of(config_, offspring_.size());
    return {all * emitter / config_.emitters, all * (emitter + 1) / config_.emitters};
  }

  void breed(MatrixView<const float> given) override {
    emits_ = given.rows() == 0 && container_->size() > 0 && !emitters_.empty();
    if (!emits_) return QualityDiversity::breed(given);
    const std::size_t genes = offspring_.individuals().genotypes.cols();
    Matrix<float> emitted(emitted_of(config_, offspring_.size()), genes);
    for (std::size_t e = 0; e < emitters_.size(); ++e) {
      const Share share = share_of(e);
      for (std::size_t i = share.first; i < share.last; ++i) emit(emitters_[e], i, emitted.row(i));
    }
    breed_after(emitted);
  }

  /// Draws until all genes are in [0, 1], a few times; those that are still outside are clipped.
  void emit(const CmaEs& emitter, std::size_t child, std::span<float> genes) const {
    constexpr int kTries = 10;
    Stream stream(seed_, Purpose::emitters, address(iteration_), address(child));
    std::vector<double> sample(genes.size());
    for (int i = 0; i < kTries; ++i) {
      emitter.sample(stream, sample);
      if (std::ranges::all_of(sample, [](double x) { return x >= 0 && x <= 1; })) break;
    }
    std::ranges::transform(sample, genes.begin(),
                           [](double x) { return static_cast<float>(std::clamp(x, 0.0, 1.0)); });
  }

  void learn(std::span<const Outcome> outcomes) override {
    const std::vector<Gain> gains = container_->gains();
    if (container_->size() == 0) return;
    if (emitters_.empty()) {
      for (std::size_t e = 0; e < config_.emitters; ++e) emitters_.push_back(begin_anew(e));
    }
    if (!emits_) return;
    for (std::size_t e = 0; e < emitters_.size(); ++e) {
      const Matrix<double> parents = improvements(share_of(e), outcomes, gains);
      if (parents.rows() > 0) emitters_[e].update(parents);
      if (parents.rows() > 0 && !emitters_[e].is_degenerate(kSmallestStep)) continue;
      emitters_[e] = begin_anew(e);
      ++restarts_;
    }
  }

  /// The children that the container took, best first: those who were added by fitness, then those
  /// who replaced somebody by how much fitter they are (or, where nobody's place was taken, by
  /// fitness).
  Matrix<double> improvements(const Share& share, std::span<const Outcome> outcomes,
                              std::span<const Gain> gains) const {
    struct Improvement {
      bool replaced;
      float by;
      std::size_t child;
    };
    const Individuals& batch = offspring_.individuals();
    std::vector<Improvement> order;
    for (std::size_t i = share.first; i < share.last; ++i) {
      const std::size_t row = offspring_.row(i);
      if (outcomes[i] == Outcome::added) order.push_back({false, batch.fitness[row], i});
      if (outcomes[i] != Outcome::replaced) continue;
      const auto gain = std::ranges::lower_bound(gains, batch.ids[row], {}, &Gain::id);
      const bool known = gain != gains.end() && gain->id == batch.ids[row];
      order.push_back({true, known ? gain->fitness : batch.fitness[row], i});
    }
    std::ranges::stable_sort(order, [](const Improvement& a, const Improvement& b) {
      return a.replaced != b.replaced ? b.replaced : a.by > b.by;
    });
    Matrix<double> parents(order.size(), batch.genotypes.cols());
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::ranges::copy(batch.genotypes.row(offspring_.row(order[i].child)),
                        parents.row(i).begin());
    }
    return parents;
  }

  /// At a random member.
  CmaEs begin_anew(std::size_t emitter) const {
    Stream stream(seed_, Purpose::emitters, address(iteration_),
                  address(offspring_.size() + emitter));
    const Individuals& members = container_->individuals();
    const std::vector<std::uint32_t> rows = rows_by_age(members);
    return {members.genotypes.row(rows[stream.below(rows.size())]), config_.sigma};
  }

  PartState loop_state() const override {
    PartState state = QualityDiversity::loop_state();
    state.numbers.push_back({"restarts", static_cast<double>(restarts_)});
    for (std::size_t e = 0; e < emitters_.size(); ++e) {
      const CmaEs::State& emitter = emitters_[e].state();
      state.numbers.push_back({fmt::format("sigma.{}", e), emitter.sigma});
      state.numbers.push_back(
          {fmt::format("generation.{}", e), static_cast<double>(emitter.generation)});
    }
    if (emitters_.empty()) return state;
    for (const Column& column : kColumns) {
      const std::size_t size = (emitters_[0].state().*column.values).size();
      NamedArray array{column.name, {emitters_.size(), size, 2}};
      for (const CmaEs& emitter : emitters_) {
        for (const double value : emitter.state().*column.values) {
          const auto high = static_cast<float>(value);
          array.values.push_back(high);
          array.values.push_back(static_cast<float>(value - static_cast<double>(high)));
        }
      }
      state.arrays.push_back(std::move(array));
    }
    return state;
  }

  void restore_loop(const PartState& state) override {
    QualityDiversity::restore_loop(state);
    check_finite(state.numbers);
    const double restarts = number_called(state.numbers, "restarts", 0);
    if (!(restarts >= 0 && restarts < 1e18)) throw DataError("the number of restarts is none");
    restarts_ = static_cast<std::size_t>(restarts);
    emitters_.clear();
    if (state.arrays.empty()) return;  // saved before the first of them began
    const std::size_t genes = offspring_.individuals().genotypes.cols();
    for (std::size_t e = 0; e < config_.emitters; ++e) {
      CmaEs::State emitter;
      for (const Column& column : kColumns) {
        const bool square = column.values == &CmaEs::State::covariance;
        emitter.*column.values = restored(state, column.name, e, square ? genes * genes : genes);
      }
      emitter.sigma = number_called(state.numbers, fmt::format("sigma.{}", e), 0);
      const double generation = number_called(state.numbers, fmt::format("generation.{}", e), -1);
      if (!(emitter.sigma > 0 && generation >= 0 && generation < 1e18)) {
        throw DataError(fmt::format("there is no whole state of emitter {}", e));
      }
      emitter.generation = static_cast<std::size_t>(generation);
      emitters_.emplace_back(std::move(emitter));
    }
  }

  /// Values of one emitter in the array called `name`.
  std::vector<double> restored(const PartState& state, std::string_view name, std::size_t emitter,
                               std::size_t size) const {
    const NamedArray* array = array_called(state.arrays, name);
    if (!array || array->shape != std::vector<std::size_t>{config_.emitters, size, 2} ||
        array->values.size() != 2 * size * config_.emitters || !all_finite(array->values)) {
      throw DataError(fmt::format("the emitters' array '{}' is missing, or not of {} emitters",
                                  name, config_.emitters));
    }
    std::vector<double> values(size);
    const std::span halves = std::span(array->values).subspan(2 * size * emitter, 2 * size);
    for (std::size_t i = 0; i < size; ++i) {
      values[i] = static_cast<double>(halves[2 * i]) + static_cast<double>(halves[2 * i + 1]);
    }
    return values;
  }

  /// Genes are floats: smaller steps make copies.
  static constexpr double kSmallestStep = 1e-6;

  CmaMeConfig config_;
  std::vector<CmaEs> emitters_;  // none before the container has its first members
  bool emits_ = false;           // whether they have to do with this iteration's batch
  std::size_t restarts_ = 0;
};

}  // namespace

LoopEntry cma_me_loop() {
  using Config = CmaMeConfig;
  return part<Config>("cma-me", "emitters that follow what improves the container (CMA-ME)")
      .options(add_quality_diversity_options<Config>)
      .option("emitters", &Config::emitters, 1, 10'000, "cma-me: emitters that share the batch")
      .option("sigma", &Config::sigma, Range{.low = 0, .high = 1, .above_low = true},
              "cma-me: step size that an emitter begins with")
      .option("emitted", &Config::emitted, Range{.low = 0, .high = 1, .above_low = true},
              "cma-me: share of the batch that is emitted; the rest is bred")
      .refuses([](const Config& config, const Mix& mix) -> std::string {
        if (mix.variation.empty()) {
          return "selection.kind=" + mix.selection +
                 ": whatever emitters do not make are children of selected members";
        }
        const std::string reason = refuses(config, mix);
        return reason.empty() ? too_many(config, mix.batch) : reason;
      })
      .idle([](const Config& config, const Mix& mix) {
        Idle keys = idle(config);
        if (emitted_of(config, mix.batch) < mix.batch) return keys;
        const std::string reason =
            fmt::format("algorithm.emitted={}: emitters make the whole batch, and nobody is bred",
                        config.emitted);
        keys.emplace_back("selection", reason);
        keys.emplace_back("variation", reason);
        return keys;
      })
      .made_by([](const Config& config, LoopContext& context) {
        return std::make_unique<CmaMe>(context, config);
      });
}

}  // namespace aurora
