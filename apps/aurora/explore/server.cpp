// The only file that sees cpp-httplib: sockets, threads and headers.
#include "apps/aurora/explore/server.hpp"

#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>

namespace aurora::explore {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kConnections = 128;  // at a time; further ones wait
constexpr int kBacklog = 512;
constexpr std::size_t kLongestRequest = 32 * 1024;  // bytes, with all its headers
constexpr milliseconds kRequestTime{5'000};         // to say all of it
constexpr milliseconds kWriteTime{10'000};          // in which some of an answer must be taken
constexpr milliseconds kIdleTime{5'000};            // between two requests
constexpr milliseconds kGlance{100};                // between two looks at whether the server ends
constexpr int kRequestsPerConnection = 1'000;

/// A thread for each connection, for a limited number of them: a browser keeps several open and may
/// be slow, and nobody shall wait for it. Who comes when all are taken waits at the door.
class Connections : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> serve) override {
    std::unique_lock lock(mutex_);
    left_.wait(lock, [&] { return open_ < kConnections; });
    ++open_;
    lock.unlock();
    const auto to_its_end = [this, serve = std::move(serve)] {
      serve();
      const std::scoped_lock end(mutex_);
      --open_;
      left_.notify_all();  // under the lock: afterwards this object may be gone
    };
    try {
      std::thread(to_its_end).detach();
    } catch (const std::system_error&) {
      to_its_end();  // no thread to be had: then the others wait
    }
  }
  void shutdown() override {
    std::unique_lock lock(mutex_);
    left_.wait(lock, [&] { return open_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable left_;
  std::size_t open_ = 0;
};

bool ready(int socket, short what, milliseconds patience) {
  pollfd one{socket, what, 0};
  return ::poll(&one, 1, static_cast<int>(std::max<std::int64_t>(patience.count(), 0))) > 0;
}

/// A connection that says only so much, and takes only so long to say it: the library itself would
/// read headers without end.
class BoundedStream : public httplib::Stream {
 public:
  explicit BoundedStream(int socket) : socket_(socket) {}

  /// What follows is another request.
  void begin() {
    left_ = kLongestRequest;
    deadline_ = Clock::now() + kRequestTime;
  }
  /// Whether there is something of it within `patience`.
  bool waits(milliseconds patience) const {
    return at_ < filled_ || ready(socket_, POLLIN, patience);
  }

  bool is_readable() const override { return waits(time_left()); }
  bool is_writable() const override { return ready(socket_, POLLOUT, kWriteTime); }
  ssize_t read(char* out, size_t size) override {
    if (at_ == filled_ && !fill()) return -1;
    const std::size_t count = std::min({size, filled_ - at_, left_});
    if (count == 0) return -1;
    std::memcpy(out, buffer_.data() + at_, count);
    at_ += count;
    left_ -= count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* bytes, size_t size) override {
    return is_writable() ? ::send(socket_, bytes, size, MSG_NOSIGNAL) : -1;
  }
  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  socket_t socket() const override { return socket_; }

 private:
  milliseconds time_left() const {
    return std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now());
  }
  bool fill() {
    if (!ready(socket_, POLLIN, time_left())) return false;
    const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
    at_ = 0;
    filled_ = got > 0 ? static_cast<std::size_t>(got) : 0;
    return got > 0;
  }

  int socket_;
  std::array<char, 4096> buffer_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  std::size_t left_ = 0;  // bytes of this request that may still come
  Clock::time_point deadline_;
};

/// Headers of every answer: the page loads nothing from elsewhere, and nobody else frames, caches
/// or guesses anything.
httplib::Headers usual_headers() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
           "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"X-Frame-Options", "DENY"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"}};
}

Request request_of(const httplib::Request& from) {
  Request request{from.method,
                  from.target,
                  {},
                  from.get_header_value("Authorization"),
                  from.get_header_value("Cookie"),
                  from.get_header_value("If-None-Match")};
  const auto [begin, end] = from.headers.equal_range("Host");
  for (auto host = begin; host != end; ++host) request.hosts.push_back(host->second);
  return request;
}

/// The library's server on streams of ours.
class BoundedServer : public httplib::Server {
  bool process_and_close_socket(socket_t socket) override {
    BoundedStream stream(socket);
    bool closed = false;
    bool clean = true;
    const auto look = [&](httplib::Request& request) {
      // It would cut an answer into pieces as often as it is told to; the answer is all of it.
      request.ranges.clear();
      // A body is not read, and would be taken for the next request.
      clean = request.method == "GET" && !request.has_header("Content-Length") &&
              !request.has_header("Transfer-Encoding");
    };
    for (int left = kRequestsPerConnection; left > 0 && !closed && clean && waits(stream); --left) {
      stream.begin();
      if (!process_request(stream, left == 1, closed, look)) break;
    }
    ::shutdown(socket, SHUT_RDWR);
    ::close(socket);
    return true;
  }

  bool waits(const BoundedStream& stream) const {
    const Clock::time_point end = Clock::now() + kIdleTime;
    while (is_running() && Clock::now() < end) {
      if (stream.waits(kGlance)) return true;
    }
    return false;
  }
};

class HttpServer : public Server {
 public:
  explicit HttpServer(Respond respond) : respond_(std::move(respond)) {
    server_.new_task_queue = [] { return new Connections; };
    server_.set_default_headers(usual_headers());
    server_.set_keep_alive_timeout(std::chrono::duration_cast<seconds>(kIdleTime).count());
    server_.set_keep_alive_max_count(kRequestsPerConnection);
    server_.set_payload_max_length(0);
    server_.set_tcp_nodelay(true);
    server_.set_socket_options([this](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
      listening_ = socket;
    });
    // Before anything else of the library: no routes, no files, no bodies.
    server_.set_pre_routing_handler([this](const httplib::Request& in, httplib::Response& out) {
      answer(in, out);
      return httplib::Server::HandlerResponse::Handled;
    });
  }

  int bind(const std::string& host, int port) override {
    const int got =
        port == 0 ? server_.bind_to_any_port(host) : (server_.bind_to_port(host, port) ? port : 0);
    // The library lets five wait at the door, which is not many.
    if (got > 0) ::listen(listening_, kBacklog);
    return got > 0 ? got : 0;
  }
  void serve() override { server_.listen_after_bind(); }
  void stop() override { server_.stop(); }

 private:
  void answer(const httplib::Request& in, httplib::Response& out) {
    const Answer answer = respond_(request_of(in));
    out.status = answer.status;
    for (const auto& [name, value] : answer.headers) out.set_header(name, value);
    if (!answer.etag.empty()) out.set_header("ETag", answer.etag);
    // The page's own files are asked for again, but need not be sent again.
    out.set_header("Cache-Control",
                   in.target.starts_with("/api/") ? "no-store" : "no-cache, private");
    if (in.method != "GET") out.set_header("Connection", "close");
    if (!answer.body || answer.body->empty()) return;
    const auto& body = answer.body;
    out.set_content_provider(body->size(), answer.type,
                             [body](std::size_t at, std::size_t length, httplib::DataSink& sink) {
                               return sink.write(body->data() + at, length);
                             });
  }

  Respond respond_;
  BoundedServer server_;
  socket_t listening_ = -1;
};

}  // namespace
}  // namespace aurora::explore

extern "C" aurora::explore::Server* aurora_make_server(aurora::explore::Server::Respond* respond) {
  return new aurora::explore::HttpServer(std::move(*respond));
}
