#include "aurora/runs/internal/summary_json.hpp"

namespace aurora {

Json summary_json(const RunSummary& summary) {
  Json json;
  json["version"] = summary.version;
  json["host"] = summary.host;
  json["task"] = summary.task;
  json["variant"] = summary.variant;
  json["seed"] = summary.seed;
  json["status"] = name_of(summary.status);
  if (summary.status == RunStatus::failed) json["error"] = summary.error;
  json["started"] = summary.started;
  if (summary.status != RunStatus::running) json["ended"] = summary.ended;
  json["iterations"] = summary.iterations;
  json["evaluations"] = summary.evaluations;
  json["simulations"] = summary.simulations;
  json["invalid"] = summary.invalid;
  json["container_size"] = summary.container_size;
  json["container_hash"] = summary.container_hash;
  json["coverage"] = summary.coverage;
  json["grid_mean_fitness"] = summary.grid_mean_fitness;
  json["qd_score"] = summary.qd_score;
  json["threshold"] = summary.threshold;
  json["loss_per_update"] = summary.loss_per_update;
  json["threads"] = summary.threads;
  json["seconds"] = {
      {"total", summary.seconds_total},         {"simulate", summary.seconds.simulate},
      {"encode", summary.seconds.encode},       {"train", summary.seconds.train},
      {"container", summary.seconds.container}, {"variation", summary.seconds.variation},
      {"metrics", summary.seconds_metrics},     {"io", summary.seconds_io}};
  return json;
}

RunSummary summary_of(const JsonObject& json) {
  RunSummary summary;
  summary.version = json.text("version");
  summary.host = json.text("host");
  summary.task = json.text("task");
  summary.variant = json.text("variant");
  summary.seed = json.whole("seed");
  summary.status = json.name<RunStatus>("status");
  if (summary.status == RunStatus::failed) summary.error = json.text("error");
  summary.started = json.text("started");
  if (summary.status != RunStatus::running) summary.ended = json.text("ended");
  summary.iterations = json.whole("iterations");
  summary.evaluations = json.whole("evaluations");
  summary.simulations = json.whole("simulations");
  summary.invalid = json.whole("invalid");
  summary.container_size = json.whole("container_size");
  summary.container_hash = json.text("container_hash");
  summary.coverage = json.number("coverage");
  summary.grid_mean_fitness = json.number("grid_mean_fitness");
  summary.qd_score = json.number("qd_score");
  summary.threshold = json.number("threshold");
  summary.loss_per_update = json.number("loss_per_update");
  summary.threads = json.whole("threads");
  const JsonObject seconds = json.object("seconds");
  summary.seconds_total = seconds.number("total");
  summary.seconds.simulate = seconds.number("simulate");
  summary.seconds.encode = seconds.number("encode");
  summary.seconds.train = seconds.number("train");
  summary.seconds.container = seconds.number("container");
  summary.seconds.variation = seconds.number("variation");
  summary.seconds_metrics = seconds.number("metrics");
  summary.seconds_io = seconds.number("io");
  return summary;
}

}  // namespace aurora
