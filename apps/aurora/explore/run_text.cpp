#include "apps/aurora/explore/run_text.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "aurora/core/errors.hpp"
#include "aurora/metrics/grid.hpp"
#include "aurora/storage/npy.hpp"
#include "aurora/storage/paths.hpp"

namespace aurora::explore {
namespace {

namespace fs = std::filesystem;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json axes_json(const std::vector<Axis>& axes) {
  Json all = Json::array();
  for (const Axis& axis : axes) {
    all.push_back({{"name", axis.name},
                   {"lower", axis.min},
                   {"upper", axis.max},
                   {"unit", axis.unit},
                   {"downwards", axis.direction == Direction::down}});
  }
  return all;
}

Json task_json(const TaskSpec& spec) {
  return {{"name", spec.name},
          {"title", title_of(spec)},
          {"axes", axes_json(spec.ground_truth)},
          {"genes", spec.genotype_size},
          {"sensory",
           {{"shape", spec.sensory.extents},
            {"type", spec.sensory.element == ElementType::uint8 ? "uint8" : "float32"}}},
          {"worst_fitness", spec.worst_fitness}};
}

Json descriptor_json(const Plan& plan) {
  const bool learned = plan.run.descriptor == DescriptorKind::learned;
  Json names = Json::array();
  for (std::size_t i = 0; i < plan.descriptor_size(); ++i) {
    names.push_back(learned ? fmt::format("z{}", i + 1) : plan.spec().ground_truth[i].name);
  }
  return {{"dimension", plan.descriptor_size()},
          {"names", std::move(names)},
          {"kind", name_of(plan.run.descriptor)},
          {"encoder", plan.encoder ? Json(plan.encoder->entry->name) : Json()}};
}

/// What the plan says; where it cannot be made, what can be said without.
void add_plan(Json& json, LiveRun& run, const std::vector<Source>& sources) {
  std::string why;
  const std::shared_ptr<const Plan> plan = run.plan(&why);
  Json notes = Json::array();
  if (!plan) {
    notes.push_back(why);
    json["task"] = nullptr;
    json["notes"] = std::move(notes);
    json["settings"] = Json::object();
    json["encoder_available"] = false;
    return;
  }
  json["task"] = task_json(plan->spec());
  json["descriptor"] = descriptor_json(*plan);
  Json settings = Json::object();
  for (const auto& [key, value] : plan->settings()) settings[key] = value;
  json["settings"] = std::move(settings);
  const std::size_t resolution = descriptor_grid(plan->spec()).resolution;
  json["grid"] = {{"columns", resolution}, {"rows", resolution}};
  const bool saved = path_exists(run.directory() / "encoder" / "manifest.json") ||
                     std::ranges::any_of(sources, &Source::is_checkpoint);
  json["encoder_available"] = plan->encoder.has_value() && saved;
  for (const std::string& note : plan->notes) notes.push_back(note);
  json["notes"] = std::move(notes);
}

/// How many individuals a snapshot has, by the length of one of its files.
std::size_t size_of(const fs::path& snapshot) {
  struct stat status;
  if (::lstat((snapshot / "ids.npy").c_str(), &status) != 0) return 0;
  static const auto preamble = static_cast<off_t>(npy_preamble({NpyType::uint64, {0}}).size());
  return static_cast<std::size_t>(std::max<off_t>(status.st_size - preamble, 0)) /
         element_bytes(NpyType::uint64);
}

/// The oldest first.
Json snapshots_json(const fs::path& run, std::vector<Source> sources) {
  std::erase_if(sources, [](const Source& s) { return !s.name.starts_with("snapshots/"); });
  std::ranges::sort(sources, {}, &Source::iteration);
  Json all = Json::array();
  for (const Source& source : sources) {
    all.push_back({{"iteration", source.iteration}, {"size", size_of(run / source.name)}});
  }
  return all;
}

}  // namespace

std::string compact(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json standing_json(std::size_t number, const std::string& name, const Standing& standing) {
  Json json = {{"id", number},
               {"name", name},
               {"task", standing.task},
               {"variant", standing.variant},
               {"label", standing.label},
               {"seed", standing.seed},
               {"state", standing.state}};
  if (!standing.error.empty()) json["error"] = standing.error;
  json["iteration"] = or_null(standing.iteration);
  json["iterations"] = or_null(standing.iterations);
  json["size"] = or_null(standing.size);
  json["coverage"] = or_null(standing.coverage);
  return json;
}

Json run_json(LiveRun& run, const std::vector<Source>& sources, const std::string& etag) {
  Json json = {{"name", run.name()}};
  add_plan(json, run, sources);
  try {
    json["summary"] = Json::parse(run.summary_text());
  } catch (const std::exception& error) {
    json["summary"] = nullptr;
    json["notes"].push_back(error.what());
  }
  json["snapshots"] = snapshots_json(run.directory(), sources);
  json["current"] = nullptr;
  if (!sources.empty()) {
    json["current"] = {
        {"etag", etag}, {"iteration", sources.front().iteration}, {"source", sources.front().name}};
  }
  return json;
}

std::string shell_quoted(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '.' || c == '_' || c == '-' || c == '+' || c == ',' || c == ':' || c == '@';
  };
  if (!text.empty() && text.front() != '-' && std::ranges::all_of(text, plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace aurora::explore
