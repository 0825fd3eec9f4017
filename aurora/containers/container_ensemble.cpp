#include "aurora/containers/container_ensemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

constexpr std::size_t kNoveltyNeighbours = 15;
/// Rows are carried as floats, which are exact so far.
constexpr std::size_t kMostRows = std::size_t{1} << 24;
constexpr const char* kMembers = "members";

std::string prefix_of_container(std::size_t container) {
  return std::to_string(container + 1) + ".";
}

/// What of a state belongs to one container.
PartState part_of(const PartState& state, std::size_t container) {
  const std::string prefix = prefix_of_container(container);
  const auto pick = [&](auto& to, const auto& from) {
    for (const auto& one : from) {
      if (!one.name.starts_with(prefix)) continue;
      to.push_back(one);
      to.back().name.erase(0, prefix.size());
    }
  };
  PartState part;
  pick(part.numbers, state.numbers);
  pick(part.arrays, state.arrays);
  return part;
}

}  // namespace

IndividualsLayout ContainerEnsemble::part_layout(const IndividualsLayout& layout,
                                                 std::size_t containers) {
  return {.genotype_size = 0,
          .descriptor_size = layout.descriptor_size / containers,
          .ground_truth_size = 0,
          .sensory = {.extents = {0}},
          .extra = {"row"}};
}

ContainerEnsemble::ContainerEnsemble(const IndividualsLayout& layout,
                                     std::vector<std::unique_ptr<Container>> containers)
    : Container(layout, kNoveltyNeighbours), containers_(std::move(containers)) {
  if (containers_.empty()) throw UsageError("an ensemble has at least one container");
  newcomers_ = Individuals(part_layout(layout, containers_.size()));
}

Outcome ContainerEnsemble::add(const Individuals& batch, std::size_t row) {
  Workers alone;
  const auto rows = static_cast<std::uint32_t>(row);
  Outcome outcome = Outcome::invalid;
  add_all(batch, {&rows, 1}, alone, {&outcome, 1});
  return outcome;
}

void ContainerEnsemble::add_all(const Individuals& batch, std::span<const std::uint32_t> rows,
                                Workers& workers, std::span<Outcome> outcomes) {
  if (size() + rows.size() > kMostRows) {
    throw UsageError(fmt::format("an ensemble holds at most {} individuals", kMostRows));
  }
  newcomers_.resize(rows.size());
  std::vector<std::uint32_t> offered;
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    outcomes[i] = Outcome::invalid;
    if (!is_finite(batch, rows[i])) continue;
    outcomes[i] = Outcome::rejected;
    offered.push_back(i);
    newcomers_.ids[i] = batch.ids[rows[i]];
    newcomers_.fitness[i] = batch.fitness[rows[i]];
    newcomers_.reconstruction_error[i] = batch.reconstruction_error[rows[i]];
    newcomers_.extra(i, 0) = static_cast<float>(size() + i);
  }
  std::vector<Outcome> theirs(offered.size());
  for (std::size_t c = 0; c < containers_.size(); ++c) {
    for (const std::uint32_t i : offered) {
      std::ranges::copy(part_descriptor(c, batch.descriptors.row(rows[i])),
                        newcomers_.descriptors.row(i).begin());
    }
    containers_[c]->add_all(newcomers_, offered, workers, theirs);
    // In the order of the outcomes: added, replaced, rejected.
    for (std::size_t i = 0; i < offered.size(); ++i) {
      outcomes[offered[i]] = std::min(outcomes[offered[i]], theirs[i]);
    }
  }
  settle(batch, rows);
}

/// Lets go whom no container holds any more, takes those rows of the batch in that one of them
/// holds, and tells the containers where everybody is. Returns how many have gone.
std::size_t ContainerEnsemble::settle(const Individuals& batch,
                                      std::span<const std::uint32_t> rows) {
  constexpr std::uint32_t kNowhere = NeighbourIndex::kNoSlot;
  const std::size_t before = size();
  places_.assign(before + rows.size(), kNowhere);
  for (const auto& container : containers_) {
    const Individuals& members = container->individuals();
    for (std::size_t row = 0; row < members.size(); ++row) {
      places_[row_here(members, row)] = row_here(members, row);
    }
  }
  for (std::size_t row = 0; row < before; ++row) {
    if (places_[row] == kNowhere) index_.erase(row);
  }
  for (const auto& [from, to] : drop_rows_not_indexed()) places_[from] = to;
  const std::size_t gone = before - size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::uint32_t& place = places_[before + i];
    if (place == kNowhere) continue;
    place = static_cast<std::uint32_t>(append(batch, rows[i]));
    index_.insert(place, batch.descriptors.row(rows[i]), batch.ids[rows[i]]);
  }
  for (const auto& container : containers_) {
    const MatrixView<float> carried = container->extra();
    for (std::size_t row = 0; row < carried.rows(); ++row) {
      float& here = carried(row, 0);
      here = static_cast<float>(places_[static_cast<std::size_t>(here)]);
    }
  }
  return gone;
}

Upkeep ContainerEnsemble::after_iteration(const IterationEnd& end, Workers& workers) {
  Upkeep all;
  for (const auto& container : containers_) {
    all.updated |= container->after_iteration(end, workers).updated;
  }
  all.lost = settle({}, {});
  return all;
}

std::vector<NamedNumber> ContainerEnsemble::numbers() const {
  std::vector<NamedNumber> all = containers_.front()->numbers();
  for (std::size_t c = 1; c < containers_.size(); ++c) {
    const std::vector<NamedNumber> more = containers_[c]->numbers();
    for (std::size_t i = 0; i < all.size(); ++i) all[i].value += more[i].value;
  }
  for (NamedNumber& number : all) number.value /= static_cast<double>(containers_.size());
  for (std::size_t c = 0; c < containers_.size(); ++c) {
    all.push_back({fmt::format("size_{}", c + 1), static_cast<double>(containers_[c]->size())});
  }
  return all;
}

std::string ContainerEnsemble::check(Workers& workers) const {
  Container::check(workers);
  std::string all;
  for (std::size_t c = 0; c < containers_.size(); ++c) {
    all += fmt::format("{}container {}, {} members: {}", c == 0 ? "" : "; ", c + 1,
                       containers_[c]->size(), containers_[c]->check(workers));
  }
  return all;
}

std::size_t ContainerEnsemble::set_descriptors(MatrixView<const float> descriptors,
                                               std::span<const float> errors) {
  const std::size_t lost = Container::set_descriptors(descriptors, errors);
  std::unordered_map<std::uint64_t, std::uint32_t> rows;
  for (std::uint32_t row = 0; row < size(); ++row) rows[individuals_.ids[row]] = row;
  for (std::size_t c = 0; c < containers_.size(); ++c) {
    const Individuals& members = containers_[c]->individuals();
    // Who has gone here goes there: his descriptor is not finite.
    Matrix<float> theirs(members.size(), part_dimension());
    std::ranges::fill(std::span(theirs.data(), theirs.rows() * theirs.cols()),
                      std::numeric_limits<float>::quiet_NaN());
    std::vector<float> their_errors(members.size());
    for (std::size_t row = 0; row < members.size(); ++row) {
      const auto here = rows.find(members.ids[row]);
      if (here == rows.end()) continue;
      std::ranges::copy(part_descriptor(c, individuals_.descriptors.row(here->second)),
                        theirs.row(row).begin());
      their_errors[row] = individuals_.reconstruction_error[here->second];
    }
    containers_[c]->set_descriptors(theirs, their_errors);
    const MatrixView<float> carried = containers_[c]->extra();
    for (std::size_t row = 0; row < members.size(); ++row) {
      carried(row, 0) = static_cast<float>(rows.at(members.ids[row]));
    }
  }
  return lost;
}

void ContainerEnsemble::retain(std::span<const std::uint32_t> rows) {
  std::vector<bool> stays(size());
  for (const std::uint32_t row : rows) stays[row] = true;
  for (const auto& container : containers_) {
    const Individuals& members = container->individuals();
    std::vector<std::uint32_t> theirs;
    for (std::uint32_t row = 0; row < members.size(); ++row) {
      if (stays[row_here(members, row)]) theirs.push_back(row);
    }
    container->retain(theirs);
  }
  settle({}, {});
}

/// Members are named by their age, as rows may be saved in another order.
PartState ContainerEnsemble::state() const {
  const std::vector<std::uint32_t> by_age = rows_by_age(individuals_);
  std::vector<std::uint32_t> age(by_age.size());
  for (std::uint32_t i = 0; i < by_age.size(); ++i) age[by_age[i]] = i;
  PartState all;
  for (std::size_t c = 0; c < containers_.size(); ++c) {
    PartState part = containers_[c]->state();
    const Individuals& members = containers_[c]->individuals();
    if (members.size() > 0) {
      NamedArray& array = part.arrays.emplace_back(NamedArray{kMembers, {members.size()}});
      for (std::size_t row = 0; row < members.size(); ++row) {
        array.values.push_back(static_cast<float>(age[row_here(members, row)]));
      }
    }
    for (NamedNumber& number : part.numbers) {
      all.numbers.push_back({prefix_of_container(c) + number.name, number.value});
    }
    for (NamedArray& array : part.arrays) {
      array.name = prefix_of_container(c) + array.name;
      all.arrays.push_back(std::move(array));
    }
  }
  return all;
}

/// The members of one container, whose state this is, from those of all.
Individuals ContainerEnsemble::members_of(std::size_t container, const PartState& state) const {
  const NamedArray* array = array_called(state.arrays, kMembers);
  const std::span<const float> ages = array ? array->values : std::span<const float>();
  const std::vector<std::uint32_t> by_age = rows_by_age(individuals_);
  Individuals members = newcomers_;  // for its columns
  members.resize(ages.size());
  for (std::size_t row = 0; row < ages.size(); ++row) {
    const float age = ages[row];
    if (!(age >= 0 && age < static_cast<float>(size())) || age != std::floor(age)) {
      throw DataError(fmt::format("container {} of the ensemble has a member that is not there",
                                  container + 1));
    }
    const std::uint32_t here = by_age[static_cast<std::size_t>(age)];
    members.ids[row] = individuals_.ids[here];
    members.fitness[row] = individuals_.fitness[here];
    members.reconstruction_error[row] = individuals_.reconstruction_error[here];
    members.extra(row, 0) = static_cast<float>(here);
    std::ranges::copy(part_descriptor(container, individuals_.descriptors.row(here)),
                      members.descriptors.row(row).begin());
  }
  return members;
}

void ContainerEnsemble::take_over(Individuals individuals, const PartState& state) {
  Container::restore(std::move(individuals), state);
  std::vector<bool> held(size());
  for (std::size_t c = 0; c < containers_.size(); ++c) {
    const PartState part = part_of(state, c);
    Individuals members = members_of(c, part);
    for (std::size_t row = 0; row < members.size(); ++row) held[row_here(members, row)] = true;
    containers_[c]->restore(std::move(members), part);
  }
  if (std::ranges::find(held, false) != held.end()) {
    throw DataError("an individual of the ensemble is in none of its containers");
  }
}

void ContainerEnsemble::restore(Individuals individuals, const PartState& state) {
  const PartState state_before = this->state();
  Individuals before = individuals_;
  try {
    take_over(std::move(individuals), state);
  } catch (const DataError&) {
    take_over(std::move(before), state_before);
    throw;
  }
}

}  // namespace aurora
