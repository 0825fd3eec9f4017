// aurora explore: a page on which runs can be looked at, also while they go on.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <thread>

#include "apps/aurora/commands.hpp"
#include "apps/aurora/explore/answers.hpp"
#include "apps/aurora/explore/replay_process.hpp"
#include "apps/aurora/explore/run_text.hpp"
#include "apps/aurora/explore/server.hpp"
#include "apps/aurora/explore/static_page.hpp"
#include "apps/aurora/interrupt.hpp"
#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

constexpr int kUsualPort = 8017;
constexpr int kPortsTried = 20;
constexpr std::chrono::seconds kReplayLimit{60};

struct Arguments {
  std::vector<std::string> places;
  std::string host = "127.0.0.1";
  std::optional<std::size_t> port;
  std::string token;
  bool open = false;
  std::string out;  // of a static page
  std::size_t films = 50;
  bool worker = false;  // one of the processes that draw
};

std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// 128 bits that nobody can guess.
std::string new_token() {
  std::random_device source;  // the operating system's
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", source());
  return token;
}

/// Letters and digits, so that it fits into an address and a cookie as it is.
void check_token(const std::string& token) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  };
  if (token.size() >= 8 && token.size() <= 200 && std::ranges::all_of(token, plain)) return;
  throw UsageError("a token is 8 to 200 letters, digits, '-' and '_'");
}

/// The port that was said, or the usual one, or one of the next.
int take_port(explore::Server& server, const Arguments& arguments) {
  const int first = arguments.port ? static_cast<int>(*arguments.port) : kUsualPort;
  const int count = arguments.port ? 1 : kPortsTried;
  for (int port = first; port < first + count; ++port) {
    if (const int got = server.bind(arguments.host, port); got > 0) return got;
  }
  throw FileError(count == 1 ? fmt::format("cannot listen on port {} of '{}': it is taken, or not "
                                           "ours; choose another one, or --port 0 for any",
                                           first, arguments.host)
                             : fmt::format("cannot listen on '{}': no port from {} to {} is free; "
                                           "choose another one, or --port 0 for any",
                                           arguments.host, first, first + count - 1));
}

std::string address_of(const Arguments& arguments, int port, const explore::Door& door) {
  const bool everywhere = arguments.host == "0.0.0.0" || arguments.host == "::";
  std::string host = everywhere ? door.machine : arguments.host;
  if (host.find(':') != std::string::npos) host = fmt::format("[{}]", host);
  return fmt::format("http://{}:{}/{}", host, port,
                     door.token.empty() ? "" : "?token=" + door.token);
}

/// Shows an address in the browser, if there is one; some of them do not come back before they are
/// closed.
void open_browser(const std::string& address) {
  std::thread([address] {
    const char* words[] = {"xdg-open", address.c_str(), nullptr};
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, words[0], nullptr, nullptr,
                                     const_cast<char* const*>(words), environ);
    int status = 0;
    if (error != 0 || ::waitpid(child, &status, 0) < 0 || status != 0) {
      say("aurora: note: there is no browser to be opened here: copy the address\n");
    }
  }).detach();
}

/// Who typed `aurora` types it again; a program of somebody's own is called by its path.
std::string program_name() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (program.empty() || program.filename() == "aurora") return "aurora";
  return explore::shell_quoted(program.string());
}

int serve(const Arguments& arguments, explore::Answers& answers) {
  explore::Door door{.host = arguments.host, .machine = machine_name(), .token = arguments.token};
  if (door.token.empty() && !explore::is_loopback(arguments.host)) door.token = new_token();
  if (!door.token.empty()) check_token(door.token);
  const InterruptFlag interrupted;
  const auto server = explore::make_server(
      [&](const explore::Request& request) { return answers.respond(request, door); });
  const int port = take_port(*server, arguments);
  door.cookie = fmt::format("aurora_{}", port);  // cookies do not know ports
  const std::string address = address_of(arguments, port, door);
  print(fmt::format("{}\n", address));
  std::thread serving([&] { server->serve(); });
  if (arguments.open) open_browser(address);
  while (!interrupted.raised()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  // Nothing is being written, so nobody needs to be waited for: an episode that is replayed may
  // take its time.
  server->stop();
  std::_Exit(0);
}

int write_page(const Arguments& arguments, const Parts& parts,
               const std::vector<fs::path>& places) {
  explore::Answers answers(parts, places, {.live = false});
  const auto page = explore::write_static_page(
      answers, arguments.out, arguments.films,
      [](const std::string& run) { say(fmt::format("aurora: writing {}\n", run)); });
  for (const std::string& note : page.notes) say(fmt::format("aurora: note: {}\n", note));
  print(fmt::format("{} with {} runs and {} films\n",
                    (fs::path(arguments.out) / "index.html").string(), page.runs, page.films));
  return 0;
}

/// How the processes that draw are started: this very program, with the same robot.
std::vector<std::string> worker_words(const std::string& robot) {
  std::vector<std::string> words = {"/proc/self/exe", "explore", "--worker"};
  if (!robot.empty()) words.insert(words.end(), {"--task-command", robot});
  return words;
}

int act(const Arguments& arguments, const Parts& parts, const std::string& robot) {
  if (arguments.worker) {
    explore::serve_replays(parts, STDIN_FILENO);
    return 0;
  }
  std::vector<fs::path> places(arguments.places.begin(), arguments.places.end());
  if (places.empty()) places.emplace_back("runs");
  if (!arguments.out.empty()) return write_page(arguments, parts, places);
  explore::ReplayProcesses processes(worker_words(robot), kReplayLimit);
  const auto draw = [&](const explore::ReplayJob& job) { return processes.draw(job); };
  explore::Answers answers(parts, places, {.program = program_name(), .draw = draw});
  if (answers.runs().empty()) {
    say("aurora: note: there is no run yet; those that begin will appear\n");
  }
  return serve(arguments, answers);
}

}  // namespace

Command add_explore(Parser& program, const Parts& parts, const std::string& robot) {
  const auto arguments = std::make_shared<Arguments>();
  Grammar grammar = program.command(
      "explore", "Serve a page on which runs can be looked at, also while they go on");
  grammar.add("RUN", arguments->places,
              "Run directories, or folders of them (a study, say); runs unless said");
  grammar.add("--port", arguments->port,
              fmt::format("The port; 0 takes any that is free. {}, or the next one that is free, "
                          "unless said",
                          kUsualPort),
              {.value = "N", .most = 65'535});
  grammar.add("--host", arguments->host,
              "The address to listen on; 127.0.0.1 unless said, which only this machine reaches. "
              "Any other one needs a token",
              {.value = "ADDRESS"});
  grammar.add("--token", arguments->token,
              "What a browser must know to get in; with another --host, one is made and printed "
              "unless said",
              {.value = "TEXT"});
  grammar.add("--open", arguments->open, "Open the page in the browser");
  grammar.add("--export", arguments->out,
              "Serve nothing and write the page into this new folder instead, for a web server or "
              "to be opened as a file",
              {.value = "DIR"});
  grammar.add("--films", arguments->films,
              "Individuals of each run that are exported with pictures and a film: the most "
              "different ones; 50 unless said",
              {.value = "K", .most = 100'000});
  grammar.add("--worker", arguments->worker, "");
  grammar.hide("--worker");  // not for people
  grammar.footer(
      "Prints the page's address and serves it until Ctrl-C. Nothing is written, and runs that\n"
      "are going on notice nothing.\n\n"
      "Examples:\n"
      "  aurora explore runs/demo\n"
      "  aurora explore runs --port 0 --open\n"
      "  aurora explore runs/demo --export page --films 20");
  return {grammar, [arguments, &parts, &robot] { return act(*arguments, parts, robot); }};
}

}  // namespace aurora
