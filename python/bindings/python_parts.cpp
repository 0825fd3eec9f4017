#include "python/bindings/python_parts.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "aurora/core/errors.hpp"

namespace aurora::python {
namespace {

using AnyArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

[[noreturn]] void throw_shape(const std::string& what, std::size_t rows, std::size_t values,
                              const char* type, const AnyArray& found) {
  std::string shape;
  for (std::size_t i = 0; i < found.ndim(); ++i) {
    shape += (i > 0 ? ", " : "") + std::to_string(found.shape(i));
  }
  throw DataError(what + " must be " + std::to_string(rows) + " rows of " + std::to_string(values) +
                  " values of " + type + ", not an array of the shape (" + shape + ")");
}

/// An array with the type and the number of values that are wanted; the extents behind the first
/// may be any whose product is right.
template <class T>
AnyArray checked(nb::handle object, const std::string& what, std::size_t rows, std::size_t values) {
  AnyArray array;
  const char* type = std::is_same_v<T, float> ? "float32" : "uint8";
  if (!nb::try_cast(object, array)) {
    throw DataError(what + " must be a contiguous array of " + type);
  }
  const bool fits = array.dtype() == nb::dtype<T>() && array.ndim() >= 1 &&
                    array.shape(0) == rows && array.size() == rows * values;
  if (!fits) throw_shape(what, rows, values, type, array);
  return array;
}

/// Words of 16 bits, as floats that hold them exactly: how bytes of any type go where only floats
/// are kept.
std::vector<float> words_of(const unsigned char* bytes, std::size_t count) {
  std::vector<float> words((count + 1) / 2);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const unsigned high = 2 * i + 1 < count ? bytes[2 * i + 1] : 0;
    words[i] = static_cast<float>(bytes[2 * i] | (high << 8));
  }
  return words;
}

class PythonTask final : public Task {
 public:
  explicit PythonTask(TaskSpec spec) : spec_(std::move(spec)) {}
  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> /*genotypes*/, EvaluationView /*out*/) const override {
    throw UsageError("the task '" + spec_.name +
                     "' is evaluated in Python, and no function for it was given");
  }

 private:
  TaskSpec spec_;
};

class PythonEvaluator final : public Evaluator {
 public:
  explicit PythonEvaluator(Held evaluate) : evaluate_(std::move(evaluate)) {}

  void evaluate(MatrixView<const float> genotypes, EvaluationView out) override {
    const nb::gil_scoped_acquire lock;
    try {
      const nb::object result = (*evaluate_)(array_of(genotypes));
      write_evaluation(result[0], result[1], result[2], out);
    } catch (nb::python_error& error) {
      // What() of the error needs the lock, and so does its end; none of it leaves this block.
      const std::string reason = text_of(error);
      if (!error.matches(PyExc_Exception)) throw Interrupted(reason);
      throw Error(reason);
    }
  }

 private:
  /// "ValueError: the message", without the traceback.
  static std::string text_of(const nb::python_error& error) {
    // What happened in another process comes in words already.
    if (nb::hasattr(error.value(), "aurora_reason")) {
      return nb::cast<std::string>(error.value().attr("aurora_reason"));
    }
    const std::string type = nb::cast<std::string>(error.type().attr("__name__"));
    std::string message;
    try {
      message = nb::cast<std::string>(nb::str(error.value()));
    } catch (const std::exception&) {
    }
    return message.empty() ? type : type + ": " + message;
  }

  Held evaluate_;
};

/// The object of Python is the user's encoder in an Adapter (aurora_qd/encoders.py), which sees to
/// types and shapes.
class PythonEncoder final : public Encoder {
 public:
  PythonEncoder(Held object, EncoderContext& context)
      : object_(std::move(object)), shape_(context.shape), dimension_(context.dimension) {
    const std::uint32_t seed = context.stream.bits();
    const nb::gil_scoped_acquire lock;
    object_->attr("begin")(dimension_, shape_.extents, seed);
  }

  std::size_t dimension() const override { return dimension_; }

  TrainingReport train(const TrainingSet& set, Stream& stream, Workers& /*workers*/,
                       const AfterEpoch& after_epoch) override {
    const std::uint32_t seed = stream.bits();
    const nb::gil_scoped_acquire lock;
    const nb::object told = object_->attr("train")(array_of(set.data), seed);
    TrainingReport report{.examples = set.data.rows()};
    for (const auto& [key, value] : nb::cast<nb::dict>(told)) {
      const std::string name = nb::cast<std::string>(key);
      const double number = nb::cast<double>(value);
      if (name == "epochs") {
        report.epochs = static_cast<std::size_t>(std::max(number, 0.0));
      } else if (name == "loss") {
        report.train_loss = number;
      } else if (name == "validation_loss") {
        report.validation_loss = number;
      } else {
        report.extra.push_back({name, number});
      }
    }
    if (after_epoch) after_epoch(report);
    return report;
  }

  void encode(SensoryView data, MatrixView<float> descriptors, std::span<float> error,
              Workers& /*workers*/) const override {
    const nb::gil_scoped_acquire lock;
    const nb::object result = object_->attr("encode")(array_of(data), !error.empty());
    copy(result[0], "descriptors", data.rows(), dimension_, descriptors.data());
    if (!error.empty()) copy(result[1], "reconstruction errors", data.rows(), 1, error.data());
  }

  void reconstruct(SensoryView data, MatrixView<float> out, Workers& /*workers*/) const override {
    const nb::gil_scoped_acquire lock;
    copy(object_->attr("reconstruct")(array_of(data)), "reconstructions", data.rows(),
         shape_.size(), out.data());
  }

  /// float32 arrays as they are; others as 16-bit words, with their type behind the name.
  std::vector<NamedArray> state() const override {
    const nb::gil_scoped_acquire lock;
    std::vector<NamedArray> arrays;
    for (const auto& item : nb::cast<nb::list>(object_->attr("state")())) {
      NamedArray& array = arrays.emplace_back();
      array.name = nb::cast<std::string>(item[0]);
      array.shape = nb::cast<std::vector<std::size_t>>(item[1]);
      const nb::bytes bytes = nb::cast<nb::bytes>(item[2]);
      const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
      if (nb::cast<bool>(item[3])) {
        array.values = words_of(data, bytes.size());
        array.shape = {array.values.size()};
      } else {
        array.values.resize(bytes.size() / sizeof(float));
        std::memcpy(array.values.data(), data, array.values.size() * sizeof(float));
      }
    }
    return arrays;
  }

  void set_state(std::span<const NamedArray> state) override {
    const nb::gil_scoped_acquire lock;
    nb::list list;
    for (const NamedArray& array : state) {
      list.append(nb::make_tuple(array.name, array.shape,
                                 nb::cast(array_of(array.values.data(), {array.values.size()}))));
    }
    try {
      object_->attr("set_state")(list);
    } catch (nb::python_error& error) {
      throw DataError(std::string("the encoder does not take its state: ") + error.what());
    }
  }

 private:
  static void copy(nb::handle object, const char* what, std::size_t rows, std::size_t columns,
                   float* out) {
    const AnyArray array = checked<float>(object, what, rows, columns);
    std::memcpy(out, array.data(), rows * columns * sizeof(float));
  }

  Held object_;
  SensoryShape shape_;
  std::size_t dimension_;
};

}  // namespace

Held hold(nb::object object) {
  return {new nb::object(std::move(object)), [](nb::object* p) {
            if (!Py_IsInitialized()) return;  // Python has ended, and its objects with it
            const nb::gil_scoped_acquire lock;
            delete p;
          }};
}

nb::object array_of(MatrixView<const float> matrix) {
  return nb::cast(array_of(matrix.data(), {matrix.rows(), matrix.cols()}));
}

nb::object array_of(SensoryView sensory) {
  std::vector<std::size_t> shape = {sensory.rows()};
  const SensoryShape& of_row = sensory.shape();
  shape.insert(shape.end(), of_row.extents.begin(), of_row.extents.end());
  const auto gather = [&]<class T>(T) {
    auto copy = std::make_unique<T[]>(std::max<std::size_t>(sensory.rows() * of_row.size(), 1));
    for (std::size_t row = 0; row < sensory.rows(); ++row) {
      std::ranges::copy(sensory.row<T>(row), copy.get() + row * of_row.size());
    }
    T* data = copy.release();
    const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner));
  };
  return of_row.element == ElementType::uint8 ? gather(std::uint8_t{}) : gather(float{});
}

void write_evaluation(nb::handle fitness, nb::handle sensory, nb::handle ground_truth,
                      const EvaluationView& out) {
  const std::size_t rows = out.fitness.size();
  const AnyArray f = checked<float>(fitness, "fitness", rows, 1);
  const AnyArray t = checked<float>(ground_truth, "ground truth", rows, out.ground_truth.cols());
  write_sensory(sensory, out.sensory);
  if (rows == 0) return;
  std::memcpy(out.fitness.data(), f.data(), rows * sizeof(float));
  std::memcpy(out.ground_truth.data(), t.data(), rows * out.ground_truth.cols() * sizeof(float));
}

void write_sensory(nb::handle sensory, const MutableSensoryView& out) {
  const SensoryShape& shape = out.shape();
  const std::size_t rows = out.rows();
  const AnyArray array = shape.element == ElementType::uint8
                             ? checked<std::uint8_t>(sensory, "sensory data", rows, shape.size())
                             : checked<float>(sensory, "sensory data", rows, shape.size());
  if (rows > 0) std::memcpy(out.bytes(0).data(), array.data(), rows * shape.row_bytes());
}

TaskEntry python_task(const TaskSpec& spec) {
  return part<NoOptions>(spec.name, "a task of Python's")
      .made_by([spec](const NoOptions&, const TaskContext&) {
        return std::make_unique<PythonTask>(spec);
      });
}

EvaluatorEntry python_evaluator(const Held& evaluate) {
  return part<NoOptions>("python", "a function of Python's")
      .made_by([evaluate](const NoOptions&, EvaluatorContext&) {
        return std::make_unique<PythonEvaluator>(evaluate);
      });
}

EncoderEntry python_encoder(const Held& encoder) {
  return part<NoOptions>("python", "an encoder of Python's")
      .made_by([encoder](const NoOptions&, EncoderContext& context) {
        return std::make_unique<PythonEncoder>(encoder, context);
      });
}

template <class Body>
void PythonObserver::tell(Body body) {
  const nb::gil_scoped_acquire lock;
  try {
    body(*object_);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) stop_ = true;
    error.discard_as_unraisable("aurora_qd: an observer");
  }
}

void PythonObserver::makes(std::string_view what, double share) {
  tell([&](nb::object& o) { o.attr("makes")(what, share); });
}

void PythonObserver::stands(const Standing& standing) {
  tell([&](nb::object& o) {
    nb::dict row;
    for (const NamedNumber& number : standing.row) row[number.name.c_str()] = number.value;
    o.attr("stands")(standing.iteration, standing.iterations, standing.evaluations,
                     standing.container_size, standing.target_size, row);
  });
}

bool PythonObserver::wants_standing() {
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) {  // a handler that is not ours: KeyboardInterrupt
    PyErr_Clear();
    stop_ = true;
    return false;
  }
  try {
    return nb::cast<bool>(object_->attr("wants_standing")());
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("aurora_qd: an observer");
    return false;
  }
}

void PythonObserver::resumed(std::size_t iteration, std::size_t evaluations) {
  tell([&](nb::object& o) { o.attr("resumed")(iteration, evaluations); });
}

void PythonObserver::ended() {
  tell([](nb::object& o) { o.attr("ended")(); });
}

void PythonObserver::saved_up_to(std::size_t iteration) {
  tell([&](nb::object& o) { o.attr("saved_up_to")(iteration); });
}

void PythonObserver::note(const std::string& text) {
  tell([&](nb::object& o) { o.attr("note")(text); });
}

void PythonObserver::warn(const std::string& text) {
  tell([&](nb::object& o) { o.attr("warn")(text); });
}

}  // namespace aurora::python
