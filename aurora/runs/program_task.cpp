#include "aurora/runs/program_task.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "aurora/core/errors.hpp"
#include "aurora/storage/files.hpp"
#include "aurora/storage/internal/json.hpp"
#include "aurora/storage/npy.hpp"

namespace aurora {
namespace {

constexpr std::size_t kShortLine = std::size_t{1} << 16;  // characters, beside the sensory data
constexpr std::size_t kNumber = 64;                       // characters of a number at most
constexpr std::size_t kNpyMagic = 10;                     // bytes in front of a header's text
constexpr std::chrono::seconds kPatience{60};             // for what it says first
constexpr std::chrono::seconds kGrace{2};                 // until a program that shall end is ended
constexpr std::chrono::milliseconds kPeriod{10};

/// The program has ended, or closed its output.
class Ended : public Error {
 public:
  using Error::Error;
};

/// It says itself that an evaluation has failed.
class Refused : public Error {
 public:
  using Error::Error;
};

std::string reason(int error) {
  return std::generic_category().message(error);
}

std::string status_text(int status) {
  constexpr int kSignal = 128;  // what a shell adds to the signal that has ended its command
  const int code = WIFSIGNALED(status) ? kSignal + WTERMSIG(status) : WEXITSTATUS(status);
  return code > kSignal ? fmt::format("was ended by signal {}", code - kSignal)
                        : fmt::format("ended with status {}", code);
}

/// One running program.
class Program {
 public:
  explicit Program(const std::string& command) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    // A socket, for a write to one that nobody reads any more can be told to raise no signal.
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in.data()) != 0) fail(command, errno);
    in_ = FileHandle(in[0]);
    const FileHandle their_in(in[1]);
    if (::pipe2(out.data(), O_CLOEXEC) != 0) fail(command, errno);
    out_ = FileHandle(out[0]);
    const FileHandle their_out(out[1]);

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, their_in.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, their_out.get(), STDOUT_FILENO);
    // A group of its own: Control-C is for us, who finish the iteration and need the program for
    // it; and what the shell has started ends with it.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    std::string shell = "sh";
    std::string flag = "-c";
    std::string text = command;
    std::array<char*, 4> words = {shell.data(), flag.data(), text.data(), nullptr};
    const int error =
        ::posix_spawn(&process_, "/bin/sh", &files, &attributes, words.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) fail(command, error);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// The end of its input tells it to end; one that does not is ended.
  ~Program() {
    in_ = FileHandle();
    const auto until = std::chrono::steady_clock::now() + kGrace;
    while (!ended() && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(kPeriod);
    }
    ::kill(-process_, SIGKILL);  // all that is left of the group
    while (!status_ && ::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  void write_line(const std::string& line) {
    std::string_view rest = line;
    while (!rest.empty()) {
      const ssize_t sent = ::send(in_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) throw Ended(how_it_ended());
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  /// What it says first. DataError if it keeps us waiting.
  std::string read_description() {
    pollfd waited{out_.get(), POLLIN, 0};
    int ready = 0;
    do {
      ready = ::poll(&waited, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count()));
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) {
      throw DataError(
          fmt::format("the program has said nothing for {} s; when it starts it must print a line "
                      "that describes it, and flush its output",
                      kPatience.count()));
    }
    return read_line(kShortLine);
  }

  /// The next line; DataError if it has more than `most` characters.
  std::string read_line(std::size_t most) {
    std::size_t looked = 0;
    for (;;) {
      const std::size_t end = unread_.find('\n', looked);
      if (end <= most) {
        std::string line = unread_.substr(0, end);
        unread_.erase(0, end + 1);
        return line;
      }
      looked = unread_.size();
      if (end != std::string::npos || looked > most) {
        throw DataError(fmt::format("the program says a line of more than {} characters", most));
      }
      read_more();
    }
  }

  void read_bytes(std::span<std::byte> bytes) {
    while (unread_.size() < bytes.size()) read_more();
    std::memcpy(bytes.data(), unread_.data(), bytes.size());
    unread_.erase(0, bytes.size());
  }

 private:
  [[noreturn]] static void fail(const std::string& command, int error) {
    throw UsageError(fmt::format("cannot start '{}': {}", command, reason(error)));
  }

  void read_more() {
    std::array<char, std::size_t{1} << 16> piece;
    const ssize_t got = ::read(out_.get(), piece.data(), piece.size());
    if (got > 0) unread_.append(piece.data(), static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) throw Ended(how_it_ended());
  }

  bool ended() {
    int status = 0;
    if (!status_ && ::waitpid(process_, &status, WNOHANG) == process_) status_ = status;
    return status_.has_value();
  }

  /// Its output is at an end, so it is about to be, too.
  std::string how_it_ended() {
    for (int i = 0; i < 50 && !ended(); ++i) std::this_thread::sleep_for(kPeriod);
    return "the program " + (ended() ? status_text(*status_) : std::string("closed its output"));
  }

  pid_t process_ = -1;
  std::optional<int> status_;
  FileHandle in_;
  FileHandle out_;
  std::string unread_;
};

Json parse(const std::string& line) {
  Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) {
    throw DataError(fmt::format("the program says '{}', which is no JSON", line.substr(0, 80)));
  }
  return json;
}

/// One bound or number; `null` is one that is not finite.
float number_of(const Json& json, const char* what) {
  if (json.is_null()) return std::numeric_limits<float>::quiet_NaN();
  if (!json.is_number()) throw DataError(fmt::format("{} is not made of numbers alone", what));
  return json.get<float>();
}

Axis axis_of(const std::string& name, const Json& bounds) {
  const bool two = bounds.is_array() && (bounds.size() == 2 || bounds.size() == 3) &&
                   bounds[0].is_number() && bounds[1].is_number();
  if (!two || (bounds.size() == 3 && !bounds[2].is_string())) {
    throw DataError(
        fmt::format("an axis of the ground truth is {{\"NAME\": [LOWER, UPPER]}} or {{\"NAME\": "
                    "[LOWER, UPPER, \"UNIT\"]}}, and '{}' is not",
                    name));
  }
  return {name, bounds[0].get<double>(), bounds[1].get<double>(),
          bounds.size() == 3 ? bounds[2].get<std::string>() : ""};
}

TaskSpec spec_of(const std::string& line) {
  const Json json = parse(line);
  const JsonObject said(json, "what the program says of itself");
  TaskSpec spec;
  spec.name = said.text("task");
  spec.genotype_size = said.whole("genes");
  spec.sensory.extents = said.whole_numbers("sensory");
  const std::string type = said.has("type") ? said.text("type") : "float32";
  if (type != "float32" && type != "uint8") said.wrong("type", "\"float32\" or \"uint8\"");
  spec.sensory.element = type == "uint8" ? ElementType::uint8 : ElementType::float32;
  const Json& truth = said.at("ground_truth");
  if (!truth.is_object()) said.wrong("ground_truth", "{\"NAME\": [LOWER, UPPER], ...}");
  for (const auto& [name, bounds] : truth.items()) {
    spec.ground_truth.push_back(axis_of(name, bounds));
  }
  spec.worst_fitness = said.number("worst_fitness");
  if (said.has("hand_coded_size")) spec.hand_coded_size = said.whole("hand_coded_size");
  if (said.has("title")) spec.title = said.text("title");
  if (said.has("version")) spec.version = said.whole("version");
  spec.metrics = said.text_list("metrics");
  spec.defaults = said.text_list("defaults");
  const std::vector<std::string> known = {
      "task",  "genes",   "sensory", "type",    "ground_truth", "worst_fitness", "hand_coded_size",
      "title", "version", "metrics", "defaults"};
  for (const auto& [key, value] : json.items()) {
    if (std::ranges::find(known, key) == known.end()) throw_unknown("key", key, known);
  }
  check(spec);
  return spec;
}

class ProgramTask final : public Task {
 public:
  explicit ProgramTask(const std::string& command) : command_(command) {
    try {
      auto first = std::make_unique<Program>(command_);
      description_ = first->read_description();
      spec_ = spec_of(description_);
      idle_.push_back(std::move(first));
    } catch (const Error& error) {
      throw UsageError(fmt::format("'{}' is no task: {}", command_, error.what()));
    }
  }

  const TaskSpec& spec() const override { return spec_; }

  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override {
    std::unique_ptr<Program> program = take();
    try {
      for (std::size_t row = 0; row < genotypes.rows(); ++row) {
        try {
          ask(*program, genotypes.row(row), out, row);
        } catch (const Ended&) {  // perhaps of something before this genotype
          program = start();
          ask(*program, genotypes.row(row), out, row);
        }
      }
    } catch (const Refused&) {
      give_back(std::move(program));
      throw;
    }
    give_back(std::move(program));
  }

 private:
  /// One that nobody uses. One that talks nonsense, or nothing any more, is not given back.
  std::unique_ptr<Program> take() const {
    {
      const std::scoped_lock lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Program> program = std::move(idle_.back());
        idle_.pop_back();
        return program;
      }
    }
    return start();
  }

  void give_back(std::unique_ptr<Program> program) const {
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(program));
  }

  std::unique_ptr<Program> start() const {
    auto program = std::make_unique<Program>(command_);
    if (program->read_description() != description_) {
      throw DataError("the program describes itself otherwise than when it was first started");
    }
    return program;
  }

  void ask(Program& program, std::span<const float> genes, const EvaluationView& out,
           std::size_t row) const {
    // As doubles: who reads them as such gets what a task in C++ gets, to the bit.
    const std::vector<double> numbers(genes.begin(), genes.end());
    program.write_line(fmt::format("{}\n", fmt::join(numbers, " ")));
    const Json json = parse(program.read_line(kShortLine + kNumber * spec_.sensory.size()));
    const JsonObject said(json, "what the program says of a genotype");
    if (said.has("error")) throw Refused(said.text("error"));
    out.fitness[row] = number_of(said.at("fitness"), "the fitness");
    read_truth(said.at("ground_truth"), out.ground_truth.row(row));
    const Json& sensory = said.at("sensory");
    if (sensory == "npy") {
      read_npy(program, out.sensory.bytes(row));
    } else if (spec_.sensory.element == ElementType::uint8) {
      read_sensory<std::uint8_t>(sensory, out.sensory.row<std::uint8_t>(row));
    } else {
      read_sensory<float>(sensory, out.sensory.row<float>(row));
    }
  }

  void read_truth(const Json& json, std::span<float> truth) const {
    const bool by_name = json.is_object();
    if ((!by_name && !json.is_array()) || json.size() != truth.size()) {
      throw DataError(fmt::format("the ground truth should be {} numbers", truth.size()));
    }
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const std::string& name = spec_.ground_truth[i].name;
      if (by_name && !json.contains(name)) {
        throw DataError(fmt::format("there is no '{}' in the ground truth", name));
      }
      truth[i] = number_of(by_name ? json[name] : json[i], "the ground truth");
    }
  }

  template <class T>
  void read_sensory(const Json& json, std::span<T> values) const {
    std::size_t count = 0;
    const auto put = [&](const Json& value) {
      if (count < values.size()) {
        if constexpr (std::is_same_v<T, std::uint8_t>) {
          if (!value.is_number_integer() || value.get<double>() < 0 || value.get<double>() > 255) {
            throw DataError("sensory data of type uint8 is whole numbers from 0 to 255");
          }
          values[count] = value.get<T>();
        } else {
          values[count] = number_of(value, "the sensory data");
        }
      }
      ++count;
    };
    visit(json, 0, put);
    if (count != values.size()) throw_other_shape(spec_.sensory, count, spec_.sensory.element);
  }

  /// Every number of lists in lists, however they are nested: what counts is their order.
  template <class Put>
  void visit(const Json& json, std::size_t depth, const Put& put) const {
    if (!json.is_array()) return put(json);
    if (depth > spec_.sensory.extents.size()) {
      throw DataError(fmt::format("the sensory data should be {}", describe(spec_.sensory)));
    }
    for (const Json& item : json) visit(item, depth + 1, put);
  }

  /// An array as numpy.save writes it, behind the line.
  void read_npy(Program& program, std::span<std::byte> row) const {
    std::array<std::byte, kNpyMagic> magic{};
    program.read_bytes(magic);
    if (std::memcmp(magic.data(), "\x93NUMPY\x01\x00", 8) != 0) {
      throw DataError("what follows \"sensory\": \"npy\" is no array in numpy's format 1.0");
    }
    const auto low = std::to_integer<std::size_t>(magic[8]);
    const auto high = std::to_integer<std::size_t>(magic[9]);
    std::string text(low | high << 8, '\0');
    program.read_bytes(std::as_writable_bytes(std::span(text)));
    const NpyHeader header = parse_npy_dictionary(text);
    const bool bytes = spec_.sensory.element == ElementType::uint8;
    const ElementType type =
        header.type == NpyType::uint8 ? ElementType::uint8 : ElementType::float32;
    if (header.shape != spec_.sensory.extents ||
        header.type != (bytes ? NpyType::uint8 : NpyType::float32)) {
      throw_other_shape(spec_.sensory, header.count(), type);
    }
    program.read_bytes(row);
  }

  std::string command_;
  std::string description_;
  TaskSpec spec_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Program>> idle_;
};

/// The same task for everybody who makes it.
class SharedTask final : public Task {
 public:
  explicit SharedTask(std::shared_ptr<const Task> task) : task_(std::move(task)) {}
  const TaskSpec& spec() const override { return task_->spec(); }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override {
    task_->evaluate(genotypes, out);
  }

 private:
  std::shared_ptr<const Task> task_;
};

}  // namespace

TaskEntry program_task(const std::string& command) {
  // It is known what it is called only when it has been started.
  const auto task = std::make_shared<ProgramTask>(command);
  return part<NoOptions>(task->spec().name, "the program " + command)
      .made_by(
          [task](const NoOptions&, TaskContext&) { return std::make_unique<SharedTask>(task); });
}

}  // namespace aurora
