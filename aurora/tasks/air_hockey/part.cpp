// Air-Hockey as a part. The task is in a library of its own, which is loaded when somebody makes
// one: Box2D, and the timers that we put in the place of its own, touch nobody else.
#include <memory>
#include <string>

#include "aurora/core/errors.hpp"
#include "aurora/core/plugin.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora {
namespace {

constexpr const char* kPlugin = "libaurora_box2d.so";

}  // namespace

TaskEntry air_hockey_task() {
  return part<NoOptions>("air-hockey",
                         "an arm with four joints pushes a puck; trajectory of 50 points")
      .missing(missing_plugin(kPlugin, "install libbox2d-dev, then make build"))
      .made_by([](const NoOptions&, const TaskContext&) {
        using Maker = Task* (*)();
        void* maker = find_in_plugin(kPlugin, "aurora_make_air_hockey");
        if (!maker) throw UsageError(std::string(kPlugin) + " does not load: install libbox2d2");
        return std::unique_ptr<Task>(reinterpret_cast<Maker>(maker)());
      });
}

}  // namespace aurora
