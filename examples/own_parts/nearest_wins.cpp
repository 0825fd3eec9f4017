// A container: it takes everybody until it is full; from then on a newcomer fights for the place of
// the member nearest to it. It counts the fights, to show how a container keeps a state of its own.
#include <memory>
#include <string>

#include "aurora/core/errors.hpp"
#include "examples/own_parts/parts.hpp"

using namespace aurora;

namespace {

struct NearestWinsConfig {
  double advantage = 0;  // by how much a newcomer must be fitter
};

class NearestWins final : public Container {
 public:
  NearestWins(const NearestWinsConfig& config, const ContainerContext& context)
      : Container(context.layout, kNoveltyNeighbours),
        advantage_(config.advantage),
        capacity_(context.target_size) {}

  Outcome add(const Individuals& batch, std::size_t row) override {
    if (!is_finite(batch, row)) return Outcome::invalid;
    const auto descriptor = batch.descriptors.row(row);
    if (size() < capacity_) {
      index_.insert(append(batch, row), descriptor, batch.ids[row]);
      return Outcome::added;
    }
    const std::size_t rival = index_.nearest(descriptor, 1, workspace_)[0].slot;
    ++fights_;
    if (!(batch.fitness[row] > individuals_.fitness[rival] + advantage_)) {
      return Outcome::rejected;
    }
    replace(rival, batch, row);
    return Outcome::replaced;
  }

  // A column of metrics.csv.
  std::vector<NamedNumber> numbers() const override { return {{"fights", fights_}}; }

  // What `verify` asks.
  std::string check(Workers& workers) const override {
    if (size() > capacity_) throw DataError("there are more members than places");
    return Container::check(workers) + "; a place for everybody";
  }

  // What a checkpoint holds, besides the members.
  PartState state() const override { return {.numbers = {{"fights", fights_}}}; }
  void restore(Individuals individuals, const PartState& state) override {
    Container::restore(std::move(individuals), state);
    fights_ = number_called(state.numbers, "fights", 0);
  }

 private:
  static constexpr std::size_t kNoveltyNeighbours = 15;
  double advantage_;
  std::size_t capacity_;
  double fights_ = 0;
  NeighbourIndex::Workspace workspace_;
};

}  // namespace

ContainerEntry nearest_wins() {
  return part<NearestWinsConfig>("nearest-wins", "N places; one fights for the nearest")
      .option("advantage", &NearestWinsConfig::advantage, Range{0, 1e6},
              "by how much a newcomer must be fitter")
      .without("threshold", "it has N places, whatever their distance")
      .made_by([](const NearestWinsConfig& config, const ContainerContext& context) {
        return std::make_unique<NearestWins>(config, context);
      });
}
