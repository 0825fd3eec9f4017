#include "aurora/algorithms/population_search.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"

namespace aurora {

PopulationSearch::PopulationSearch(LoopContext& context, const PopulationConfig& config)
    : Algorithm(context),
      config_(config),
      container_(offspring_.individuals()),
      index_(context.descriptor_size) {
  container_.resize(0);
  container_.sensory.freeze();
  population_ = container_;
  next_population_ = container_;
  if (!selector_->ranks()) {
    throw UsageError("a population is ranked, and this selection gives no ranking");
  }
  if (config.added == 0 || config.added > context.batch) {
    throw UsageError("population.added (Q) must be between 1 and the batch, " +
                     std::to_string(context.batch));
  }
}

void PopulationSearch::save_members(AlgorithmState& out) const {
  out.container = container_;
  out.population = population_;
}

void PopulationSearch::restore_members(AlgorithmState& state) {
  if (!same_columns(state.container, container_) ||
      (state.population.size() > 0 && !same_columns(state.population, population_))) {
    throw DataError("the columns of the individuals are not those of this search");
  }
  if (state.population.size() != (state.iteration == 0 ? 0 : offspring_.size())) {
    throw DataError("there are " + std::to_string(state.population.size()) +
                    " individuals in the population, the batch is " +
                    std::to_string(offspring_.size()));
  }
  check_ids(state.container);
  for (std::size_t row = 0; row < state.container.size(); ++row) {
    if (!is_evaluated(state.container, row)) {
      throw DataError("individual " + std::to_string(state.container.ids[row]) +
                      " holds a number that is not finite");
    }
  }
  container_ = std::move(state.container);
  if (state.population.size() > 0) population_ = std::move(state.population);
  container_.sensory.freeze();
  population_.sensory.freeze();
  fill_index();
}

void PopulationSearch::breed(MatrixView<const float> given) {
  if (given.rows() > 0 || population_.size() == 0) {
    offspring_.draw(iteration_, workers_, given);
    return;
  }
  std::vector<std::uint32_t> parents(offspring_.size());
  std::iota(parents.begin(), parents.end(), 0U);
  std::vector<std::uint32_t> mates = parents;
  if (variation_->needs_mate()) {
    Stream stream(seed_, Purpose::selection, address(iteration_));
    select_uniform(population_.size(), mates, stream);
  }
  offspring_.breed(iteration_, *variation_, population_, parents, mates, unvaried());
}

void PopulationSearch::take(StepReport& report) {
  const std::vector<Candidate> ranking = ranked();
  add_best_children(ranking, report);
  next_population_.resize(offspring_.size());
  renew_population(ranking);
  std::swap(population_, next_population_);
}

/// The candidates as a selector sees them.
class PopulationSearch::View final : public SelectionView {
 public:
  View(PopulationSearch& search, std::span<const Candidate> candidates)
      : search_(search), candidates_(candidates) {}
  std::size_t size() const override { return candidates_.size(); }
  std::vector<float> novelty() override { return search_.novelty_of(candidates_); }
  std::vector<float> reconstruction_error() override {
    return gather([](const Candidate& c) { return c.from->reconstruction_error[c.row]; });
  }
  std::vector<float> fitness() override {
    return gather([](const Candidate& c) { return c.from->fitness[c.row]; });
  }
  std::vector<float> column(std::string_view name) override {
    return gather(
        [&](const Candidate& c) { return c.from->extra(c.row, c.from->extra_column(name)); });
  }

 private:
  template <class Get>
  std::vector<float> gather(const Get& get) const {
    std::vector<float> values;
    values.reserve(candidates_.size());
    for (const Candidate& c : candidates_) values.push_back(get(c));
    return values;
  }

  PopulationSearch& search_;
  std::span<const Candidate> candidates_;
};

std::vector<PopulationSearch::Candidate> PopulationSearch::ranked() {
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < offspring_.size(); ++i) {
    all.push_back({&offspring_.individuals(), address(offspring_.row(i)), 0});
  }
  if (parents_compete()) {
    for (std::size_t i = 0; i < population_.size(); ++i) {
      all.push_back({&population_, address(i), 0});
    }
  }
  View view(*this, all);
  const std::vector<float> scores = selector_->weights(view, address(iteration_));
  if (scores.size() != all.size()) {
    throw DataError("the selector gave " + std::to_string(scores.size()) + " weights for " +
                    std::to_string(all.size()) + " candidates");
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].score = is_finite(*all[i].from, all[i].row) ? scores[i] : -1;
  }
  // Of two that score the same the older one comes first.
  std::ranges::sort(all, [](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score > b.score : a.from->ids[a.row] < b.from->ids[b.row];
  });
  return all;
}

std::vector<float> PopulationSearch::novelty_of(std::span<const Candidate> candidates) {
  // The reference set is the container and all candidates.
  std::vector<float> scores(candidates.size());
  const std::size_t first = container_.size();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& c = candidates[i];
    if (!is_finite(*c.from, c.row)) continue;
    index_.insert(first + i, c.from->descriptors.row(c.row), c.from->ids[c.row]);
  }
  workers_.parallel_for(candidates.size(), 16, [&](std::size_t begin, std::size_t end) {
    NeighbourIndex::Workspace workspace;
    std::vector<Neighbour> others;
    for (std::size_t i = begin; i < end; ++i) {
      const Candidate& c = candidates[i];
      if (!index_.contains(first + i)) continue;
      // A parent may stand in the container too, and nobody is his own neighbour.
      const std::uint64_t id = c.from->ids[c.row];
      const auto nearest = index_.nearest(c.from->descriptors.row(c.row), config_.k + 2, workspace);
      others.assign(nearest.begin(), nearest.end());
      std::erase_if(others, [&](const Neighbour& neighbour) { return neighbour.id == id; });
      others.resize(std::min(others.size(), config_.k));
      scores[i] = static_cast<float>(mean_distance(others));
    }
  });
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (index_.contains(first + i)) index_.erase(first + i);
  }
  return scores;
}

void PopulationSearch::add_best_children(std::span<const Candidate> ranking, StepReport& report) {
  for (const Candidate& c : ranking) {
    if (c.from != &offspring_.individuals()) continue;
    if (c.score < 0) {
      ++report.invalid;
    } else if (report.added < config_.added) {
      const std::size_t row = container_.size();
      container_.resize(row + 1);
      container_.copy_row(offspring_.individuals(), c.row, row);
      index_.insert(row, container_.descriptors.row(row), container_.ids[row]);
      ++report.added;
    } else {
      ++report.rejected;
    }
  }
}

void PopulationSearch::describe_again(StepReport& report) {
  {
    const Stopwatch watch(report.seconds.encode);
    describe(container_);
    describe(population_);
  }
  const Stopwatch watch(report.seconds.container);
  fill_index();
}

void PopulationSearch::fill_index() {
  index_.clear();
  for (std::size_t row = 0; row < container_.size(); ++row) {
    // Nothing leaves the container; what the encoder cannot place is merely no neighbour.
    if (!is_finite(container_, row)) continue;
    index_.insert(row, container_.descriptors.row(row), container_.ids[row]);
  }
}

void PopulationSearch::describe(Individuals& individuals) {
  const std::span<float> errors = individuals.reconstruction_error;
  encoder_->encode(individuals.sensory.view(), individuals.descriptors,
                   errors.first(reads_errors() ? errors.size() : 0), workers_);
}

namespace {

/// The children, of whom the Q worst give way to copies of the Q best.
class Taxons final : public PopulationSearch {
 public:
  Taxons(LoopContext& context, const TaxonsConfig& config)
      : PopulationSearch(context, config), unvaried_(config.unvaried) {}

 private:
  bool parents_compete() const override { return false; }
  double unvaried() const override { return unvaried_; }
  void renew_population(std::span<const Candidate> ranking) override {
    const std::size_t batch = offspring_.size();
    const std::size_t kept = batch - std::min(config_.added, batch / 2);
    for (std::size_t i = 0; i < batch; ++i) {
      const Candidate& c = ranking[i < kept ? i : i - kept];
      next_population_.copy_row(*c.from, c.row, i);
    }
  }

  double unvaried_;
};

/// The best of parents and children.
class NoveltySearch final : public PopulationSearch {
 public:
  using PopulationSearch::PopulationSearch;

 private:
  bool parents_compete() const override { return true; }
  void renew_population(std::span<const Candidate> ranking) override {
    for (std::size_t i = 0; i < offspring_.size(); ++i) {
      next_population_.copy_row(*ranking[i].from, ranking[i].row, i);
    }
  }
};

/// What both have in common.
template <class Config>
PartBuilder<Config> population_part(std::string name, std::string summary) {
  const std::string reason =
      "a population appends its best children to a container that nobody leaves";
  return part<Config>(std::move(name), std::move(summary))
      .option("population.added", &Config::added, 1, 1'000'000,
              "individuals added in a generation (Q)")
      .option("container.k", &Config::k, 1, 1000, "neighbours that make the novelty score (k)")
      .without("container", reason)
      .without("threshold", reason)
      .refuses([](const Config& config, const Mix& mix) -> std::string {
        if (!mix.ranks) {
          return "selection.kind=" + mix.selection +
                 ": a population is ranked, and this selection gives no ranking; use novelty, "
                 "surprise or novelty+surprise";
        }
        if (mix.learns) {
          return "selection.kind=" + mix.selection +
                 ": it learns from the members of a container, and a population has none";
        }
        if (config.added > mix.batch) {
          return "population.added=" + std::to_string(config.added) +
                 " and run.batch=" + std::to_string(mix.batch) +
                 ": no more children can be added than there are";
        }
        return {};
      });
}

}  // namespace

LoopEntry taxons_loop() {
  return population_part<TaxonsConfig>("taxons", "a population that seeks novelty and surprise")
      .option("population.unvaried", &TaxonsConfig::unvaried, Range{0, 1},
              "taxons: probability that a child is a copy")
      .made_by([](const TaxonsConfig& config, LoopContext& context) {
        return std::make_unique<Taxons>(context, config);
      });
}

LoopEntry novelty_search_loop() {
  return population_part<PopulationConfig>("novelty-search", "Novelty Search, with a population")
      .made_by([](const PopulationConfig& config, LoopContext& context) {
        return std::make_unique<NoveltySearch>(context, config);
      });
}

}  // namespace aurora
