#include "apps/aurora/explore/static_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>

#include "apps/aurora/explore/base64.hpp"
#include "apps/aurora/explore/bundle.hpp"
#include "apps/aurora/explore/page.hpp"
#include "apps/aurora/explore/run_text.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/storage/files.hpp"

namespace aurora::explore {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModules = R"(<script type="module" src="main.js"></script>)";
constexpr std::string_view kScripts =
    R"(<script src="data.js" defer></script><script src="explore.js" defer></script>)";

class Writer {
 public:
  Writer(Answers& answers, fs::path out) : answers_(answers), out_(std::move(out)) {
    create_fresh_directory(out_, "choose another folder for --export");
  }

  /// Writes the answer to an address as data/NAME; whether there was one.
  bool add(const Address& address, const std::string& name, bool as_text = true) {
    const Answer answer = answers_.answer(address);
    if (answer.status != 200 || !answer.body) {
      if (answer.status >= 400) note(name, *answer.body);
      return false;
    }
    add(*answer.body, name, as_text);
    return true;
  }

  void add(const std::string& bytes, const std::string& name, bool as_text = true) {
    const fs::path file = out_ / "data" / name;
    make_directories(file.parent_path());
    write_file(file, std::string_view(bytes));
    if (as_text) {
      texts_[name] = to_base64(bytes);
    } else {
      files_.push_back(name);
    }
  }

  void write_page() {
    for (const PageFile& file : page_files()) {
      if (file.name.ends_with(".js")) continue;
      std::string bytes(file.bytes);
      if (file.name == "index.html") {
        const std::size_t at = bytes.find(kModules);
        if (at == std::string::npos) throw DataError("the page has another script than its own");
        bytes.replace(at, kModules.size(), kScripts);
      }
      write_file(out_ / file.name, std::string_view(bytes));
    }
    write_file(out_ / "explore.js", std::string_view(bundled(page_files(), "main.js")));
    const Json data = {{"answers", texts_}, {"files", files_}};
    write_file(out_ / "data.js",
               std::string_view("window.aurora_export = " + compact(data) + ";\n"));
  }

  std::vector<std::string> notes;

 private:
  void note(const std::string& name, const std::string& body) {
    notes.push_back(fmt::format("{}: {}", name, Json::parse(body).value("error", "")));
  }

  Answers& answers_;
  fs::path out_;
  Json texts_ = Json::object();
  Json files_ = Json::array();
};

/// Pictures and films of one individual, to look at and to take away; whether there was a film.
bool add_individual(Writer& writer, std::size_t run, std::uint64_t id) {
  const auto about = [&](What what, const char* kind = "") {
    return Address{.what = what, .file = {}, .run = run, .id = id, .kind = kind, .token = {}};
  };
  const std::string stem = fmt::format("runs/{}/individual-{}", run, id);
  writer.add(about(What::individual), stem + ".json");
  writer.add(about(What::picture), stem + ".png", false);
  writer.add(about(What::sensory), stem + "-sensory.png", false);
  return writer.add(about(What::film, "apng"), stem + "-film.apng", false) &&
         writer.add(about(What::film, "gif"), stem + "-film.gif", false);
}

/// The newest container of a run with `at` empty, or a snapshot; `genes` gets those of its
/// individuals. Whether there was one.
bool add_container(Writer& writer, Answers& answers, std::size_t run, std::optional<std::size_t> at,
                   std::map<std::uint64_t, std::vector<float>>& genes) {
  const std::string ending = at ? fmt::format("-at-{}.bin", *at) : ".bin";
  const auto add = [&](What what, const char* name) {
    return writer.add(
        Address{.what = what, .file = {}, .run = run, .at = at, .kind = {}, .token = {}},
        fmt::format("runs/{}/{}{}", run, name, ending));
  };
  if (!add(What::container, "container")) return false;
  add(What::novelty, "novelty");
  const auto container = answers.container(run, at);
  const Individuals& members = container->saved.individuals;
  for (std::size_t row = 0; row < members.size(); ++row) {
    const auto values = members.genotypes.row(row);
    genes.try_emplace(members.ids[row], values.begin(), values.end());
  }
  return true;
}

/// All about one run; the number of films.
std::size_t add_run(Writer& writer, Answers& answers, std::size_t number, std::size_t films) {
  const auto about = [&](What what) {
    return Address{.what = what, .file = {}, .run = number, .kind = {}, .token = {}};
  };
  const std::string folder = fmt::format("runs/{}", number);
  writer.add(about(What::run), folder + ".json");
  writer.add(about(What::metrics), folder + "/metrics.json");
  writer.add(about(What::training), folder + "/training.json");
  writer.add(about(What::backdrop), folder + "/backdrop.png", false);
  std::map<std::uint64_t, std::vector<float>> genes;
  if (!add_container(writer, answers, number, std::nullopt, genes)) return 0;
  for (const Source& source : answers.runs()[number]->sources()) {
    if (!source.name.starts_with("snapshots/")) continue;
    add_container(writer, answers, number, source.iteration, genes);
  }
  writer.add(genotype_columns(genes), folder + "/genotypes.bin");
  const auto container = answers.container(number, std::nullopt);
  if (!container->plan) return 0;
  std::size_t made = 0;
  for (const std::size_t row : most_different(container->saved.individuals, films)) {
    made += add_individual(writer, number, container->saved.individuals.ids[row]) ? 1 : 0;
  }
  return made;
}

}  // namespace

StaticPage write_static_page(Answers& answers, const fs::path& out, std::size_t films,
                             const std::function<void(const std::string&)>& begins) {
  const auto runs = answers.runs();
  if (runs.empty()) throw DataError("there is no run to write a page of");
  Writer writer(answers, out);
  StaticPage page;
  writer.add({.what = What::runs, .file = {}, .kind = {}, .token = {}}, "runs.json");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (begins) begins(runs[i]->name());
    page.films += add_run(writer, answers, i, films);
    ++page.runs;
  }
  writer.write_page();
  page.notes = std::move(writer.notes);
  return page;
}

std::vector<std::size_t> most_different(const Individuals& individuals, std::size_t count) {
  std::vector<std::size_t> chosen;
  const std::size_t rows = individuals.size();
  if (rows == 0 || count == 0) return chosen;
  std::vector<double> distance(rows, std::numeric_limits<double>::infinity());
  auto next = static_cast<std::size_t>(std::ranges::max_element(individuals.fitness) -
                                       individuals.fitness.begin());
  while (chosen.size() < std::min(count, rows)) {
    chosen.push_back(next);
    const auto here = individuals.descriptors.row(next);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto there = individuals.descriptors.row(row);
      double squared = 0;
      for (std::size_t i = 0; i < here.size(); ++i) {
        const double offset = static_cast<double>(here[i]) - there[i];
        squared += offset * offset;
      }
      distance[row] = std::min(distance[row], squared);
    }
    for (const std::size_t row : chosen) distance[row] = -1;  // twins are at distance 0
    next = static_cast<std::size_t>(std::ranges::max_element(distance) - distance.begin());
  }
  return chosen;
}

}  // namespace aurora::explore
