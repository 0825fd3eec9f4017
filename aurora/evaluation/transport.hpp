// Messages between the processes of one run. MPI is behind it (mpi_transport.cpp, a plugin), or, in
// tests and models, nothing but memory.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace aurora {

struct Message {
  int from = 0;
  std::vector<std::byte> bytes;
};

/// All calls come from one thread, which is also the one that makes it. None of send() and
/// receive() waits. Errors of the network are thrown as Error.
class Transport {
 public:
  virtual ~Transport() = default;
  /// 0 leads.
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string host() const = 0;

  /// Messages from one process to another arrive in their order.
  virtual void send(int to, std::vector<std::byte> bytes) = 0;
  /// One that has arrived.
  virtual std::optional<Message> receive() = 0;
  /// Those who are gone, each told once, if the network knows and the others can go on; what is
  /// sent to them from then on is lost, too.
  virtual std::vector<int> gone() { return {}; }
  /// Whether all that was sent is out of our hands.
  virtual bool idle() = 0;
  /// The orderly end, of all together; should the others not come, the process ends after so many
  /// seconds.
  virtual void close(double seconds) = 0;
  /// Ends the processes of the run, this one too, as far as they can be reached.
  virtual void abort(int status) = 0;
};

using Connect = std::function<std::unique_ptr<Transport>()>;

}  // namespace aurora
