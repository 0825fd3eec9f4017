// Members of no container, for selectors.
#pragma once

#include <string_view>
#include <vector>

#include "aurora/evolution/selector.hpp"

namespace aurora {

struct ToldMembers final : SelectionView {
  std::vector<float> fitnesses;
  std::vector<float> novelties;
  std::vector<float> values;  // of the selector's only column

  std::size_t size() const override { return fitnesses.size(); }
  std::vector<float> novelty() override { return novelties; }
  std::vector<float> reconstruction_error() override { return std::vector<float>(size()); }
  std::vector<float> fitness() override { return fitnesses; }
  std::vector<float> column(std::string_view) override { return values; }
};

}  // namespace aurora
