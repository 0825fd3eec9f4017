// aurora_qd._core: the library for Python. Thin: what is convenient is made of it in
// python/aurora_qd.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "aurora/containers/centroids.hpp"
#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/individuals.hpp"
#include "aurora/core/instruction_set.hpp"
#include "aurora/evaluation/thread_evaluator.hpp"
#include "aurora/runs/parts.hpp"
#include "aurora/runs/plan.hpp"
#include "aurora/runs/repertoire.hpp"
#include "aurora/runs/run.hpp"
#include "aurora/runs/run_directory.hpp"
#include "aurora/runs/search.hpp"
#include "python/bindings/python_parts.hpp"

namespace aurora::python {
namespace {

using Genotypes = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AxisTuple =
    std::tuple<std::string, double, double, std::string, bool>;  // the last: downwards

const Parts& builtin() {
  static const Parts parts = builtin_parts();  // copies share the tasks that were made
  return parts;
}

TaskSpec make_spec(std::string name, std::string title, std::size_t version, std::size_t genes,
                   std::vector<std::size_t> sensory, bool bytes, const std::vector<AxisTuple>& axes,
                   double worst_fitness, std::vector<std::string> metrics,
                   std::vector<std::string> defaults, std::size_t hand_coded_size) {
  TaskSpec spec;
  spec.name = std::move(name);
  spec.title = std::move(title);
  spec.version = version;
  spec.genotype_size = genes;
  spec.sensory = {std::move(sensory), bytes ? ElementType::uint8 : ElementType::float32};
  for (const auto& [axis, min, max, unit, down] : axes) {
    spec.ground_truth.push_back({axis, min, max, unit, down ? Direction::down : Direction::up});
  }
  spec.worst_fitness = worst_fitness;
  spec.metrics = std::move(metrics);
  spec.defaults = std::move(defaults);
  spec.hand_coded_size = hand_coded_size;
  check(spec);
  return spec;
}

std::vector<AxisTuple> axes_of(const TaskSpec& spec) {
  std::vector<AxisTuple> axes;
  for (const Axis& axis : spec.ground_truth) {
    axes.emplace_back(axis.name, axis.min, axis.max, axis.unit, axis.direction == Direction::down);
  }
  return axes;
}

nb::dict dict_of(const std::vector<NamedNumber>& numbers) {
  nb::dict dict;
  for (const NamedNumber& number : numbers) dict[number.name.c_str()] = number.value;
  return dict;
}

/// A plan with the parts that it was made of.
struct PlanOfPython {
  Parts parts;
  Plan plan;

  PlanOfPython(const std::variant<std::string, TaskSpec>& task, std::optional<std::string> variant,
               std::vector<std::string> assignments, std::optional<std::string> run,
               const nb::object& evaluate, const nb::object& encoder)
      : parts(builtin()) {
    PlanRequest request;
    request.variant = std::move(variant);
    request.assignments = std::move(assignments);
    if (run) {
      request.file = std::filesystem::path(*run) / "config.toml";
      request.file_is_of_run = true;
    }
    if (const auto* spec = std::get_if<TaskSpec>(&task)) {
      parts.tasks.add(python_task(*spec));
      request.task = spec->name;
    } else {
      request.task = std::get<std::string>(task);
    }
    parts.evaluators.add(python_evaluator(hold(evaluate)));
    if (!evaluate.is_none()) request.assignments.emplace_back("run.evaluator=python");
    EncoderEntry entry = python_encoder(hold(encoder));
    if (encoder.is_none()) {
      entry.missing = "the run has an encoder of Python's: hand it over as encoder=...";
    } else {
      request.assignments.emplace_back("encoder.kind=python");
    }
    parts.encoders.add(std::move(entry));
    const nb::gil_scoped_release unlocked;
    plan = resolve(parts, request);
  }

  /// By the task itself, which is one of ours.
  nb::tuple evaluate(const Genotypes& genotypes) const {
    const TaskSpec& spec = plan.spec();
    check_genotypes(genotypes);
    Evaluation result(spec, genotypes.shape(0));
    {
      const nb::gil_scoped_release unlocked;
      Workers workers(plan.run.threads);
      ThreadEvaluator(*plan.task, workers)
          .evaluate({genotypes.data(), genotypes.shape(0), genotypes.shape(1)}, result.view());
    }
    return nb::make_tuple(array_of(result.fitness.data(), {result.fitness.size()}),
                          array_of(result.sensory.view()),
                          array_of(std::as_const(result.ground_truth).view()));
  }

  /// The picture, or None, the frames, and the seconds between two of them.
  nb::tuple draw(const Genotypes& genotypes) const {
    check_genotypes(genotypes);
    if (genotypes.shape(0) != 1) throw UsageError("one genotype is drawn at a time");
    const Drawing drawing = plan.task->draw({genotypes.data(), genotypes.shape(1)});
    nb::list frames;
    for (const Image& frame : drawing.film) frames.append(picture(frame));
    return nb::make_tuple(drawing.picture.empty() ? nb::none() : picture(drawing.picture), frames,
                          drawing.seconds_per_frame);
  }

 private:
  void check_genotypes(const Genotypes& genotypes) const {
    if (genotypes.shape(1) == plan.spec().genotype_size) return;
    throw UsageError("a genotype of the task '" + plan.spec().name + "' has " +
                     std::to_string(plan.spec().genotype_size) + " genes, not " +
                     std::to_string(genotypes.shape(1)));
  }

  static nb::object picture(const Image& image) {
    return nb::cast(array_of(image.pixels.data(), {image.height, image.width, Image::kChannels}));
  }
};

/// A search and the plan that it is of.
class SearchOfPython {
 public:
  explicit SearchOfPython(const PlanOfPython& plan) : parts_(plan.parts) {
    const nb::gil_scoped_release unlocked;
    search_ = std::make_unique<Search>(plan.plan);
  }
  ~SearchOfPython() {
    const nb::gil_scoped_release unlocked;
    search_.reset();
  }

  nb::object ask(const std::optional<Genotypes>& given) {
    if (search_->asked()) {
      throw std::runtime_error("ask was called twice: tell what the last solutions do first");
    }
    MatrixView<const float> genotypes;
    {
      const nb::gil_scoped_release unlocked;
      const MatrixView<const float> own =
          given ? MatrixView<const float>(given->data(), given->shape(0), given->shape(1))
                : MatrixView<const float>();
      genotypes = search_->ask(own);
    }
    return array_of(genotypes);
  }

  std::size_t waiting() const {
    if (!search_->asked()) {
      throw std::runtime_error("tell was called without ask: there is nothing to be told");
    }
    return search_->algorithm().genotypes().rows();
  }

  nb::dict tell(nb::handle fitness, nb::handle sensory, nb::handle ground_truth) {
    waiting();
    write_evaluation(fitness, sensory, ground_truth, search_->evaluation());
    StepReport report;
    {
      const nb::gil_scoped_release unlocked;
      report = search_->tell();
    }
    nb::dict told;
    told["added"] = report.added;
    told["replaced"] = report.replaced;
    told["rejected"] = report.rejected;
    told["invalid"] = report.invalid;
    told["lost"] = report.lost;
    told["trained"] = report.training.has_value();
    return told;
  }

  bool asked() const { return search_->asked(); }
  std::size_t iterations() const { return search_->iterations(); }
  std::size_t size() const { return members().size(); }
  std::string hash() const { return container_hash_text(members()); }
  nb::dict measure() const { return dict_of(search_->measure()); }
  nb::dict seconds() const {
    const PhaseSeconds& spent = search_->record().summary.seconds;
    return dict_of({{"encode", spent.encode},
                    {"train", spent.train},
                    {"container", spent.container},
                    {"variation", spent.variation}});
  }

  /// A column of the container, the oldest first.
  nb::object column(const std::string& name) const {
    const Individuals& all = members();
    const std::vector<std::uint32_t> rows = rows_by_age(all);
    if (name == "genotypes") return gather(all.genotypes, rows);
    if (name == "descriptors") return gather(all.descriptors, rows);
    if (name == "ground_truth") return gather(all.ground_truth, rows);
    if (name == "fitness") return gather(all.fitness, rows);
    if (name == "reconstruction_error") return gather(all.reconstruction_error, rows);
    if (name == "ids") return gather(all.ids, rows);
    if (name == "sensory") {
      SensoryData sorted(all.sensory.shape(), rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) sorted.copy_row(all.sensory, rows[i], i);
      return array_of(sorted.view());
    }
    const std::size_t column = all.extra_column(name);
    std::vector<float> values;
    for (const std::uint32_t row : rows) values.push_back(all.extra(row, column));
    return nb::cast(array_of(values.data(), {values.size()}));
  }
  std::vector<std::string> extra() const { return members().extra_names; }

  void save(const std::string& directory) const {
    const nb::gil_scoped_release unlocked;
    search_->save(directory);
  }
  void load(const std::string& directory) {
    const nb::gil_scoped_release unlocked;
    search_->load(parts_, directory);
  }

 private:
  const Individuals& members() const { return search_->algorithm().individuals(); }

  static nb::object gather(const Matrix<float>& column, const std::vector<std::uint32_t>& rows) {
    Matrix<float> sorted(rows.size(), column.cols());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::ranges::copy(column.row(rows[i]), sorted.row(i).begin());
    }
    return array_of(std::as_const(sorted).view());
  }
  template <class T>
  static nb::object gather(const std::vector<T>& column, const std::vector<std::uint32_t>& rows) {
    std::vector<T> sorted;
    sorted.reserve(rows.size());
    for (const std::uint32_t row : rows) sorted.push_back(column[row]);
    return nb::cast(array_of(sorted.data(), {sorted.size()}));
  }

  Parts parts_;
  std::unique_ptr<Search> search_;
};

/// Says `stop` to a run from wherever.
struct Stop {
  std::atomic<bool> wanted = false;
};

/// Carries a plan out; True if it came to its end, False if it was stopped.
bool run_plan(const PlanOfPython& plan, const std::string& out, bool resume, nb::object observer,
              Stop& stop, std::vector<std::string> remarks) {
  PythonObserver told(std::move(observer), stop.wanted);
  const nb::gil_scoped_release unlocked;
  const RunSummary summary =
      run(plan.parts, plan.plan,
          {.out = out, .resume = resume, .observer = &told, .remarks = std::move(remarks)},
          stop.wanted);
  return summary.status == RunStatus::finished;
}

/// Descriptors and, if wanted, reconstruction errors of observations, by the encoder of a run.
nb::tuple encode(const PlanOfPython& plan, const std::string& run, const nb::object& observations,
                 bool with_errors) {
  std::unique_ptr<Encoder> encoder;
  {
    const nb::gil_scoped_release unlocked;
    encoder = open_encoder(plan.plan, run);
  }
  if (!encoder) {
    throw DataError("there is no encoder in '" + run +
                    "': its descriptors are hand-coded, or it has not ended yet");
  }
  const std::size_t rows = nb::len(observations);
  SensoryData data(plan.plan.spec().sensory, rows);
  write_sensory(observations, data.mutable_view());
  Matrix<float> descriptors(rows, encoder->dimension());
  std::vector<float> errors(with_errors ? rows : 0);
  {
    const nb::gil_scoped_release unlocked;
    Workers workers(plan.plan.run.threads);
    encoder->encode(data.view(), descriptors.view(), errors, workers);
    encoder.reset();
  }
  return nb::make_tuple(array_of(std::as_const(descriptors).view()),
                        array_of(errors.data(), {errors.size()}));
}

/// Our exceptions in Python's words.
void translate(const std::exception_ptr& thrown, void* /*payload*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const UsageError& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const DataError& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const FileError& error) {
    PyErr_SetString(PyExc_OSError, error.what());
  } catch (const Interrupted& error) {
    PyErr_SetString(PyExc_InterruptedError, error.what());
  } catch (const Error& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

}  // namespace

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // a script that ends by an exception may hold what it likes
  const char* instructions = std::getenv("AURORA_INSTRUCTIONS");  // as the program has it
  if (instructions && *instructions != 0) use_instruction_set(instructions);
  m.doc() = "The library behind aurora_qd; use that.";
  nb::register_exception_translator(translate, nullptr);
  m.attr("version") = version();
  m.def("instruction_kind", &instruction_kind, "Which instructions of the processor are used.");

  nb::class_<TaskSpec>(m, "TaskSpec", "What a task says of itself.")
      .def(
          "__init__",
          [](TaskSpec* self, std::string name, std::string title, std::size_t version,
             std::size_t genes, std::vector<std::size_t> sensory, bool bytes,
             const std::vector<AxisTuple>& axes, double worst_fitness,
             std::vector<std::string> metrics, std::vector<std::string> defaults,
             std::size_t hand_coded_size) {
            new (self) TaskSpec(make_spec(
                std::move(name), std::move(title), version, genes, std::move(sensory), bytes, axes,
                worst_fitness, std::move(metrics), std::move(defaults), hand_coded_size));
          },
          nb::arg("name"), nb::arg("title"), nb::arg("version"), nb::arg("genes"),
          nb::arg("sensory"), nb::arg("bytes"), nb::arg("axes"), nb::arg("worst_fitness"),
          nb::arg("metrics"), nb::arg("defaults"), nb::arg("hand_coded_size"))
      .def_ro("name", &TaskSpec::name)
      .def_prop_ro("title", [](const TaskSpec& spec) { return title_of(spec); })
      .def_ro("version", &TaskSpec::version)
      .def_ro("genes", &TaskSpec::genotype_size)
      .def_prop_ro("sensory", [](const TaskSpec& spec) { return spec.sensory.extents; })
      .def_prop_ro("bytes",
                   [](const TaskSpec& spec) { return spec.sensory.element == ElementType::uint8; })
      .def_prop_ro("axes", &axes_of)
      .def_ro("worst_fitness", &TaskSpec::worst_fitness)
      .def_ro("metrics", &TaskSpec::metrics)
      .def_ro("defaults", &TaskSpec::defaults)
      .def_ro("hand_coded_size", &TaskSpec::hand_coded_size);

  nb::class_<PlanOfPython>(m, "Plan", "Everything that a run is, complete and checked.")
      .def(nb::init<const std::variant<std::string, TaskSpec>&, std::optional<std::string>,
                    std::vector<std::string>, std::optional<std::string>, const nb::object&,
                    const nb::object&>(),
           nb::arg("task"), nb::arg("variant").none(), nb::arg("assignments"),
           nb::arg("run").none() = nb::none(), nb::arg("evaluate").none() = nb::none(),
           nb::arg("encoder").none() = nb::none())
      .def_prop_ro("spec", [](const PlanOfPython& p) { return p.plan.spec(); })
      .def_prop_ro("variant", [](const PlanOfPython& p) { return p.plan.variant; })
      .def_prop_ro("seed", [](const PlanOfPython& p) { return p.plan.run.seed; })
      .def_prop_ro("batch", [](const PlanOfPython& p) { return p.plan.run.batch; })
      .def_prop_ro("iterations", [](const PlanOfPython& p) { return p.plan.run.iterations; })
      .def_prop_ro("learned", [](const PlanOfPython& p) { return p.plan.encoder.has_value(); })
      .def_prop_ro("descriptor_size",
                   [](const PlanOfPython& p) { return p.plan.descriptor_size(); })
      .def_prop_ro("notes", [](const PlanOfPython& p) { return p.plan.notes; })
      .def_prop_ro("departures", [](const PlanOfPython& p) { return p.plan.departures; })
      .def_prop_ro(
          "settings", [](const PlanOfPython& p) { return p.plan.settings(); },
          "Every key with its value as TOML.")
      .def("toml", [](const PlanOfPython& p) { return p.plan.toml(); })
      .def("evaluate", &PlanOfPython::evaluate, nb::arg("genotypes"),
           nb::sig("def evaluate(self, genotypes: numpy.typing.NDArray[numpy.float32]) -> tuple["
                   "numpy.typing.NDArray, numpy.typing.NDArray, numpy.typing.NDArray]"))
      .def("draw", &PlanOfPython::draw, nb::arg("genotypes"),
           nb::sig("def draw(self, genotypes: numpy.typing.NDArray[numpy.float32]) -> tuple["
                   "numpy.typing.NDArray | None, list[numpy.typing.NDArray], float]"));

  nb::class_<SearchOfPython>(m, "Search", "Ask and tell.")
      .def(nb::init<const PlanOfPython&>(), nb::arg("plan"))
      .def("ask", &SearchOfPython::ask, nb::arg("given").none() = nb::none(),
           nb::sig("def ask(self, given: numpy.typing.NDArray[numpy.float32] | None = ...) -> "
                   "numpy.typing.NDArray[numpy.float32]"))
      .def("waiting", &SearchOfPython::waiting)
      .def("tell", &SearchOfPython::tell, nb::arg("fitness"), nb::arg("sensory"),
           nb::arg("ground_truth"),
           nb::sig("def tell(self, fitness: numpy.typing.NDArray, sensory: numpy.typing.NDArray, "
                   "ground_truth: numpy.typing.NDArray) -> dict[str, int]"))
      .def_prop_ro("asked", &SearchOfPython::asked)
      .def_prop_ro("iterations", &SearchOfPython::iterations)
      .def_prop_ro("hash", &SearchOfPython::hash)
      .def_prop_ro("extra", &SearchOfPython::extra)
      .def("__len__", &SearchOfPython::size)
      .def_prop_ro("seconds", &SearchOfPython::seconds,
                   nb::sig("def seconds(self) -> dict[str, float]"))
      .def("measure", &SearchOfPython::measure, nb::sig("def measure(self) -> dict[str, float]"))
      .def("column", &SearchOfPython::column, nb::arg("name"),
           nb::sig("def column(self, name: str) -> numpy.typing.NDArray"))
      .def("save", &SearchOfPython::save, nb::arg("directory"))
      .def("load", &SearchOfPython::load, nb::arg("directory"));

  nb::class_<Stop>(m, "Stop", "A flag that ends a run after its iteration.")
      .def(nb::init<>())
      .def("set", [](Stop& stop) { stop.wanted = true; })
      .def_prop_ro("wanted", [](const Stop& stop) { return stop.wanted.load(); });

  m.def("run", &run_plan, nb::arg("plan"), nb::arg("out"), nb::arg("resume"), nb::arg("observer"),
        nb::arg("stop"), nb::arg("remarks"),
        "Carries a plan out; True if it came to its end, False if it was stopped.");
  m.def("encode", &encode, nb::arg("plan"), nb::arg("run"), nb::arg("observations"),
        nb::arg("with_errors"),
        nb::sig("def encode(plan: Plan, run: str, observations: numpy.typing.NDArray, "
                "with_errors: bool) -> tuple["
                "numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.float32]]"));
  m.def(
      "voronoi_centroids",
      [](std::size_t count, std::size_t dimension, std::uint64_t seed) {
        Workers workers;
        const Matrix<float> centroids = voronoi_centroids(count, dimension, seed, workers);
        return array_of(centroids.view());
      },
      nb::arg("count"), nb::arg("dimension"), nb::arg("seed"),
      nb::sig("def voronoi_centroids(count: int, dimension: int, seed: int) -> "
              "numpy.typing.NDArray[numpy.float32]"),
      "The cells of the container cvt, in the unit cube.");
  m.def(
      "tasks", [] { return builtin().tasks.names(); }, "Names of the tasks of this build.");
  m.def("variants", [] {
    std::vector<std::pair<std::string, std::string>> all;
    for (const Variant& variant : builtin().variants)
      all.emplace_back(variant.name, variant.summary);
    return all;
  });
}

}  // namespace aurora::python
