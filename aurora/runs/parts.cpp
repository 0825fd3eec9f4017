#include "aurora/runs/parts.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "aurora/containers/dominated_novelty.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/encoders/autoencoder.hpp"
#include "aurora/encoders/pca.hpp"
#include "aurora/encoders/random_features.hpp"

namespace aurora {

struct Parts::Shelf {
  std::mutex mutex;
  /// By entry, which it keeps alive, and options: copies of the parts may have added different
  /// tasks of one name.
  std::map<std::pair<std::shared_ptr<const TaskEntry>, std::string>, std::shared_ptr<const Task>>
      tasks;
};

Parts::Parts() : shelf_(std::make_shared<Shelf>()) {}

std::shared_ptr<const Task> Parts::task(const std::shared_ptr<const TaskEntry>& entry,
                                        const Values& values) const {
  if (!entry->missing.empty()) {
    throw UsageError("the task '" + entry->name + "' is not in this build: " + entry->missing);
  }
  std::string options;
  for (const auto& [name, value] : values) options += name + "=" + value.toml() + "\n";
  const std::scoped_lock lock(shelf_->mutex);
  std::shared_ptr<const Task>& task = shelf_->tasks[{entry, options}];
  if (task) return task;
  TaskContext context;
  std::shared_ptr<const Task> made = entry->make(values, context);
  check(made->spec());
  if (made->spec().name != entry->name) {
    throw UsageError("the task '" + entry->name + "' calls itself '" + made->spec().name +
                     "' in its specification");
  }
  task = std::move(made);
  return task;
}

namespace {

/// The paper's table (section V-A), in its order, and a few more.
std::vector<Variant> builtin_variants() {
  const auto aurora = [](const std::string& threshold, const std::string& selection,
                         std::string summary) {
    return Variant{"aurora-" + threshold + "-" + selection + "-n",
                   std::move(summary),
                   {"descriptor.kind=learned", "descriptor.dimension=n",
                    "threshold.kind=" + threshold, "selection.kind=" + selection}};
  };
  return {
      aurora("csc", "uniform", "AURORA with container size control (paper, V-A.1)"),
      aurora("csc", "novelty", "prefers parents far from their neighbours (V-A.1)"),
      aurora("csc", "surprise", "prefers parents the encoder reconstructs badly (V-A.1)"),
      aurora("vat", "uniform", "AURORA with the volume adaptive threshold (V-A.1)"),
      aurora("vat", "novelty", "the same, preferring novel parents (V-A.1)"),
      {"taxons-n",
       "a population that seeks novelty and surprise (V-A.1)",
       {"algorithm.kind=taxons", "descriptor.kind=learned", "descriptor.dimension=n",
        "selection.kind=novelty+surprise"}},
      {"hc-csc-uniform",
       "told what to look at: the upper baseline (V-A.2)",
       {"descriptor.kind=hand-coded", "threshold.kind=csc", "selection.kind=uniform"}},
      {"random-search",
       "every genotype drawn afresh: the lower baseline (V-A.2)",
       {"descriptor.kind=hand-coded", "threshold.kind=csc", "selection.kind=none"}},
      {"ns",
       "Novelty Search (V-A.2)",
       {"algorithm.kind=novelty-search", "descriptor.kind=hand-coded", "selection.kind=novelty"}},
      aurora("pid", "uniform", "AURORA with a PID controller of the size (VII)"),
      {"map-elites",
       "the fittest of each cell of a grid",
       {"descriptor.kind=hand-coded", "container.kind=grid"}},
      {"cvt-map-elites",
       "the fittest of each Voronoi cell",
       {"descriptor.kind=hand-coded", "container.kind=cvt"}},
      {"aurora-dns-n",
       "AURORA that keeps whoever is far from the fitter (Dominated Novelty Search)",
       {"descriptor.kind=learned", "descriptor.dimension=n", "container.kind=dns"}},
      {"dns",
       "the same, told what to look at",
       {"descriptor.kind=hand-coded", "container.kind=dns"}},
      {"aurora-uniform-n",
       "AURORA with a container that grows up to its size",
       {"descriptor.kind=learned", "descriptor.dimension=n", "threshold.kind=growing",
        "selection.kind=uniform", "encoder.redraw=true"}},
      {"hc-uniform",
       "the same, told what to look at",
       {"descriptor.kind=hand-coded", "threshold.kind=growing", "selection.kind=uniform"}},
      {"aurora-tournament-n",
       "AURORA-CSC whose parents are the fittest and most novel of four",
       {"descriptor.kind=learned", "descriptor.dimension=n", "threshold.kind=csc",
        "selection.kind=tournament", "selection.criterion=both", "selection.size=4",
        "encoder.redraw=true"}},
      {"hc-tournament",
       "the same, told what to look at",
       {"descriptor.kind=hand-coded", "threshold.kind=csc", "selection.kind=tournament",
        "selection.criterion=both", "selection.size=4"}},
      {"cma-me",
       "MAP-Elites with emitters that follow what improves it (CMA-ME)",
       {"algorithm.kind=cma-me", "descriptor.kind=hand-coded", "container.kind=grid"}},
      {"aurora-ensemble-n",
       "AURORA with several encoders, each with a container of its own",
       {"algorithm.kind=ensemble", "descriptor.kind=learned", "descriptor.dimension=n",
        "threshold.kind=csc", "selection.kind=uniform"}},
  };
}

}  // namespace

Parts builtin_parts() {
  Parts parts;
  parts.tasks.add(maze_task());
  parts.tasks.add(hexapod_task());
  parts.tasks.add(air_hockey_task());
  parts.tasks.add(hexapod_walking_task());
  parts.tasks.add(vases_task());

  parts.loops.add(quality_diversity_loop());
  parts.loops.add(taxons_loop());
  parts.loops.add(novelty_search_loop());
  parts.loops.add(cma_me_loop());
  parts.loops.add(ensemble_loop());

  parts.encoders.add(auto_encoder_part());
  parts.encoders.add(conv_autoencoder_part());
  parts.encoders.add(mlp_autoencoder_part());
  parts.encoders.add(sequence_conv_autoencoder_part());
  parts.encoders.add(lstm_autoencoder_part());
  parts.encoders.add(variational_autoencoder_part());
  parts.encoders.add(contrastive_autoencoder_part());
  parts.encoders.add(pca_part());
  parts.encoders.add(random_features_part());

  parts.containers.add(unstructured_container());
  parts.containers.add(grid_container());
  parts.containers.add(cvt_container());
  parts.containers.add(dominated_novelty_container());

  parts.thresholds.add(csc_threshold_part());
  parts.thresholds.add(vat_threshold_part());
  parts.thresholds.add(fixed_threshold_part());
  parts.thresholds.add(pid_threshold_part());
  parts.thresholds.add(growing_threshold_part());

  parts.selectors.add(uniform_selector());
  parts.selectors.add(novelty_selector());
  parts.selectors.add(surprise_selector());
  parts.selectors.add(novelty_surprise_selector());
  parts.selectors.add(curiosity_selector());
  parts.selectors.add(exploring_selector());
  parts.selectors.add(tournament_selector());
  parts.selectors.add(no_selector());

  parts.variations.add(polynomial_variation());
  parts.variations.add(iso_line_variation());

  parts.metrics.add(grid_metric());
  parts.metrics.add(fitness_metric());
  parts.metrics.add(descriptor_metric());
  parts.metrics.add(orientation_metric());
  parts.metrics.add(trajectory_metric());

  parts.evaluators.add(thread_evaluator());
  parts.evaluators.add(mpi_evaluator());

  parts.variants = builtin_variants();
  return parts;
}

}  // namespace aurora
