#include "apps/aurora/explore/individual_text.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "apps/aurora/explore/run_text.hpp"
#include "aurora/runs/repertoire.hpp"

namespace aurora::explore {
namespace {

constexpr std::size_t kNeighbours = 15;

/// The shortest decimal number that reads back to the same float.
Json number(float value) {
  if (!std::isfinite(value)) return nullptr;
  return Json::parse(fmt::to_string(value + 0.0F));
}

Json list(std::span<const float> values) {
  Json all = Json::array();
  for (const float value : values) all.push_back(number(value));
  return all;
}

Json truth(const OpenContainer& container, std::size_t row) {
  Json all = Json::object();
  const auto values = container.saved.individuals.ground_truth.row(row);
  for (std::size_t i = 0; i < values.size(); ++i) {
    all[container.saved.ground_truth[i].name] = number(values[i]);
  }
  return all;
}

/// The nearest others, the nearest first.
std::vector<Nearby> neighbours(const SavedContainer& saved, std::size_t row) {
  const auto place = saved.individuals.descriptors.row(row);
  const std::vector<double> here(place.begin(), place.end());
  std::vector<Nearby> near = nearest_to_descriptor(saved, here, kNeighbours + 1);
  const auto self = std::ranges::find(near, row, &Nearby::row);
  near.erase(self == near.end() ? near.end() - 1 : self);
  return near;
}

}  // namespace

Json individual_json(const OpenContainer& container, std::size_t row) {
  const Individuals& members = container.saved.individuals;
  const std::vector<Nearby> near = neighbours(container.saved, row);
  Json others = Json::array();
  double sum = 0;
  for (const Nearby& other : near) {
    others.push_back({{"id", members.ids[other.row]}, {"distance", other.distance}});
    sum += other.distance;
  }
  Json json = {{"id", members.ids[row]},
               {"row", row},
               {"iteration", container.source.iteration},
               {"fitness", number(members.fitness[row])},
               {"novelty", near.empty() ? 0.0 : sum / static_cast<double>(near.size())}};
  if (container.plan) json["birth"] = birth_of(members.ids[row], container.plan->run.batch);
  if (!container.plan || container.plan->encoder) {
    json["reconstruction_error"] = number(members.reconstruction_error[row]);
  }
  json["genes"] = list(members.genotypes.row(row));
  json["ground_truth"] = truth(container, row);
  json["descriptor"] = list(members.descriptors.row(row));
  json["neighbours"] = std::move(others);
  return json;
}

}  // namespace aurora::explore
