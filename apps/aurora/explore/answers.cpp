#include "apps/aurora/explore/answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "apps/aurora/explore/individual_text.hpp"
#include "apps/aurora/explore/own_files.hpp"
#include "apps/aurora/explore/page.hpp"
#include "apps/aurora/explore/run_text.hpp"
#include "apps/aurora/explore/tables.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/storage/film.hpp"
#include "aurora/storage/internal/json.hpp"

namespace aurora::explore {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr std::ptrdiff_t kLoadsAtOnce = 4;
constexpr std::size_t kNoveltyBytes = std::size_t{16} << 20;  // kept
constexpr milliseconds kLook{3'000};  // for a check that comes with the numbers
constexpr milliseconds kForEver{1'000'000'000};
constexpr milliseconds kWatch{90'000};  // for a picture; drawing itself ends before that

constexpr const char* kJson = "application/json";
constexpr const char* kPng = "image/png";

Answer text_answer(std::string text, const char* type = kJson) {
  return {200, type, std::make_shared<const std::string>(std::move(text))};
}

Answer nothing() {
  return {204, "", nullptr};
}

std::string checksum_of(std::string_view text) {
  Checksum checksum;
  checksum.update(std::as_bytes(std::span(text)));
  return checksum.text();
}

Answer page_file(const std::string& name, std::string_view if_none_match) {
  const auto files = page_files();
  const auto found = std::ranges::find(files, name, &PageFile::name);
  if (found == files.end()) throw Refusal(404, "there is nothing at this address");
  const std::string etag = fmt::format("\"{}\"", checksum_of(found->bytes));
  if (has_etag(if_none_match, etag)) return {304, "", nullptr, etag};
  Answer answer = text_answer(std::string(found->bytes));
  answer.type = type_of(name);
  answer.etag = etag;
  return answer;
}

/// What an address wants to see of an individual, and the file that it is in.
struct Sight {
  PicturesWanted wanted;
  std::string ending;
  const char* type;
};

/// All that the page shows of an individual comes of one evaluation: that and drawing take longer
/// than writing down what was drawn.
constexpr PicturesWanted kAll{true, FilmKind::apng};

Sight sight_of(const Address& address) {
  if (address.kind == "gif") return {{false, FilmKind::gif}, "-film.gif", "image/gif"};
  if (address.what == What::film) return {kAll, "-film.apng", "image/apng"};
  return {kAll, address.what == What::sensory ? "-sensory.png" : ".png", kPng};
}

}  // namespace

Answer error_answer(int status, const std::string& why) {
  const Json json = {{"error", why}};
  Answer answer = text_answer(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  answer.status = status;
  if (status == 405) answer.headers.emplace_back("Allow", "GET");
  if (status == 503) answer.headers.emplace_back("Retry-After", "1");
  return answer;
}

std::string_view type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "application/octet-stream";
}

Answers::Answers(const Parts& parts, const std::vector<fs::path>& places, Options options)
    : options_(std::move(options)),
      runs_(parts, places),
      containers_(options_.container_bytes, kLoadsAtOnce),
      novelties_(kNoveltyBytes, kLoadsAtOnce),
      replays_(options_.draw) {}

Answer Answers::respond(const Request& request, const Door& door) {
  try {
    Address address;
    if (request.method == "GET") address = parse_address(request.target);
    check_entry(request, address, door);
    if (address.what == What::page && !address.token.empty() && !door.token.empty()) {
      // From here on the browser says it by itself, and the address bar forgets it.
      return {303,
              "",
              nullptr,
              "",
              {{"Location", "/"},
               {"Set-Cookie",
                fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", door.cookie, door.token)}}};
    }
    return answer(address, request.if_none_match);
  } catch (const Refusal& refusal) {
    return error_answer(refusal.status(), refusal.what());
  } catch (const std::exception& error) {
    return error_answer(500, error.what());
  }
}

Answer Answers::answer(const Address& address, std::string_view if_none_match) {
  try {
    return look_up(address, if_none_match);
  } catch (const Refusal& refusal) {
    return error_answer(refusal.status(), refusal.what());
  } catch (const std::bad_alloc&) {
    return error_answer(500, "there is not enough memory for this");
  } catch (const std::exception& error) {
    return error_answer(500, error.what());
  } catch (...) {  // a task may throw anything
    return error_answer(500, "something was thrown that is no std::exception");
  }
}

Answer Answers::look_up(const Address& address, std::string_view if_none_match) {
  switch (address.what) {
    case What::page:
      return page_file(address.file, if_none_match);
    case What::runs:
      return list();
    case What::run:
      return describe(address.run);
    case What::container:
      return columns(address, if_none_match);
    case What::novelty:
      return novelty(address);
    case What::metrics:
      return table(address, "metrics.csv");
    case What::training:
      return table(address, "encoder.csv");
    case What::individual:
      return individual(address);
    case What::picture:
    case What::sensory:
    case What::film:
      return drawn(address, if_none_match);
    case What::backdrop:
      return backdrop(address.run);
  }
  throw Refusal(404, "there is nothing at this address");
}

LiveRun& Answers::run_at(std::size_t number) {
  const std::shared_ptr<LiveRun> run = runs_.at(number);
  if (!run) throw Refusal(404, fmt::format("there is no run {}", number));
  return *run;  // the list never loses one
}

Answer Answers::list() {
  Json all = Json::array();
  const auto runs = runs_.all();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    all.push_back(standing_json(i, runs[i]->name(), runs[i]->standing()));
  }
  return text_answer(compact({{"runs", std::move(all)}, {"live", options_.live}}));
}

Answer Answers::describe(std::size_t number) {
  LiveRun& run = run_at(number);
  const std::vector<Source> sources = run.sources();
  const std::string etag = sources.empty() ? "" : etag_of(number, run, sources.front());
  Json json = run_json(run, sources, etag);
  json["directory"] = place_of(run);
  return text_answer(compact(json));
}

std::string Answers::etag_of(std::size_t number, LiveRun& run, const Source& source) const {
  const std::string whole = fmt::format("{} {} {} {}", number, source.name, source.iteration,
                                        stamp_of(run.directory(), source));
  return fmt::format("\"{}\"", checksum_of(whole));
}

std::shared_ptr<const OpenContainer> Answers::open(std::size_t number, LiveRun& run,
                                                   const Source& source) {
  const std::string etag = etag_of(number, run, source);
  const std::string name = fmt::format("{}@{} {}", number, source.iteration, etag);
  return containers_.get(name, [&] { return open_container(run, source, etag); });
}

std::shared_ptr<const OpenContainer> Answers::container(std::size_t number,
                                                        std::optional<std::size_t> at) {
  LiveRun& run = run_at(number);
  std::string problem;
  for (const Source& source : run.sources()) {
    if (at && source.iteration != *at) continue;
    try {
      return open(number, run, source);
    } catch (const Error& error) {
      if (problem.empty()) problem = error.what();
    }
  }
  // A checkpoint may have been replaced since the page saw it.
  if (at) {
    if (auto kept = containers_.find_beginning(fmt::format("{}@{} ", number, *at))) return kept;
  }
  if (!problem.empty()) throw DataError(problem);
  throw Refusal(404, at ? fmt::format("nothing was kept of iteration {}", *at)
                        : "the run has no container yet: its first snapshot or checkpoint is to "
                          "come");
}

Answer Answers::columns(const Address& address, std::string_view if_none_match) {
  const auto found = container(address.run, address.at);
  if (has_etag(if_none_match, found->etag)) return {304, "", nullptr, found->etag};
  // The body is a part of the container, and lives as long.
  return {200, "application/octet-stream",
          std::shared_ptr<const std::string>(found, &found->columns), found->etag};
}

Answer Answers::novelty(const Address& address) {
  const auto found = container(address.run, address.at);
  const auto scores = novelties_.get(fmt::format("{} {}", address.run, found->etag),
                                     [&] { return novelty_of(found->saved.individuals); });
  // It has the name of its container, so that nobody takes it for another one's.
  return {200, "application/octet-stream",
          std::shared_ptr<const std::string>(scores, &scores->column), found->etag};
}

Answer Answers::table(const Address& address, const char* file) {
  LiveRun& run = run_at(address.run);
  return text_answer(table_json(run.directory() / file, address.from));
}

Answers::Found Answers::find(const Address& address) {
  Found found{container(address.run, address.at), 0};
  const std::vector<std::uint64_t>& ids = found.container->saved.individuals.ids;
  const auto place = std::ranges::lower_bound(ids, *address.id);
  if (place == ids.end() || *place != *address.id) {
    throw Refusal(404, fmt::format("there is no individual {} after iteration {}", *address.id,
                                   found.container->source.iteration));
  }
  found.row = static_cast<std::size_t>(place - ids.begin());
  return found;
}

Replays::Pointer Answers::replay(const Address& address, const Found& found,
                                 const PicturesWanted& wanted, milliseconds patience) {
  if (!found.container->plan) {
    std::string why;
    run_at(address.run).plan(&why);
    throw Refusal(501, why);
  }
  const std::string name = fmt::format("{} {} {} {}", address.run, found.container->etag,
                                       *address.id, name_of(wanted.film));
  return replays_.get(name, {run_at(address.run).directory(), found.container, found.row, wanted},
                      patience);
}

std::string Answers::place_of(const LiveRun& run) const {
  // What is published says nothing about the machine of who publishes it.
  return options_.live ? fs::absolute(run.directory()).lexically_normal().string() : run.name();
}

std::string Answers::command(LiveRun& run, const Source& source, std::uint64_t id) const {
  const bool older = source.name.starts_with("snapshots");
  return fmt::format("{} show {} --id {}{}", options_.program, shell_quoted(place_of(run)), id,
                     older ? fmt::format(" --at {}", source.iteration) : "");
}

Answer Answers::individual(const Address& address) {
  const Found found = find(address);
  Json json = individual_json(*found.container, found.row);
  json["command"] = command(run_at(address.run), found.container->source, *address.id);
  json["difference"] = nullptr;
  try {
    const auto seen = replay(address, found, kAll, options_.live ? kLook : kForEver);
    if (seen && seen->error.empty()) json["difference"] = seen->drawn.difference;
    if (seen && !seen->error.empty()) json["difference"] = "it cannot be evaluated: " + seen->error;
  } catch (const Refusal&) {
    // Then nobody knows yet.
  }
  return text_answer(compact(json));
}

Answer Answers::drawn(const Address& address, std::string_view if_none_match) {
  const Found found = find(address);
  const Sight sight = sight_of(address);
  // Whoever has a picture of this individual of this container has all that will ever be in it.
  const std::string etag = fmt::format(
      "\"{}\"",
      checksum_of(fmt::format("{} {} {}", found.container->etag, *address.id, sight.ending)));
  if (has_etag(if_none_match, etag)) return {304, "", nullptr, etag};
  const auto seen = replay(address, found, sight.wanted, options_.live ? kWatch : kForEver);
  if (!seen) throw Refusal(503, "drawing it takes too long just now; try again in a moment");
  if (!seen->error.empty()) throw Refusal(500, seen->error);
  const std::string* bytes = seen->file(*address.id, sight.ending);
  if (!bytes) return nothing();
  return {200, sight.type, std::shared_ptr<const std::string>(seen, bytes), etag};
}

Answer Answers::backdrop(std::size_t number) {
  const auto plan = run_at(number).plan();
  if (!plan) return nothing();
  const Image image = plan->task->backdrop();
  if (image.empty()) return nothing();
  return text_answer(
      film_bytes({&image, 1}, 0, "aurora explore: the world of " + plan->spec().name), kPng);
}

}  // namespace aurora::explore
