// Messages over MPI (OpenMPI): the one source that sees it.
//
// Blocking calls of OpenMPI spin, and wait for ever for somebody who is gone; so there are none but
// the first and the last.
//
// OpenMPI 5 under `mpirun --with-ft ulfm` tells the others who is gone, as errors of their calls,
// and lets them go on (User-Level Failure Mitigation). Its two functions for that are looked up
// when it is there, so that what is built with OpenMPI 4.1 has them, too.
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <list>
#include <string>
#include <utility>

#include "aurora/core/errors.hpp"
#include "aurora/evaluation/evaluator.hpp"
#include "aurora/evaluation/mpi_launch.hpp"
#include "aurora/evaluation/transport.hpp"

namespace aurora {
namespace {

constexpr unsigned kAbortSeconds = 3;

void check(int result, const char* what) {
  if (result == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(result, text.data(), &length);
  throw Error(std::string("MPI cannot ") + what + ": " + text.data());
}

/// Should the call that follows never come back, the process ends.
void end_after(unsigned seconds) {
  struct sigaction action {};
  action.sa_handler = [](int) { _exit(kLostStatus); };
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, nullptr);
  alarm(seconds);
}

/// mpirun, and the daemons that it has on other machines, wait for ever for those that are cut off.
/// A process of its own ends the one that has started this rank, should it still be there in a
/// while.
void end_launcher_after(unsigned seconds) {
  const pid_t parent = getppid();
  std::ifstream file("/proc/" + std::to_string(parent) + "/comm");
  std::string name;
  std::getline(file, name);
  constexpr std::array kLaunchers = {"mpirun", "mpiexec", "orterun", "orted", "prterun", "prted"};
  if (std::ranges::find(kLaunchers, name) == kLaunchers.end()) return;
  const int launcher = static_cast<int>(syscall(SYS_pidfd_open, parent, 0));
  if (launcher < 0 || fork() != 0) return;
  setsid();  // the launcher ends the group of this rank
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    if (descriptor != launcher) ::close(descriptor);  // somebody reads them to their end
  }
  alarm(0);
  sleep(seconds);
  syscall(SYS_pidfd_send_signal, launcher, SIGKILL, nullptr, 0);
  _exit(0);
}

class MpiTransport final : public Transport {
 public:
  MpiTransport() {
    int begun = 0;
    MPI_Initialized(&begun);
    if (begun != 0) throw UsageError("MPI can be used by one run of a process alone");
    int level = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level), "begin");
    if (level < MPI_THREAD_FUNNELED) throw UsageError("this MPI knows of no threads");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    known_gone_.resize(static_cast<std::size_t>(size_));
    if (!mpi_launch().survives) return;
    acknowledge_ = reinterpret_cast<Acknowledge>(dlsym(RTLD_DEFAULT, "MPIX_Comm_failure_ack"));
    acknowledged_ =
        reinterpret_cast<Acknowledged>(dlsym(RTLD_DEFAULT, "MPIX_Comm_failure_get_acked"));
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::string host() const override {
    std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
    int length = 0;
    MPI_Get_processor_name(name.data(), &length);
    return name.data();
  }

  void send(int to, std::vector<std::byte> bytes) override {
    Sending& one = sending_.emplace_back();
    one.bytes = std::move(bytes);
    one.to = to;
    const int result = MPI_Isend(one.bytes.data(), static_cast<int>(one.bytes.size()), MPI_BYTE, to,
                                 0, MPI_COMM_WORLD, &one.request);
    if (!succeeds(result, to, "send")) sending_.pop_back();
    idle();
  }

  std::optional<Message> receive() override {
    idle();
    for (;;) {
      int there = 0;
      MPI_Message handle{};
      MPI_Status status{};
      const int result =
          MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &handle, &status);
      if (result != MPI_SUCCESS) {
        // Once we know who is gone, we can listen to the others again.
        if (!learn_who_is_gone()) check(result, "listen");
        continue;
      }
      if (there == 0) break;
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      Receiving& one = receiving_.emplace_back();
      one.message.from = status.MPI_SOURCE;
      one.message.bytes.resize(static_cast<std::size_t>(count));
      const int begun =
          MPI_Imrecv(one.message.bytes.data(), count, MPI_BYTE, &handle, &one.request);
      if (!succeeds(begun, status.MPI_SOURCE, "receive")) receiving_.pop_back();
    }
    return first_complete();
  }

  std::vector<int> gone() override { return std::exchange(newly_gone_, {}); }

  bool idle() override {
    for (auto one = sending_.begin(); one != sending_.end();) {
      int sent = 0;
      const int result = MPI_Test(&one->request, &sent, MPI_STATUS_IGNORE);
      const bool over = !succeeds(result, one->to, "send") || sent != 0;
      one = over ? sending_.erase(one) : std::next(one);
    }
    return sending_.empty();
  }

  void close(double seconds) override {
    if (survives()) return;  // MPI_Finalize may wait for ever for those who are gone
    end_after(static_cast<unsigned>(std::ceil(seconds)));
    MPI_Finalize();
    alarm(0);
  }

  void abort(int status) override {
    end_launcher_after(2 * kAbortSeconds);
    end_after(kAbortSeconds);
    MPI_Abort(MPI_COMM_WORLD, status);
    _exit(status);
  }

 private:
  struct Sending {
    std::vector<std::byte> bytes;
    int to = 0;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Receiving {
    Message message;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  /// Large messages arrive in pieces, perhaps later than small ones that were sent after them: of
  /// each sender, the first one goes first.
  std::optional<Message> first_complete() {
    std::vector<bool> waits(static_cast<std::size_t>(size_));
    for (auto one = receiving_.begin(); one != receiving_.end();) {
      const auto from = static_cast<std::size_t>(one->message.from);
      int arrived = 0;
      if (!waits[from]) {
        const int result = MPI_Test(&one->request, &arrived, MPI_STATUS_IGNORE);
        if (!succeeds(result, one->message.from, "receive")) {
          one = receiving_.erase(one);
          continue;
        }
      }
      if (arrived == 0) {
        waits[from] = true;
        ++one;
        continue;
      }
      Message message = std::move(one->message);
      receiving_.erase(one);
      return message;
    }
    return std::nullopt;
  }

  using Acknowledge = int (*)(MPI_Comm);
  using Acknowledged = int (*)(MPI_Comm, MPI_Group*);

  bool survives() const { return acknowledge_ != nullptr && acknowledged_ != nullptr; }

  /// Finds those who are gone; false if there is nobody new.
  bool learn_who_is_gone() {
    if (!survives()) return false;
    MPI_Group lost = MPI_GROUP_NULL;
    check(acknowledge_(MPI_COMM_WORLD), "say that a rank is missed");
    check(acknowledged_(MPI_COMM_WORLD, &lost), "say who is gone");
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    const std::size_t before = newly_gone_.size();
    for (int rank = 0; rank < size_; ++rank) {
      int place = MPI_UNDEFINED;
      MPI_Group_translate_ranks(all, 1, &rank, lost, &place);
      const auto index = static_cast<std::size_t>(rank);
      if (place == MPI_UNDEFINED || known_gone_[index]) continue;
      known_gone_[index] = true;
      newly_gone_.push_back(rank);
    }
    MPI_Group_free(&lost);
    MPI_Group_free(&all);
    return newly_gone_.size() > before;
  }

  /// Whether a call that has to do with a rank did what it should; false if that rank is gone.
  bool succeeds(int result, int rank, const char* what) {
    if (result == MPI_SUCCESS) return true;
    learn_who_is_gone();
    if (!known_gone_[static_cast<std::size_t>(rank)]) check(result, what);
    return false;
  }

  int rank_ = 0;
  int size_ = 1;
  Acknowledge acknowledge_ = nullptr;
  Acknowledged acknowledged_ = nullptr;
  std::vector<bool> known_gone_;  // by rank
  std::vector<int> newly_gone_;   // not told yet
  std::list<Sending> sending_;    // requests and bytes stay where they are
  std::list<Receiving> receiving_;
};

}  // namespace
}  // namespace aurora

extern "C" aurora::Transport* aurora_make_mpi_transport() {
  return new aurora::MpiTransport;
}
