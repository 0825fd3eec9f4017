// A whole run directory in which one file is changed. The first byte says which file; the second
// how: replaced by the rest of the input, or patched with it (place, place, byte) and, where a
// manifest lists the file, with checksums that match again: what a careful attacker would do.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "aurora/core/individuals.hpp"
#include "aurora/runs/retrain.hpp"
#include "aurora/runs/run.hpp"
#include "aurora/runs/run_directory.hpp"
#include "aurora/runs/verify.hpp"
#include "aurora/storage/files.hpp"
#include "fuzz.hpp"

namespace {

using namespace aurora;

/// A task without a simulator, so that a run takes no time.
class Tiny : public Task {
 public:
  Tiny() {
    spec_.name = "tiny";
    spec_.genotype_size = 2;
    spec_.sensory = {{3}, ElementType::float32};
    spec_.ground_truth = {{"x", 0, 1}, {"y", 0, 1}};
    spec_.worst_fitness = -1;
  }
  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override {
    for (std::size_t i = 0; i < genotypes.rows(); ++i) {
      const auto genes = genotypes.row(i);
      out.fitness[i] = -genes[0] * genes[1];
      std::ranges::copy(genes, out.ground_truth.row(i).begin());
      const auto seen = out.sensory.row<float>(i);
      seen[0] = genes[0];
      seen[1] = genes[1];
      seen[2] = genes[0] - genes[1];
    }
  }

 private:
  TaskSpec spec_;
};

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string checksum_of(const std::string& text) {
  Checksum checksum;
  checksum.update(std::as_bytes(std::span(text)));
  return checksum.text();
}

/// Makes the checksums and lengths of a manifest match its files and itself, as far as it is one.
void seal(const std::filesystem::path& manifest) {
  using Json = nlohmann::ordered_json;
  Json json = Json::parse(content(manifest), nullptr, false);
  if (!json.is_object() || !json.contains("files") || !json["files"].is_array()) return;
  for (Json& entry : json["files"]) {
    if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string()) continue;
    const auto file = manifest.parent_path() / entry["name"].get<std::string>();
    if (!std::filesystem::is_regular_file(file)) continue;
    const std::string bytes = content(file);
    entry["bytes"] = bytes.size();
    entry["xxh3"] = checksum_of(bytes);
  }
  json.erase("checksum");
  json["checksum"] = checksum_of(json.dump(2) + '\n');
  std::ofstream(manifest, std::ios::binary) << json.dump(2) << '\n';
}

/// The same for the seal of the whole run: manifest.json, and run.json, which has its checksum.
void seal_run(const std::filesystem::path& run) {
  seal(run / "manifest.json");
  using Json = nlohmann::ordered_json;
  const Json manifest = Json::parse(content(run / "manifest.json"), nullptr, false);
  Json json = Json::parse(content(run / "run.json"), nullptr, false);
  if (!json.is_object() || !manifest.is_object() || !manifest.contains("checksum")) return;
  json["manifest"] = manifest["checksum"];
  json.erase("checksum");
  json["checksum"] = checksum_of(json.dump(2) + '\n');
  std::ofstream(run / "run.json", std::ios::binary) << json.dump(2) << '\n';
}

struct Example {
  Parts parts = builtin_parts();
  std::filesystem::path run = fuzz::scratch() / "run";
  std::vector<std::filesystem::path> files;
  std::map<std::filesystem::path, std::string> seals;  // as they were

  Example() {
    parts.tasks.add(part<NoOptions>("tiny", "").made_by([](const NoOptions&, const TaskContext&) {
      return std::make_unique<Tiny>();
    }));
    PlanRequest request;
    request.task = "tiny";
    request.variant = "aurora-csc-uniform-2";
    request.assignments = {"run.iterations=20", "run.batch=8", "container.target_size=20",
                           "run.snapshot_every=0"};
    const std::atomic<bool> stop{false};
    aurora::run(parts, resolve(parts, request), {.out = run}, stop);
    retrain(parts, run, {.epochs = 1});
    for (const auto& entry : std::filesystem::recursive_directory_iterator(run)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::ranges::sort(files);
    // The seals are those that a run makes.
    for (const char* name : {"container/manifest.json", "manifest.json", "run.json"}) {
      seals[run / name] = content(run / name);
    }
    seal(run / "container" / "manifest.json");
    seal_run(run);
    for (const auto& [name, before] : seals) {
      if (before.empty() || content(name) != before) std::abort();
    }
  }
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Example example;
  if (size < 2) return 0;
  const std::filesystem::path& file = example.files[data[0] % example.files.size()];
  const std::filesystem::path manifest = file.parent_path() / "manifest.json";
  const std::string original = content(file);
  const std::string original_manifest = content(manifest);
  if (data[1] % 2 == 0) {
    fuzz::write(file, data + 2, size - 2);
  } else {
    std::string patched = original;
    for (std::size_t i = 2; i + 2 < size && !patched.empty(); i += 3) {
      patched[(data[i] * 256U + data[i + 1]) % patched.size()] = static_cast<char>(data[i + 2]);
    }
    std::ofstream(file, std::ios::binary) << patched;
    if (!original_manifest.empty()) seal(manifest);
    seal_run(example.run);
  }
  fuzz::expect_error_of_ours([&] { verify_run(example.parts, example.run, 2); });
  if (!original_manifest.empty()) std::ofstream(manifest, std::ios::binary) << original_manifest;
  std::ofstream(file, std::ios::binary) << original;
  for (const auto& [name, before] : example.seals) std::ofstream(name, std::ios::binary) << before;
  return 0;
}
