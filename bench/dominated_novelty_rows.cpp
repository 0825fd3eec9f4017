// Batches offered to a full container of Dominated Novelty Search, one thread. The baseline
// computes every score anew, with the same index: the container is restored before each batch.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "aurora/containers/dominated_novelty.hpp"
#include "aurora/core/individuals.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/core/random.hpp"
#include "table.hpp"

namespace aurora::bench {
namespace {

constexpr std::size_t kNewcomers = 128;

/// A container that is fed with children of its members: small steps, and a little more or less
/// fitness.
class Fed {
 public:
  Fed(std::size_t size, std::size_t n)
      : layout_{.genotype_size = 10,
                .descriptor_size = n,
                .ground_truth_size = 2,
                .sensory = {.extents = {4}, .element = ElementType::uint8}},
        step_(0.3 / std::pow(static_cast<double>(size), 1.0 / static_cast<double>(n))),
        container_(layout_, {}, size),
        batch_(layout_, kNewcomers) {
    for (std::uint32_t i = 0; i < kNewcomers; ++i) rows_.push_back(i);
    while (container_.size() < size) feed();
    for (int i = 0; i < 300; ++i) feed();
  }

  void feed() {
    const Individuals& members = container_.individuals();
    for (std::size_t i = 0; i < kNewcomers; ++i) {
      const bool child = members.size() > 0 && draw_.uniform() < 0.9;
      const std::size_t parent = child ? draw_.below(members.size()) : 0;
      batch_.fitness[i] = static_cast<float>(child ? members.fitness[parent] + 0.01 * draw_.normal()
                                                   : draw_.uniform());
      for (std::size_t a = 0; a < layout_.descriptor_size; ++a) {
        batch_.descriptors(i, a) = static_cast<float>(
            child ? members.descriptors(parent, a) + step_ * draw_.normal() : draw_.uniform());
      }
      batch_.ids[i] = next_id_++;
    }
    container_.add_all(batch_, rows_, one_, outcomes_);
  }

  void feed_anew() {
    container_.restore(container_.individuals());
    feed();
  }

 private:
  IndividualsLayout layout_;
  double step_;
  DominatedNovelty container_;
  Individuals batch_;
  std::vector<std::uint32_t> rows_;
  std::vector<Outcome> outcomes_ = std::vector<Outcome>(kNewcomers);
  std::uint64_t next_id_ = 0;
  Stream draw_{1, Purpose::user};
  Workers one_{1};
};

}  // namespace

void dominated_novelty_rows(Table& table) {
  table.heading("Dominated Novelty Search, one thread");
  for (const std::size_t size : {10'000, 100'000}) {
    for (const std::size_t n : {2, 10}) {
      const std::string name = "dns/N=" + std::to_string(size) + "/n=" + std::to_string(n);
      if (!table.wanted(name)) continue;
      Fed fed(size, n);
      Fed anew(size, n);
      table.measure(name, "candidates/s", {kNewcomers, [&] { fed.feed(); }}, "every score anew",
                    Work{kNewcomers, [&] { anew.feed_anew(); }});
    }
  }
}

}  // namespace aurora::bench
