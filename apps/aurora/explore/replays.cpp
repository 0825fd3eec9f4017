#include "apps/aurora/explore/replays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "apps/aurora/explore/address.hpp"
#include "apps/aurora/explore/own_files.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/runs/checkpoint.hpp"

namespace aurora::explore {
namespace {

/// The sensory data of the row, if the source has it and is still the one that was read.
void add_sensory(SavedContainer& one, const ReplayJob& job) {
  const Source& source = job.container->source;
  if (source.is_checkpoint() || source.name.starts_with("snapshots")) return;
  try {
    check_own(job.run, source.name, std::numeric_limits<std::uint64_t>::max());
    const SavedIndividual stored = load_individual(job.run / source.name, job.row);
    if (stored.id != one.individuals.ids[0] || stored.sensory.rows() != 1) return;
    one.individuals.sensory = stored.sensory;
    one.has_sensory = stored.sensory.shape() == job.container->plan->spec().sensory;
  } catch (const Error&) {
    // Then it is compared without, as an individual of a snapshot is.
  }
}

}  // namespace

std::size_t Replayed::bytes() const {
  std::size_t sum = sizeof(*this) + drawn.difference.size() + error.size();
  for (const Drawn::File& file : drawn.files) sum += file.name.size() + file.bytes.size();
  return sum;
}

const std::string* Replayed::file(std::uint64_t id, const std::string& ending) const {
  const std::string name = fmt::format("individual-{}{}", id, ending);
  const auto found = std::ranges::find(drawn.files, name, &Drawn::File::name);
  return found == drawn.files.end() ? nullptr : &found->bytes;
}

Repertoire alone(const ReplayJob& job) {
  const SavedContainer& all = job.container->saved;
  SavedContainer one;
  one.task = all.task;
  one.ground_truth = all.ground_truth;
  const Individuals& members = all.individuals;
  one.individuals =
      Individuals({members.genotypes.cols(), members.descriptors.cols(),
                   members.ground_truth.cols(), members.sensory.shape(), members.extra_names},
                  1);
  one.individuals.copy_row(members, job.row, 0);
  add_sensory(one, job);
  return {*job.container->plan, std::move(one), job.container->source, {}};
}

Drawn draw_alone(Repertoire one, const std::filesystem::path& run, const PicturesWanted& wanted) {
  std::unique_ptr<Encoder> encoder;
  if (wanted.stills) {
    check_own(run, "encoder", kMostBytes);
    check_own(run, kLastCheckpoint, kMostBytes, "container.sensory.npy");
    encoder = open_encoder(one.plan, run, one.source);
  }
  return Viewer(std::move(one), std::move(encoder)).draw(0, wanted);
}

Drawn draw_here(const ReplayJob& job) {
  return draw_alone(alone(job), job.run, job.wanted);
}

Replays::Replays(Draw draw, const Limits& limits)
    : draw_(std::move(draw)), limits_(limits), kept_(limits.kept_bytes, 1) {
  for (std::size_t i = 0; i < limits_.at_once; ++i) threads_.emplace_back([this] { work(); });
}

Replays::~Replays() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
    queue_.clear();
  }
  wanted_.notify_all();
  done_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Replays::Pointer Replays::get(const std::string& name, const ReplayJob& job,
                              std::chrono::milliseconds patience) {
  if (Pointer value = kept_.find(name)) return value;
  std::unique_lock lock(mutex_);
  std::shared_ptr<Coming>& place = coming_[name];
  if (listeners_ >= limits_.listeners || (!place && queue_.size() >= limits_.waiting)) {
    if (!place) coming_.erase(name);
    throw Refusal(503, "too many individuals are being drawn already; try again in a moment");
  }
  if (!place) {
    place = std::make_shared<Coming>(Coming{name, job, nullptr});
    queue_.push_back(place);
    wanted_.notify_one();
  }
  const std::shared_ptr<Coming> coming = place;
  ++listeners_;
  done_.wait_for(lock, patience, [&] { return coming->done || ends_; });
  --listeners_;
  return coming->done;
}

void Replays::work() {
  for (;;) {
    std::shared_ptr<Coming> coming;
    {
      std::unique_lock lock(mutex_);
      wanted_.wait(lock, [&] { return ends_ || !queue_.empty(); });
      if (ends_) return;
      coming = queue_.front();
      queue_.pop_front();
    }
    auto result = std::make_shared<Replayed>();
    try {
      result->drawn = draw_(coming->job);
    } catch (const std::exception& error) {
      result->error = error.what();
    } catch (...) {  // a task may throw anything
      result->error = "something was thrown that is no std::exception";
    }
    if (result->error.empty()) kept_.get(coming->name, [&] { return Pointer(result); });
    {
      const std::scoped_lock lock(mutex_);
      coming->done = std::move(result);
      coming_.erase(coming->name);
    }
    done_.notify_all();
  }
}

}  // namespace aurora::explore
