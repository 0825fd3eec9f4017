#include "aurora/tasks/registry.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "aurora/core/errors.hpp"
#include "aurora/core/names.hpp"
#include "aurora/tasks/air_hockey/air_hockey.hpp"
#include "aurora/tasks/hexapod/hexapod.hpp"
#include "aurora/tasks/maze/maze.hpp"

namespace aurora {
namespace {

TaskEntry hexapod_entry() {
  TaskEntry entry{
      .name = "hexapod",
      .summary = "a robot with six legs walks on a floor; 64x64 picture",
      .options = {{"actuators", "what moves the joints; velocity is faster and less true",
                   names_of<hexapod::Actuators>()}},
      .make = {},
      .missing = {}};
#ifdef AURORA_WITH_DART
  entry.make = [](const TaskOptions& options) {
    return std::make_unique<Hexapod>(
        parse_name<hexapod::Actuators>("actuators", options.at("actuators")));
  };
#else
  entry.missing =
      "install libdart-dev and libdart-collision-bullet-dev and build again with AURORA_DART=ON";
#endif
  return entry;
}

TaskEntry air_hockey_entry() {
  TaskEntry entry{.name = "air-hockey",
                  .summary = "an arm with four joints pushes a puck; trajectory of 50 points",
                  .options = {},
                  .make = {},
                  .missing = {}};
#ifdef AURORA_WITH_BOX2D
  entry.make = [](const TaskOptions&) { return std::make_unique<AirHockey>(); };
#else
  entry.missing = "install libbox2d-dev and build again with AURORA_BOX2D=ON";
#endif
  return entry;
}

}  // namespace

struct TaskRegistry::Specs {
  std::mutex mutex;
  std::map<std::pair<std::string, TaskOptions>, TaskSpec> specs;
};

void TaskRegistry::add(TaskEntry entry) {
  if (entry.name.empty()) throw UsageError("a task needs a name");
  const std::vector<std::string> taken = names();
  if (std::find(taken.begin(), taken.end(), entry.name) != taken.end()) {
    throw UsageError("a task called '" + entry.name + "' is already registered");
  }
  entries_.push_back(std::move(entry));
  specs_ = std::make_shared<Specs>();
}

std::vector<std::string> TaskRegistry::names() const {
  std::vector<std::string> names;
  for (const TaskEntry& entry : entries_) names.push_back(entry.name);
  return names;
}

const TaskEntry& TaskRegistry::find(std::string_view name) const {
  for (const TaskEntry& entry : entries_) {
    if (entry.name == name) return entry;
  }
  throw_unknown("task", name, names());
}

TaskOptions TaskRegistry::complete(std::string_view name, const TaskOptions& options) const {
  const TaskEntry& entry = find(name);
  TaskOptions complete;
  std::vector<std::string> known;
  for (const TaskOption& option : entry.options) {
    complete[option.name] = option.values.front();
    known.push_back(option.name);
  }
  for (const auto& [key, value] : options) {
    const auto option = std::ranges::find(entry.options, key, &TaskOption::name);
    if (option == entry.options.end()) {
      if (known.empty()) {
        throw UsageError("the task '" + entry.name + "' has no options, so 'task." + key +
                         "' means nothing");
      }
      throw_unknown("option of the task '" + entry.name + "' called", key, known);
    }
    if (std::find(option->values.begin(), option->values.end(), value) == option->values.end()) {
      throw_unknown("value for 'task." + key + "' called", value, option->values);
    }
    complete[key] = value;
  }
  return complete;
}

std::unique_ptr<Task> TaskRegistry::make(std::string_view name, const TaskOptions& options) const {
  const TaskEntry& entry = find(name);
  if (!entry.missing.empty()) {
    throw UsageError("the task '" + entry.name + "' is not in this build: " + entry.missing);
  }
  std::unique_ptr<Task> task = entry.make(complete(name, options));
  check(task->spec());
  if (task->spec().name != entry.name) {
    throw UsageError("the task '" + entry.name + "' calls itself '" + task->spec().name +
                     "' in its specification");
  }
  return task;
}

TaskSpec TaskRegistry::spec(std::string_view name, const TaskOptions& options) const {
  if (!specs_) return make(name, options)->spec();  // which throws: there are no tasks
  const std::pair key(std::string(name), complete(name, options));
  const std::scoped_lock lock(specs_->mutex);
  auto known = specs_->specs.find(key);
  if (known == specs_->specs.end()) {
    known = specs_->specs.emplace(key, make(name, options)->spec()).first;
  }
  return known->second;
}

TaskRegistry builtin_tasks() {
  TaskRegistry registry;
  registry.add({.name = "maze",
                .summary = "a wheeled robot with lasers and bumpers in a hard maze; 64x64 picture",
                .options = {},
                .make = [](const TaskOptions&) { return std::make_unique<Maze>(); },
                .missing = {}});
  registry.add(hexapod_entry());
  registry.add(air_hockey_entry());
  return registry;
}

}  // namespace aurora
