// Air-Hockey as a part. The task is in a library of its own, which is loaded when somebody makes
// one: Box2D, and the timers that we put in the place of its own, touch nobody else.
#include <memory>
#include <string>

#include "aurora/core/errors.hpp"
#include "aurora/core/plugin.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora {

TaskEntry air_hockey_task() {
#ifdef AURORA_WITH_BOX2D
  const std::string missing;
#else
  const std::string missing = "install libbox2d-dev and build again with AURORA_BOX2D=ON";
#endif
  return part<NoOptions>("air-hockey",
                         "an arm with four joints pushes a puck; trajectory of 50 points")
      .missing(missing)
      .made_by([](const NoOptions&, const TaskContext&) {
        using Maker = Task* (*)();
        void* maker = find_in_plugin("libaurora_box2d.so", "aurora_make_air_hockey");
        if (!maker) {
          throw UsageError("air-hockey needs libaurora_box2d.so beside libaurora.so: install both");
        }
        return std::unique_ptr<Task>(reinterpret_cast<Maker>(maker)());
      });
}

}  // namespace aurora
