// Replays in processes of their own: a task that hangs is ended, and one that crashes takes nobody
// with it. A process goes on to the next individual, for a task may take a while to make.
//
// The two talk through a socket: a length in 8 bytes, then as many bytes. A job is JSON; an answer
// is JSON with the names and lengths of files, behind its own length, and then the files.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "apps/aurora/explore/replays.hpp"

namespace aurora::explore {

/// Draws by processes that are started when there is none left: draw() may be called on several
/// threads, and ends in time.
class ReplayProcesses {
 public:
  /// `words` start a program that calls serve_replays() with its standard input.
  ReplayProcesses(std::vector<std::string> words, std::chrono::milliseconds limit);
  ~ReplayProcesses();

  /// What draw_here() would give. Error if the process is gone, or the time is over.
  Drawn draw(const ReplayJob& job);

 private:
  class Process;

  std::vector<std::string> words_;
  std::chrono::milliseconds limit_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Process>> idle_;
};

/// Draws for another process until it closes the socket.
void serve_replays(const Parts& parts, int socket);

/// The two ends of a message: a job in words, and back.
std::string job_text(const ReplayJob& job);
Drawn draw_job(const Parts& parts, const std::string& text);

}  // namespace aurora::explore
