// The tasks that a program knows, by name. A value, not a global: `builtin_tasks()` gives ours, and
// a program that brings its own robot adds it before it hands the registry on.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aurora/tasks/task.hpp"

namespace aurora {

/// Values of a task's own options (`task.NAME` in the configuration), as text.
using TaskOptions = std::map<std::string, std::string>;

/// An option that a task offers, with the values it may take (the first is the default).
struct TaskOption {
  std::string name;
  std::string help;
  std::vector<std::string> values;
};

struct TaskEntry {
  std::string name;
  std::string summary;
  std::vector<TaskOption> options;
  /// Creates the task; the options are complete and checked when this is called.
  std::function<std::unique_ptr<Task>(const TaskOptions&)> make;
  /// Empty when the task can be made; otherwise what is missing and how to get it.
  std::string missing;
};

class TaskRegistry {
 public:
  /// Adds a task; a name that is taken or empty is a UsageError.
  void add(TaskEntry entry);
  const std::vector<TaskEntry>& entries() const { return entries_; }
  std::vector<std::string> names() const;
  /// The entry called `name`; UsageError names the nearest known one.
  const TaskEntry& find(std::string_view name) const;
  /// Creates a task. Options left out take their default; unknown ones, values that are not
  /// allowed, tasks that are missing from this build and specifications that make no sense are
  /// UsageErrors.
  std::unique_ptr<Task> make(std::string_view name, const TaskOptions& options = {}) const;
  /// What make() would say of itself. The task is made for it once; that can take a while.
  TaskSpec spec(std::string_view name, const TaskOptions& options = {}) const;
  /// The options of `name` with defaults filled in and every value checked.
  TaskOptions complete(std::string_view name, const TaskOptions& options) const;

 private:
  /// Specifications that were asked for; copies share it until one of them adds a task.
  struct Specs;

  std::vector<TaskEntry> entries_;
  std::shared_ptr<Specs> specs_;
};

/// The tasks of the paper that this build has.
TaskRegistry builtin_tasks();

}  // namespace aurora
