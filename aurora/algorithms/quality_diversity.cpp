#include "aurora/algorithms/quality_diversity.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"

namespace aurora {
namespace {

/// The members of a container as a selector sees them.
class Members final : public SelectionView {
 public:
  Members(Container& container, Workers& workers) : container_(container), workers_(workers) {}
  std::size_t size() const override { return container_.size(); }
  std::vector<float> novelty() override { return container_.novelty(workers_); }
  std::vector<float> reconstruction_error() override {
    return container_.individuals().reconstruction_error;
  }
  std::vector<float> fitness() override { return container_.individuals().fitness; }
  std::vector<float> column(std::string_view name) override {
    const Individuals& members = container_.individuals();
    const std::size_t column = members.extra_column(name);
    std::vector<float> values(members.size());
    for (std::size_t row = 0; row < values.size(); ++row) values[row] = members.extra(row, column);
    return values;
  }

 private:
  Container& container_;
  Workers& workers_;
};

}  // namespace

QualityDiversity::QualityDiversity(LoopContext& context, const QualityDiversityConfig& config)
    : Algorithm(context),
      container_(std::move(context.container)),
      config_(config),
      recent_(offspring_.individuals(), config.recent) {
  if (!(config.extinction_survivors > 0 && config.extinction_survivors <= 1)) {
    throw UsageError("algorithm.extinction_survivors must be above 0 and at most 1, not " +
                     std::to_string(config.extinction_survivors));
  }
}

std::vector<NamedNumber> QualityDiversity::numbers() const {
  std::vector<NamedNumber> all = container_->numbers();
  if (config_.extinction_period > 0) all.push_back({"extinct", static_cast<double>(extinct_)});
  return all;
}

void QualityDiversity::breed(MatrixView<const float> given) {
  parents_.clear();
  if (given.rows() > 0 || container_->size() == 0 || !selector_->selects()) {
    offspring_.draw(iteration_, workers_, given);
  } else {
    breed_after({});
  }
}

void QualityDiversity::breed_after(MatrixView<const float> first) {
  const std::size_t count = offspring_.size() - first.rows();
  parents_.clear();
  if (count > 0) parents_ = select(count, 0);
  const bool mates = count > 0 && variation_->needs_mate();
  offspring_.breed(iteration_, *variation_, container_->individuals(), parents_,
                   mates ? select(count, 1) : parents_, 0, first);
}

std::vector<std::uint32_t> QualityDiversity::select(std::size_t count, std::uint32_t draw) {
  std::vector<std::uint32_t> parents(count);
  Stream stream(seed_, Purpose::selection, address(iteration_), draw);
  draw_parents(*container_, parents, stream);
  return parents;
}

void QualityDiversity::draw_parents(Container& container, std::span<std::uint32_t> parents,
                                    Stream& stream) {
  Members members(container, workers_);
  const std::vector<float> weights = selector_->weights(members, address(iteration_));
  if (weights.empty()) {
    select_uniform(members.size(), parents, stream);
  } else if (weights.size() == members.size()) {
    select_proportional(weights, parents, stream);
  } else {
    throw DataError("the selector gave " + std::to_string(weights.size()) + " weights for " +
                    std::to_string(members.size()) + " members");
  }
}

void QualityDiversity::take(StepReport& report) {
  parent_ids_.clear();
  for (const std::uint32_t row : parents_) {
    parent_ids_.push_back(container_->individuals().ids[row]);
  }
  extinguish(report);
  remember_offspring();
  std::vector<Outcome> outcomes(offspring_.size());
  container_->add_all(offspring_.individuals(), offspring_.rows(), workers_, outcomes);
  for (const Outcome outcome : outcomes) {
    switch (outcome) {
      case Outcome::added:
        ++report.added;
        break;
      case Outcome::replaced:
        ++report.replaced;
        break;
      case Outcome::rejected:
        ++report.rejected;
        break;
      case Outcome::invalid:
        ++report.invalid;
        break;
    }
  }
  teach_selector(std::span(outcomes).last(parents_.size()));
  learn(outcomes);
}

/// A clone senses what its parent did.
void QualityDiversity::remember_offspring() {
  if (config_.recent == 0) return;
  std::vector<std::uint32_t> rows(offspring_.rows().begin(), offspring_.rows().end());
  std::erase_if(rows, [&](std::uint32_t row) { return row >= offspring_.simulated(); });
  recent_.add(offspring_.individuals(), rows);
}

/// Before the children of iteration P + 1, 2 P + 1, ... are offered: what is seen after iteration P
/// is what its search has found. Who survives is drawn from the members by age, wherever they
/// stand; the fittest does.
void QualityDiversity::extinguish(StepReport& report) {
  const std::size_t period = config_.extinction_period;
  if (period == 0 || iteration_ == 1 || (iteration_ - 1) % period != 0) return;
  const Individuals& members = container_->individuals();
  if (members.size() == 0) return;
  std::vector<std::uint32_t> rows = rows_by_age(members);
  const auto fittest =
      std::ranges::max_element(rows, {}, [&](std::uint32_t row) { return members.fitness[row]; });
  std::rotate(rows.begin(), fittest, fittest + 1);
  Stream stream(seed_, Purpose::extinction, address(iteration_));
  std::vector<std::uint32_t> survivors = {rows.front()};
  const double share = config_.extinction_survivors * static_cast<double>(rows.size());
  for (const std::uint32_t i : stream.permutation(rows.size() - 1)) {
    if (static_cast<double>(survivors.size()) >= std::round(share)) break;
    survivors.push_back(rows[i + 1]);
  }
  report.extinct = rows.size() - survivors.size();
  extinct_ += report.extinct;
  container_->retain(survivors);
}

/// Tells a selector with columns of its own what became of the children of those who are still
/// where they were.
void QualityDiversity::teach_selector(std::span<const Outcome> outcomes) {
  const Individuals& members = container_->individuals();
  if (members.extra_names.empty()) return;
  std::vector<Birth> births;
  for (std::size_t i = 0; i < parents_.size(); ++i) {
    const std::uint32_t row = parents_[i];
    if (row >= members.size() || members.ids[row] != parent_ids_[i]) continue;
    births.push_back({row, outcomes[i] == Outcome::added || outcomes[i] == Outcome::replaced});
  }
  selector_->learn(births, container_->extra());
}

void QualityDiversity::describe_again(StepReport& report) {
  const Stopwatch watch(report.seconds.encode);
  const SensoryView data = container_->individuals().sensory.view();
  Matrix<float> descriptors(data.rows(), encoder_->dimension());
  std::vector<float> errors(reads_errors() ? data.rows() : 0);
  encoder_->encode(data, descriptors, errors, workers_);
  report.lost += container_->set_descriptors(descriptors, errors);
}

void QualityDiversity::tidy(const IterationEnd& end, StepReport& report) {
  const Upkeep upkeep = container_->after_iteration(end, workers_);
  report.container_updated = upkeep.updated;
  report.lost += upkeep.lost;
}

void QualityDiversity::save_members(AlgorithmState& out) const {
  out.container = container_->individuals();
  out.population = recent_.individuals();
}

void QualityDiversity::restore_members(AlgorithmState& state) {
  recent_.restore(std::move(state.population));
  container_->restore(std::move(state.container), state.container_state);
}

PartState QualityDiversity::loop_state() const {
  if (config_.extinction_period == 0) return {};
  return {.numbers = {{"extinct", static_cast<double>(extinct_)}}};
}

void QualityDiversity::restore_loop(const PartState& state) {
  const double extinct = number_called(state.numbers, "extinct", 0);
  if (!(extinct >= 0 && extinct < 1e18)) throw DataError("the number of the extinct is none");
  extinct_ = static_cast<std::size_t>(extinct);
}

std::string refuses(const QualityDiversityConfig& config, const Mix& mix) {
  if (config.recent == 0 || mix.learned) return {};
  return "algorithm.recent=" + std::to_string(config.recent) +
         " and hand-coded descriptors: there is no encoder to learn from them";
}

Idle idle(const QualityDiversityConfig& config) {
  if (config.extinction_period > 0) return {};
  return {{"algorithm.extinction_survivors",
           "algorithm.extinction_period=0: there are no extinctions"}};
}

LoopEntry quality_diversity_loop() {
  using Config = QualityDiversityConfig;
  return part<Config>("quality-diversity", "children of the container's members")
      .options(add_quality_diversity_options<Config>)
      .refuses([](const Config& config, const Mix& mix) { return refuses(config, mix); })
      .idle([](const Config& config, const Mix&) { return idle(config); })
      .made_by([](const Config& config, LoopContext& context) {
        return std::make_unique<QualityDiversity>(context, config);
      });
}

}  // namespace aurora
