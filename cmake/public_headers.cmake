# The headers that are installed: what is promised to users. Everything else may change at any time.
set(AURORA_PUBLIC_HEADERS
    # what parts are made of
    aurora/core/errors.hpp
    aurora/core/individuals.hpp
    aurora/core/matrix.hpp
    aurora/core/named.hpp
    aurora/core/names.hpp
    aurora/core/options.hpp
    aurora/core/parallel.hpp
    aurora/core/part.hpp
    aurora/core/random.hpp
    aurora/core/sensory_data.hpp
    aurora/core/stopwatch.hpp
    aurora/core/task_spec.hpp
    aurora/pictures/canvas.hpp
    aurora/pictures/image.hpp
    # the kinds of parts
    aurora/algorithms/algorithm.hpp
    aurora/algorithms/encoder_schedule.hpp
    aurora/algorithms/offspring.hpp
    aurora/algorithms/recent.hpp
    aurora/containers/container.hpp
    aurora/containers/nearest_neighbours.hpp
    aurora/containers/novelty.hpp
    aurora/containers/threshold.hpp
    aurora/encoders/encoder.hpp
    aurora/evaluation/evaluator.hpp
    aurora/evolution/selector.hpp
    aurora/evolution/variation.hpp
    aurora/metrics/metric.hpp
    aurora/tasks/task.hpp
    # runs
    aurora/runs/observer.hpp
    aurora/runs/parts.hpp
    aurora/runs/plan.hpp
    aurora/runs/records.hpp
    aurora/runs/run.hpp
    aurora/runs/search.hpp
    aurora/runs/variants.hpp
    apps/aurora/command_line.hpp)
