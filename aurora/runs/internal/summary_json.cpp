#include "aurora/runs/internal/summary_json.hpp"

namespace aurora {
namespace {

/// Raised when what the files of a run say changes in a way that older programs do not read.
constexpr std::uint64_t kFormat = 3;

}  // namespace

Json numbers_json(const std::vector<NamedNumber>& numbers) {
  Json json = Json::object();
  for (const NamedNumber& number : numbers) json[number.name] = number.value;
  return json;
}

Json summary_json(const RunSummary& summary) {
  Json json;
  json["format"] = kFormat;
  json["version"] = summary.version;
  json["host"] = summary.host;
  json["task"] = summary.task;
  json["title"] = summary.title;
  json["variant"] = summary.variant;
  if (!summary.label.empty()) json["label"] = summary.label;
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
  json["outside"] = summary.outside;
  json["container_hash"] = summary.container_hash;
  json["metrics"] = numbers_json(summary.metrics);
  json["units"] = Json::object();
  for (const auto& [name, unit] : summary.units) json["units"][name] = unit;
  json["loss_per_update"] = summary.loss_per_update;
  json["threads"] = summary.threads;
  json["evaluator"] = summary.evaluator;
  if (!summary.remarks.empty()) json["remarks"] = summary.remarks;
  json["seconds"] = {
      {"total", summary.seconds_total},         {"simulate", summary.seconds.simulate},
      {"encode", summary.seconds.encode},       {"train", summary.seconds.train},
      {"container", summary.seconds.container}, {"variation", summary.seconds.variation},
      {"metrics", summary.seconds_metrics},     {"io", summary.seconds_io}};
  if (!summary.manifest.empty()) json["manifest"] = summary.manifest;
  return json;
}

RunSummary summary_of(const JsonObject& json) {
  RunSummary summary;
  const std::uint64_t format = json.has("format") ? json.whole("format") : 1;
  if (format > kFormat) {
    json.wrong("format", fmt::format("at most {}: a later version wrote this", kFormat));
  }
  summary.version = json.text("version");
  summary.host = json.text("host");
  summary.task = json.text("task");
  summary.title = json.has("title") ? json.text("title") : summary.task;
  summary.variant = json.text("variant");
  if (json.has("label")) summary.label = json.text("label");
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
  if (json.has("outside")) summary.outside = json.whole("outside");
  summary.container_hash = json.text("container_hash");
  if (format == 1) {
    for (const char* name : {"coverage", "grid_mean_fitness", "qd_score", "threshold"}) {
      summary.metrics.push_back({name, json.number(name)});
    }
  } else {
    summary.metrics = json.object("metrics").numbers();
    summary.units = json.object("units").texts();
    summary.evaluator = json.text("evaluator");
  }
  if (json.has("remarks")) summary.remarks = json.text_list("remarks");
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
  if (json.has("manifest")) summary.manifest = json.text("manifest");
  return summary;
}

}  // namespace aurora
