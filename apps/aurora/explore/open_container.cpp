#include "apps/aurora/explore/open_container.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "apps/aurora/explore/own_files.hpp"
#include "aurora/containers/nearest_neighbours.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/runs/repertoire.hpp"
#include "aurora/storage/internal/json.hpp"

namespace aurora::explore {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kScored = 15;  // neighbours, as novelty scores have it

/// Columns and their description, one after the other.
class Columns {
 public:
  void add(const char* name, const char* type, std::size_t components, const void* data,
           std::size_t count) {
    described_.push_back({{"name", name}, {"type", type}, {"components", components}});
    bytes_.append(static_cast<const char*>(data), 4 * count * components);
  }
  void add(const char* name, const std::vector<float>& values) {
    add(name, "f32", 1, values.data(), values.size());
  }
  void add(const char* name, const std::vector<std::uint32_t>& values) {
    add(name, "u32", 1, values.data(), values.size());
  }
  void add(const char* name, const Matrix<float>& values) {
    if (values.cols() > 0) add(name, "f32", values.cols(), values.data(), values.rows());
  }

  std::string with_header(Json header) && {
    header["columns"] = std::move(described_);
    std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
    while (text.size() % 4 != 0) text += ' ';
    const auto length = static_cast<std::uint32_t>(text.size());
    std::string all(sizeof(length), '\0');
    std::memcpy(all.data(), &length, sizeof(length));
    return all + text + bytes_;
  }

 private:
  Json described_ = Json::array();
  std::string bytes_;
};

}  // namespace

std::uint64_t birth_of(std::uint64_t id, std::size_t batch) {
  return id / std::max<std::size_t>(batch, 1) + 1;
}

std::size_t OpenContainer::bytes() const {
  const Individuals& members = saved.individuals;
  const std::size_t row = 4 * (members.genotypes.cols() + members.descriptors.cols() +
                               members.ground_truth.cols() + members.extra.cols() + 2) +
                          sizeof(std::uint64_t) + sizeof(SharedRow);
  return sizeof(*this) + members.size() * row + columns.size();
}

std::shared_ptr<const OpenContainer> open_container(LiveRun& run, const Source& source,
                                                    const std::string& etag) {
  check_own(run.directory(), source.name, kMostBytes,
            source.is_checkpoint() ? "container.sensory.npy" : "sensory.npy");
  auto container = std::make_shared<OpenContainer>();
  container->source = source;
  container->etag = etag;
  std::string why;
  container->plan = run.plan(&why);
  if (!container->plan && source.is_checkpoint()) throw DataError(why);
  container->saved =
      load_source(run.directory(), source, container->plan ? container->plan->spec() : TaskSpec{},
                  SensoryWanted::no);
  if (container->plan) {
    check_task(*container->plan, container->saved, run.directory() / source.name);
  }
  container->columns = container_columns(*container);
  return container;
}

std::string container_columns(const OpenContainer& container) {
  const Individuals& members = container.saved.individuals;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (!members.ids.empty() && members.ids.back() > kMost) {
    throw DataError(fmt::format("the page shows individuals up to number {}, and here is {}", kMost,
                                members.ids.back()));
  }
  Columns columns;
  columns.add("id", std::vector<std::uint32_t>(members.ids.begin(), members.ids.end()));
  columns.add("fitness", members.fitness);
  if (container.plan) {
    std::vector<std::uint32_t> births;
    births.reserve(members.size());
    for (const std::uint64_t id : members.ids) {
      births.push_back(static_cast<std::uint32_t>(birth_of(id, container.plan->run.batch)));
    }
    columns.add("birth", births);
  }
  if (!container.plan || container.plan->encoder) {
    columns.add("reconstruction_error", members.reconstruction_error);
  }
  columns.add("ground_truth", members.ground_truth);
  columns.add("descriptor", members.descriptors);
  return std::move(columns).with_header({{"count", members.size()},
                                         {"iteration", container.source.iteration},
                                         {"source", container.source.name},
                                         {"etag", container.etag}});
}

std::shared_ptr<const Novelty> novelty_of(const Individuals& members) {
  std::vector<float> scores(members.size());
  if (members.descriptors.cols() > 0) {
    NeighbourIndex index(members.descriptors.cols());
    for (std::size_t row = 0; row < members.size(); ++row) {
      index.insert(row, members.descriptors.row(row), members.ids[row]);
    }
    Workers alone;
    scores = index.mean_distances(kScored, alone);
  }
  return std::make_shared<const Novelty>(
      Novelty{{reinterpret_cast<const char*>(scores.data()), scores.size() * sizeof(float)}});
}

std::string genotype_columns(const std::map<std::uint64_t, std::vector<float>>& genes) {
  std::vector<std::uint32_t> ids;
  std::vector<float> values;
  for (const auto& [id, row] : genes) {
    ids.push_back(static_cast<std::uint32_t>(id));
    values.insert(values.end(), row.begin(), row.end());
  }
  Columns columns;
  columns.add("id", ids);
  if (!ids.empty()) {
    columns.add("genotype", "f32", values.size() / ids.size(), values.data(), ids.size());
  }
  return std::move(columns).with_header({{"count", ids.size()}});
}

}  // namespace aurora::explore
