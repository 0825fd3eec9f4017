#include "aurora/algorithms/population_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "aurora/algorithms/containers.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/stopwatch.hpp"

namespace aurora {

PopulationSearch::PopulationSearch(const TaskSpec& task, const AlgorithmConfig& config,
                                   Evaluator& evaluator, Workers& workers)
    : config_(config),
      evaluator_(evaluator),
      workers_(workers),
      encoder_(encoder_of(task, config)),
      schedule_(config.encoder_step),
      children_(layout_of(task, config), config),
      population_(layout_of(task, config)),
      next_population_(layout_of(task, config)),
      container_(layout_of(task, config)),
      index_(layout_of(task, config).descriptor_size) {
  check_container(config);
  if (config.selection == SelectionKind::uniform || config.selection == SelectionKind::none) {
    throw UsageError(
        "a population is ranked by novelty, surprise or novelty+surprise: selection.kind='" +
        std::string(name_of(config.selection)) + "' gives no ranking");
  }
  if (config.population.added == 0 || config.population.added > config.batch) {
    throw UsageError("population.added (Q) must be between 1 and the batch, " +
                     std::to_string(config.batch));
  }
}

StepReport PopulationSearch::step() {
  ++iteration_;
  StepReport report;
  {
    const Stopwatch watch(report.seconds.variation);
    propose();
  }
  children_.realise(evaluator_, encoder_.get(), reads_surprise(config_.selection), workers_,
                    report);
  {
    const Stopwatch watch(report.seconds.container);
    const std::vector<Candidate> ranking = candidates();
    add_best_children(ranking, report);
    renew_population(ranking);
  }
  if (encoder_ && container_.size() > 0 && schedule_.due(iteration_)) update_encoder(report);
  return report;
}

void PopulationSearch::save(AlgorithmState& out) const {
  out.iteration = iteration_;
  out.encoder_updates = schedule_.updates();
  out.threshold = {};
  out.container = container_;
  out.population = population_;
  out.encoder = encoder_ ? encoder_->state() : std::vector<NamedArray>();
}

void PopulationSearch::restore(AlgorithmState state) {
  if (!same_columns(state.container, container_) || !same_columns(state.population, population_)) {
    throw DataError("the columns of the individuals are not those of this search");
  }
  if (state.population.size() != (state.iteration == 0 ? 0 : config_.batch)) {
    throw DataError("there are " + std::to_string(state.population.size()) +
                    " individuals in the population, the batch is " +
                    std::to_string(config_.batch));
  }
  check_ids(state.container);
  for (std::size_t row = 0; row < state.container.size(); ++row) {
    if (!is_evaluated(state.container, row)) {
      throw DataError("individual " + std::to_string(state.container.ids[row]) +
                      " holds a number that is not finite");
    }
  }
  restore_encoder(encoder_.get(), state.encoder);
  schedule_.restore(state.encoder_updates, state.iteration);
  container_ = std::move(state.container);
  population_ = std::move(state.population);
  iteration_ = state.iteration;
  fill_index();
}

void PopulationSearch::propose() {
  if (population_.size() == 0) {
    children_.draw(iteration_, workers_);
    return;
  }
  std::vector<std::uint32_t> parents(config_.batch);
  std::iota(parents.begin(), parents.end(), 0U);
  std::vector<std::uint32_t> mates = parents;
  if (needs_mate(config_.variation)) {
    Stream stream(config_.seed, Purpose::selection, address(iteration_));
    select_uniform(population_.size(), mates, stream);
  }
  const bool taxons = config_.kind == AlgorithmKind::taxons;
  children_.breed(iteration_, population_, parents, mates,
                  taxons ? config_.population.unvaried : 0);
}

std::vector<PopulationSearch::Candidate> PopulationSearch::candidates() {
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < children_.size(); ++i) {
    all.push_back({&children_.individuals(), address(children_.row(i)), 0});
  }
  if (config_.kind == AlgorithmKind::novelty_search) {
    for (std::size_t i = 0; i < population_.size(); ++i) {
      all.push_back({&population_, address(i), 0});
    }
  }
  const SelectionKind criterion = toss(config_.selection, config_.seed, address(iteration_));
  if (criterion == SelectionKind::novelty) {
    score_novelty(all);
  } else {
    for (Candidate& c : all) c.score = c.from->reconstruction_error[c.row];
  }
  for (Candidate& c : all) {
    if (!is_finite(*c.from, c.row)) c.score = -1;
  }
  // Of two that score the same the older one comes first.
  std::ranges::sort(all, [](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score > b.score : a.from->ids[a.row] < b.from->ids[b.row];
  });
  return all;
}

void PopulationSearch::score_novelty(std::span<Candidate> candidates) {
  // The reference set is the container and all candidates.
  const std::size_t first = container_.size();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& c = candidates[i];
    if (!is_finite(*c.from, c.row)) continue;
    index_.insert(first + i, c.from->descriptors.row(c.row), c.from->ids[c.row]);
  }
  workers_.parallel_for(candidates.size(), 16, [&](std::size_t begin, std::size_t end) {
    NeighbourIndex::Workspace workspace;
    for (std::size_t i = begin; i < end; ++i) {
      Candidate& c = candidates[i];
      if (!index_.contains(first + i)) continue;
      // A parent may stand in the container too, and nobody is his own neighbour.
      const std::uint64_t id = c.from->ids[c.row];
      const auto nearest =
          index_.nearest(c.from->descriptors.row(c.row), config_.archive.k + 2, workspace);
      double sum = 0;
      std::size_t count = 0;
      for (const Neighbour& neighbour : nearest) {
        if (neighbour.id == id || count == config_.archive.k) continue;
        sum += std::sqrt(static_cast<double>(neighbour.squared_distance));
        ++count;
      }
      c.score = count == 0 ? 0.0F : static_cast<float>(sum / static_cast<double>(count));
    }
  });
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (index_.contains(first + i)) index_.erase(first + i);
  }
}

void PopulationSearch::add_best_children(std::span<const Candidate> ranking, StepReport& report) {
  for (const Candidate& c : ranking) {
    if (c.from != &children_.individuals()) continue;
    if (c.score < 0) {
      ++report.invalid;
    } else if (report.added < config_.population.added) {
      const std::size_t row = container_.size();
      container_.resize(row + 1);
      container_.copy_row(children_.individuals(), c.row, row);
      index_.insert(row, container_.descriptors.row(row), container_.ids[row]);
      ++report.added;
    } else {
      ++report.rejected;
    }
  }
}

void PopulationSearch::renew_population(std::span<const Candidate> ranking) {
  next_population_.resize(config_.batch);
  const auto fill = [&](std::size_t to, const Candidate& c) {
    next_population_.copy_row(*c.from, c.row, to);
  };
  // Novelty Search: the best of parents and children. TAXONS: the children, of whom the Q worst
  // give way to copies of the Q best.
  const std::size_t copies = config_.kind == AlgorithmKind::taxons ? config_.population.added : 0;
  const std::size_t kept = config_.batch - std::min(copies, config_.batch / 2);
  for (std::size_t i = 0; i < config_.batch; ++i) fill(i, ranking[i < kept ? i : i - kept]);
  std::swap(population_, next_population_);
}

void PopulationSearch::update_encoder(StepReport& report) {
  {
    const Stopwatch watch(report.seconds.train);
    Stream stream(config_.seed, Purpose::encoder_training, address(iteration_));
    report.training = encoder_->train(container_.sensory.view(), stream, workers_);
  }
  {
    const Stopwatch watch(report.seconds.encode);
    describe_again(container_);
    describe_again(population_);
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

void PopulationSearch::describe_again(Individuals& individuals) {
  const std::span<float> errors = individuals.reconstruction_error;
  encoder_->encode(std::as_const(individuals.sensory).view(), individuals.descriptors,
                   errors.first(reads_surprise(config_.selection) ? errors.size() : 0), workers_);
}

}  // namespace aurora
