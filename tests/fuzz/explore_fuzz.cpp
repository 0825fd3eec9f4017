// Requests to `aurora explore`, without the sockets. The first line is the method and the target,
// the others are headers; an empty line asks for the token at the door. Whatever comes, there is an
// answer, nothing is thrown, and a file beside the runs is never in it.
#include <atomic>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "apps/aurora/explore/answers.hpp"
#include "aurora/runs/run.hpp"
#include "fuzz.hpp"

namespace {

using namespace aurora;
using namespace aurora::explore;

constexpr const char* kSecret = "nobody may read this";

/// A task without a simulator, so that a run takes no time.
class Tiny : public Task {
 public:
  Tiny() {
    spec_.name = "tiny";
    spec_.genotype_size = 2;
    spec_.sensory = {{2}, ElementType::float32};
    spec_.ground_truth = {{"x", 0, 1}, {"y", 0, 1}};
    spec_.worst_fitness = -1;
  }
  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override {
    for (std::size_t i = 0; i < genotypes.rows(); ++i) {
      const auto genes = genotypes.row(i);
      out.fitness[i] = -genes[0] * genes[1];
      std::ranges::copy(genes, out.ground_truth.row(i).begin());
      out.sensory.set_row(i, genes);
    }
  }

 private:
  TaskSpec spec_;
};

struct Example {
  Parts parts = builtin_parts();
  std::unique_ptr<Answers> answers;

  Example() {
    parts.tasks.add(part<NoOptions>("tiny", "").made_by([](const NoOptions&, const TaskContext&) {
      return std::make_unique<Tiny>();
    }));
    PlanRequest request;
    request.task = "tiny";
    request.variant = "hc-csc-uniform";
    request.assignments = {"run.iterations=10", "run.batch=8", "container.target_size=20",
                           "run.snapshot_every=5"};
    const std::atomic<bool> stop{false};
    const auto runs = fuzz::scratch() / "runs";
    aurora::run(parts, resolve(parts, request), {.out = runs / "a"}, stop);
    std::ofstream(fuzz::scratch() / "secret.txt") << kSecret;
    answers = std::make_unique<Answers>(parts, std::vector<std::filesystem::path>{runs});
  }
};

Request request_of(const std::string& text, Door& door) {
  Request request;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const std::size_t space = std::min(line.find(' '), line.size());
  request.method = line.substr(0, space);
  request.target = line.substr(std::min(space + 1, line.size()));
  while (std::getline(lines, line)) {
    const std::size_t colon = std::min(line.find(": "), line.size());
    const std::string name = line.substr(0, colon);
    const std::string value = line.substr(std::min(colon + 2, line.size()));
    if (name == "Host") request.hosts.push_back(value);
    if (name == "Cookie") request.cookie = value;
    if (name == "Authorization") request.authorization = value;
    if (name == "If-None-Match") request.if_none_match = value;
    if (name.empty()) door = {.host = "0.0.0.0", .machine = "box", .token = "secret12"};
  }
  return request;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Example example;
  Door door;
  const Request request = request_of(std::string(reinterpret_cast<const char*>(data), size), door);
  const Answer answer = example.answers->respond(request, door);
  if (answer.status < 200 || answer.status > 599) std::abort();
  // Nothing is wrong with this run, but on a busy machine a drawing may take too long (503).
  if (answer.status >= 500 && answer.status != 503) std::abort();
  if (answer.body && answer.body->find(kSecret) != std::string::npos) std::abort();
  const bool known = request.cookie.find("secret12") != std::string::npos ||
                     request.authorization.find("secret12") != std::string::npos ||
                     request.target.find("token=") != std::string::npos;
  if (!door.token.empty() && !known && answer.status < 400) std::abort();
  return 0;
}
