// Parts of a run that are objects of Python: a task, who evaluates it, an encoder, an observer.
//
// A run lets go of Python's lock (the GIL); each of these takes it for as long as it calls Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <atomic>
#include <memory>
#include <vector>

#include "aurora/encoders/encoder.hpp"
#include "aurora/evaluation/evaluator.hpp"
#include "aurora/runs/observer.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora::python {

namespace nb = nanobind;

/// An object of Python that C++ holds; the last one to let go takes the lock first.
using Held = std::shared_ptr<nb::object>;
Held hold(nb::object object);

/// A new array of NumPy's with these values.
template <class T>
nb::ndarray<nb::numpy, T> array_of(const T* values, const std::vector<std::size_t>& shape) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) count *= extent;
  auto copy = std::make_unique<T[]>(count);
  std::copy_n(values, count, copy.get());
  T* data = copy.release();
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner);
}

nb::object array_of(MatrixView<const float> matrix);
/// Rows of any kind in one array of the task's shape and type.
nb::object array_of(SensoryView sensory);

/// Copies what Python gave into a batch. The arrays have the right types and shapes, which the
/// Python side has seen to; ValueError if not.
void write_evaluation(nb::handle fitness, nb::handle sensory, nb::handle ground_truth,
                      const EvaluationView& out);

/// The sensory part of it alone.
void write_sensory(nb::handle sensory, const MutableSensoryView& out);

/// A task that somebody else evaluates.
TaskEntry python_task(const TaskSpec& spec);

/// `evaluate(genotypes)` gives fitness, sensory data and ground truth. An exception that is no
/// Exception (KeyboardInterrupt) gives the batch up.
EvaluatorEntry python_evaluator(const Held& evaluate);

/// `encoder` has the methods of aurora_qd.encoders.Adapter.
EncoderEntry python_encoder(const Held& encoder);

/// Tells an object with the methods of aurora_qd.progress.Progress. Signals are looked at after
/// every iteration: handlers of Python run then.
class PythonObserver final : public RunObserver {
 public:
  PythonObserver(nb::object observer, std::atomic<bool>& stop)
      : object_(hold(std::move(observer))), stop_(stop) {}

  void makes(std::string_view what, double share) override;
  void stands(const Standing& standing) override;
  bool wants_standing() override;
  void resumed(std::size_t iteration, std::size_t evaluations) override;
  void ended() override;
  void saved_up_to(std::size_t iteration) override;
  void note(const std::string& text) override;
  void warn(const std::string& text) override;

 private:
  template <class Body>
  void tell(Body body);

  Held object_;
  std::atomic<bool>& stop_;
};

}  // namespace aurora::python
