// Messages over MPI (OpenMPI): the one source that sees it.
//
// Blocking calls of OpenMPI spin, and wait for ever for somebody who is gone; so there are none but
// the first and the last.
#include <mpi.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <fstream>
#include <list>
#include <string>
#include <utility>

#include "aurora/core/errors.hpp"
#include "aurora/evaluation/evaluator.hpp"
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
  if (name != "mpirun" && name != "mpiexec" && name != "orterun" && name != "orted") return;
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
    check(MPI_Isend(one.bytes.data(), static_cast<int>(one.bytes.size()), MPI_BYTE, to, 0,
                    MPI_COMM_WORLD, &one.request),
          "send");
    idle();
  }

  std::optional<Message> receive() override {
    idle();
    for (;;) {
      int there = 0;
      MPI_Message handle{};
      MPI_Status status{};
      check(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &handle, &status),
            "listen");
      if (there == 0) break;
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      Receiving& one = receiving_.emplace_back();
      one.message.from = status.MPI_SOURCE;
      one.message.bytes.resize(static_cast<std::size_t>(count));
      check(MPI_Imrecv(one.message.bytes.data(), count, MPI_BYTE, &handle, &one.request),
            "receive");
    }
    return first_complete();
  }

  bool idle() override {
    for (auto one = sending_.begin(); one != sending_.end();) {
      int sent = 0;
      check(MPI_Test(&one->request, &sent, MPI_STATUS_IGNORE), "send");
      one = sent != 0 ? sending_.erase(one) : std::next(one);
    }
    return sending_.empty();
  }

  void close(double seconds) override {
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
    for (auto one = receiving_.begin(); one != receiving_.end(); ++one) {
      const auto from = static_cast<std::size_t>(one->message.from);
      if (waits[from]) continue;
      int arrived = 0;
      check(MPI_Test(&one->request, &arrived, MPI_STATUS_IGNORE), "receive");
      if (arrived == 0) {
        waits[from] = true;
        continue;
      }
      Message message = std::move(one->message);
      receiving_.erase(one);
      return message;
    }
    return std::nullopt;
  }

  int rank_ = 0;
  int size_ = 1;
  std::list<Sending> sending_;  // requests and bytes stay where they are
  std::list<Receiving> receiving_;
};

}  // namespace
}  // namespace aurora

extern "C" aurora::Transport* aurora_make_mpi_transport() {
  return new aurora::MpiTransport;
}
