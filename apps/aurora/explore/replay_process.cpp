#include "apps/aurora/explore/replay_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <system_error>

#include "apps/aurora/explore/base64.hpp"
#include "apps/aurora/explore/own_files.hpp"
#include "apps/aurora/explore/run_text.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/runs/checkpoint.hpp"
#include "aurora/storage/files.hpp"

namespace aurora::explore {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::uint64_t kLongestMessage = std::uint64_t{512} << 20;  // bytes

[[noreturn]] void fail(const char* what) {
  throw FileError(fmt::format("cannot {} a process that draws: {}", what,
                              std::generic_category().message(errno)));
}

/// Waits until something can be read; false if the time is over.
bool readable(int socket, const std::optional<Clock::time_point>& deadline) {
  for (;;) {
    int wait = -1;
    if (deadline) {
      const auto left = std::chrono::duration_cast<milliseconds>(*deadline - Clock::now()).count();
      wait = static_cast<int>(std::max<std::int64_t>(left, 0));
    }
    pollfd one{socket, POLLIN, 0};
    const int ready = ::poll(&one, 1, wait);
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0;
  }
}

enum class Outcome { whole, ended, late };

Outcome receive(int socket, char* out, std::size_t size,
                const std::optional<Clock::time_point>& deadline) {
  while (size > 0) {
    if (!readable(socket, deadline)) return Outcome::late;
    const ssize_t got = ::recv(socket, out, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Outcome::ended;
    out += got;
    size -= static_cast<std::size_t>(got);
  }
  return Outcome::whole;
}

Outcome receive_message(int socket, std::string& message,
                        const std::optional<Clock::time_point>& deadline) {
  std::uint64_t size = 0;
  const Outcome head = receive(socket, reinterpret_cast<char*>(&size), sizeof(size), deadline);
  if (head != Outcome::whole) return head;
  if (size > kLongestMessage) return Outcome::ended;
  message.resize(size);
  return receive(socket, message.data(), size, deadline);
}

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool send_message(int socket, std::string_view message) {
  const std::uint64_t size = message.size();
  return send_all(socket, {reinterpret_cast<const char*>(&size), sizeof(size)}) &&
         send_all(socket, message);
}

template <class Container>
std::string as_text(const Container& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return to_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// Fills all of `out`.
void from_text(std::string_view text, std::span<std::byte> out) {
  const std::string bytes = from_base64(text);
  if (bytes.size() != out.size()) throw DataError("a message of a replay has another length");
  if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
}

std::string packed(const Json& header, const Drawn& drawn) {
  const std::string text = compact(header);
  const std::uint64_t length = text.size();
  std::string all(reinterpret_cast<const char*>(&length), sizeof(length));
  all += text;
  for (const Drawn::File& file : drawn.files) all += file.bytes;
  return all;
}

std::string answer_text(const Drawn& drawn, const std::string& error) {
  Json files = Json::array();
  for (const Drawn::File& file : drawn.files) {
    files.push_back({{"name", file.name}, {"bytes", file.bytes.size()}});
  }
  return packed({{"error", error}, {"difference", drawn.difference}, {"files", std::move(files)}},
                drawn);
}

Drawn drawn_of(const std::string& message) {
  std::uint64_t length = 0;
  if (message.size() < sizeof(length)) throw DataError("a replay gave no answer");
  std::memcpy(&length, message.data(), sizeof(length));
  if (length > message.size() - sizeof(length)) throw DataError("a replay gave half an answer");
  const Json json = Json::parse(message.substr(sizeof(length), length));
  const JsonObject answer(json, "the answer of a replay");
  if (const std::string error = answer.text("error"); !error.empty()) throw DataError(error);
  Drawn drawn;
  drawn.difference = answer.text("difference");
  std::size_t at = sizeof(length) + length;
  for (const JsonObject& file : answer.objects("files")) {
    const std::uint64_t bytes = file.whole("bytes");
    if (bytes > message.size() - at) throw DataError("a replay gave half an answer");
    drawn.files.push_back({file.text("name"), message.substr(at, bytes)});
    at += bytes;
  }
  return drawn;
}

}  // namespace

class ReplayProcesses::Process {
 public:
  explicit Process(const std::vector<std::string>& words) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail("reach");
    socket_ = FileHandle(ends[0]);
    const FileHandle theirs(ends[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, theirs.get(), 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const int error =
        ::posix_spawn(&process_, words.front().c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
      process_ = -1;
      errno = error;
      fail("start");
    }
  }
  ~Process() {
    if (process_ > 0) end();
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  Drawn draw(const std::string& job, milliseconds limit) {
    std::string message;
    Outcome outcome = Outcome::ended;
    if (send_message(socket_.get(), job)) {
      outcome = receive_message(socket_.get(), message, Clock::now() + limit);
    }
    if (outcome == Outcome::late) {
      end();
      throw DataError(fmt::format("its evaluation takes longer than {} s and was ended",
                                  std::chrono::duration<double>(limit).count()));
    }
    if (outcome == Outcome::ended) {
      const int status = end();
      throw DataError(WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL
                          ? fmt::format("its evaluation crashed (signal {})", WTERMSIG(status))
                          : std::string("the process that evaluated it has ended"));
    }
    return drawn_of(message);
  }

  bool alive() const { return process_ > 0; }

 private:
  /// One that has ended says how; one that has not is ended.
  int end() {
    socket_ = FileHandle();
    int status = 0;
    // A moment for one that is just crashing, so that its own reason is seen.
    for (int i = 0; i < 20; ++i) {
      if (::waitpid(process_, &status, WNOHANG) != 0) {
        process_ = -1;
        return status;
      }
      ::usleep(5'000);
    }
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return status;
  }

  FileHandle socket_;
  pid_t process_ = -1;
};

ReplayProcesses::ReplayProcesses(std::vector<std::string> words, milliseconds limit)
    : words_(std::move(words)), limit_(limit) {}

ReplayProcesses::~ReplayProcesses() = default;

Drawn ReplayProcesses::draw(const ReplayJob& job) {
  std::unique_ptr<Process> process;
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      process = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!process) process = std::make_unique<Process>(words_);
  const auto keep = [&] {
    if (!process->alive()) return;
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(process));
  };
  try {
    Drawn drawn = process->draw(job_text(job), limit_);
    keep();
    return drawn;
  } catch (const Error&) {
    keep();
    throw;
  }
}

std::string job_text(const ReplayJob& job) {
  const Repertoire one = alone(job);
  const Individuals& members = one.container.individuals;
  Json json = {{"run", to_base64(job.run.string())},
               {"source", {{"name", one.source.name}, {"iteration", one.source.iteration}}},
               {"stills", job.wanted.stills},
               {"film", name_of(job.wanted.film)},
               {"id", members.ids[0]},
               {"fitness", as_text(members.fitness)},
               {"genes", as_text(members.genotypes.row(0))},
               {"ground_truth", as_text(members.ground_truth.row(0))}};
  if (one.container.has_sensory) json["sensory"] = as_text(members.sensory.view().bytes(0));
  return compact(json);
}

Drawn draw_job(const Parts& parts, const std::string& text) {
  const Json parsed = Json::parse(text);
  const JsonObject json(parsed, "a job");
  const std::filesystem::path run = from_base64(json.text("run"));
  check_own(run, "config.toml", std::uint64_t{16} << 20);
  Repertoire one{plan_of_run(parts, run), {}, {}, {}};
  const TaskSpec& spec = one.plan.spec();
  one.source = {json.object("source").text("name"), json.object("source").whole("iteration")};
  SavedContainer& container = one.container;
  container.task = spec.name;
  container.ground_truth = spec.ground_truth;
  container.has_sensory = json.has("sensory");
  Individuals& members = container.individuals;
  members = Individuals(
      {spec.genotype_size, one.plan.descriptor_size(), spec.ground_truth.size(), spec.sensory}, 1);
  members.ids[0] = json.whole("id");
  from_text(json.text("fitness"), std::as_writable_bytes(std::span(members.fitness)));
  from_text(json.text("genes"), std::as_writable_bytes(members.genotypes.row(0)));
  from_text(json.text("ground_truth"), std::as_writable_bytes(members.ground_truth.row(0)));
  if (container.has_sensory) {
    from_text(json.text("sensory"), members.sensory.mutable_view().bytes(0));
  }
  const PicturesWanted wanted{json.flag("stills"), json.name<FilmKind>("film")};
  return draw_alone(std::move(one), run, wanted);
}

void serve_replays(const Parts& parts, int socket) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would read what comes of it
  for (std::string job; receive_message(socket, job, std::nullopt) == Outcome::whole;) {
    std::string answer;
    try {
      answer = answer_text(draw_job(parts, job), "");
    } catch (const std::exception& error) {
      answer = answer_text({}, *error.what() ? error.what() : "it cannot be drawn");
    } catch (...) {  // a task may throw anything
      answer = answer_text({}, "something was thrown that is no std::exception");
    }
    if (!send_message(socket, answer)) return;
  }
}

}  // namespace aurora::explore
