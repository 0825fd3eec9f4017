// The server over real sockets: what a browser, a bad program and a crowd get to see.
#include "apps/aurora/explore/server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "apps/aurora/explore/page.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"
#include "explore_fixture.hpp"

namespace aurora::explore {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr const char* kSecret = "nobody may read this";

/// A connection; -1 if there is none to be had.
class Connection {
 public:
  explicit Connection(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ =
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~Connection() { ::close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool connected() const { return connected_; }
  void send(const std::string& bytes) const {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t got = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (got <= 0) return;
      sent += static_cast<std::size_t>(got);
    }
  }
  void end() const { ::shutdown(socket_, SHUT_WR); }
  std::string receive() const {
    std::string all;
    std::array<char, 16'384> piece;
    while (const std::size_t got = receive_some(piece)) all.append(piece.data(), got);
    return all;
  }
  /// 0 if nothing more comes.
  std::size_t receive_some(std::span<char> into) const {
    return static_cast<std::size_t>(
        std::max<ssize_t>(::recv(socket_, into.data(), into.size(), 0), 0));
  }

 private:
  int socket_;
  bool connected_ = false;
};

/// All that comes back to some bytes.
std::string converse(int port, const std::string& bytes) {
  const Connection connection(port);
  connection.send(bytes);
  connection.end();
  return connection.receive();
}

std::string get(const std::string& target, const std::string& more = "",
                const std::string& host = "localhost") {
  return "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + more +
         "\r\n";
}

class Serving : public ExploreFixture {
 protected:
  Serving() {
    make_run("runs/a");
    make_run("runs/b", "hc-csc-uniform");
    write(root_ / "secret.txt", kSecret);
    answers_ = std::make_unique<Answers>(parts_, std::vector<fs::path>{root_ / "runs"});
    server_ =
        make_server([this](const Request& request) { return answers_->respond(request, door_); });
    port_ = server_->bind("127.0.0.1", 0);
    EXPECT_GT(port_, 0);
    thread_ = std::thread([this] { server_->serve(); });
  }
  ~Serving() override {
    server_->stop();
    thread_.join();
  }

  std::string ask(const std::string& bytes) const { return converse(port_, bytes); }
  static std::string body(const std::string& answer) {
    const std::size_t end = answer.find("\r\n\r\n");
    return end == std::string::npos ? "" : answer.substr(end + 4);
  }

  Door door_;
  std::unique_ptr<Answers> answers_;
  std::unique_ptr<Server> server_;
  int port_ = 0;
  std::thread thread_;
};

TEST_F(Serving, SendsWhatTheAnswersAre) {
  const std::string page = ask(get("/"));
  EXPECT_TRUE(page.starts_with("HTTP/1.1 200 OK\r\n")) << page.substr(0, 100);
  EXPECT_EQ(body(page), *ExploreFixture::ask(*answers_, "/").body);
  EXPECT_EQ(body(ask(get("/api/runs/0/container"))),
            *ExploreFixture::ask(*answers_, "/api/runs/0/container").body);
  for (const char* header :
       {"Content-Type: text/html; charset=utf-8\r\n", "X-Content-Type-Options: nosniff\r\n",
        "Referrer-Policy: no-referrer\r\n", "default-src 'none'; script-src 'self';",
        "frame-ancestors 'none'", "Cache-Control: no-cache, private\r\n",
        "Cross-Origin-Resource-Policy: same-origin\r\n"}) {
    EXPECT_NE(page.find(header), std::string::npos) << header;
  }
  EXPECT_EQ(page.find("unsafe"), std::string::npos);
  EXPECT_NE(ask(get("/api/runs")).find("Cache-Control: no-store\r\n"), std::string::npos);
  const std::string etag = ExploreFixture::ask(*answers_, "/api/runs/0/container").etag;
  const std::string same = ask(get("/api/runs/0/container", "If-None-Match: " + etag + "\r\n"));
  EXPECT_TRUE(same.starts_with("HTTP/1.1 304 ")) << same.substr(0, 100);
  EXPECT_EQ(body(same), "");
}

TEST_F(Serving, ServesSeveralRequestsOfAConnection) {
  const Connection connection(port_);
  const std::string first = "GET /api/runs HTTP/1.1\r\nHost: localhost\r\n\r\n";
  connection.send(first + first + get("/api/runs"));
  const std::string all = connection.receive();
  std::size_t count = 0;
  for (std::size_t at = all.find("HTTP/1.1 200"); at != std::string::npos;
       at = all.find("HTTP/1.1 200", at + 1)) {
    ++count;
  }
  EXPECT_EQ(count, 3u);
}

TEST_F(Serving, RefusesWhatIsNoneOfItsBusiness) {
  const auto status = [&](const std::string& bytes) { return ask(bytes).substr(9, 3); };
  EXPECT_EQ(status(get("/", "", "evil.example")), "403");
  EXPECT_EQ(status(get("/", "Host: evil.example\r\n")), "400");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nConnection: close\r\n\r\n"), "400");
  EXPECT_EQ(status(get("/../secret.txt")), "404");
  EXPECT_EQ(status(get("/..%2f..%2fsecret.txt")), "404");
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"}) {
    EXPECT_EQ(status(std::string(method) + " / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "405")
        << method;
  }
  // A body is not read, and not taken for another request.
  const std::string smuggled = get("/api/runs");
  const std::string answer = ask("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                                 std::to_string(smuggled.size()) + "\r\n\r\n" + smuggled);
  EXPECT_EQ(answer.find("\"runs\""), std::string::npos);
  // Nobody gets pieces, or the same piece a thousand times.
  EXPECT_EQ(status(get("/api/runs", "Range: bytes=0-0\r\n")), "200");
  std::string ranges = "Range: bytes=0-";
  for (int i = 0; i < 500; ++i) ranges += ",0-";
  EXPECT_LT(ask(get("/", ranges + "\r\n")).size(),
            2 * ExploreFixture::ask(*answers_, "/").body->size() + 2000);
}

TEST_F(Serving, HeadersWithoutEndAreNotRead) {
  const Connection connection(port_);
  connection.send("GET / HTTP/1.1\r\nHost: localhost\r\n");
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "X-" + std::to_string(i) + ": something or other\r\n";
  connection.send(many);
  connection.send("\r\n");
  EXPECT_EQ(connection.receive().find("HTTP/1.1 200"), std::string::npos);
}

TEST_F(Serving, WithATokenNobodyElseGetsIn) {
  door_.token = "secret12";
  door_.cookie = "aurora_1";
  EXPECT_EQ(ask(get("/")).substr(9, 3), "401");
  const std::string first = ask(get("/?token=secret12"));
  EXPECT_EQ(first.substr(9, 3), "303");
  EXPECT_NE(first.find("Set-Cookie: aurora_1=secret12; Path=/; HttpOnly; SameSite=Strict\r\n"),
            std::string::npos);
  EXPECT_EQ(ask(get("/", "Cookie: aurora_1=secret12\r\n")).substr(9, 3), "200");
  door_.token.clear();
}

/// The number of descriptors that are open, and the memory in use.
std::size_t descriptors() {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}
std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Something that a program might send: half of it makes some sense.
std::string random_request(Stream& stream) {
  const auto pick = [&](const std::vector<std::string>& all) {
    return all[stream.below(all.size())];
  };
  const auto garbage = [&](std::uint64_t most) {
    std::string bytes;
    for (std::uint64_t n = stream.below(most); n > 0; --n) {
      bytes += static_cast<char>(stream.below(256));
    }
    return bytes;
  };
  const std::string number = pick({"0", "1", "2", "7", "19", "99999999999", "-1", "x", ""});
  const std::string place = pick({"0", "1", "1", "0", "5", "../..", "%2e%2e"});
  const std::string target = pick({"/",
                                   "/style.css",
                                   "/main.js",
                                   "/api/runs",
                                   "/api/runs/" + place,
                                   "/api/runs/" + place + "/container",
                                   "/api/runs/" + place + "/container?at=10",
                                   "/api/runs/" + place + "/metrics?from=" + number,
                                   "/api/runs/" + place + "/training",
                                   "/api/runs/" + place + "/individual?id=" + number,
                                   "/api/runs/" + place + "/picture?id=" + number,
                                   "/api/runs/" + place + "/film?kind=gif&id=" + number,
                                   "/api/runs/" + place + "/novelty?at=" + number,
                                   "/api/runs/" + place + "/backdrop",
                                   "/../secret.txt",
                                   "/..%2f..%2fsecret.txt",
                                   "/%2e%2e/%2e%2e/secret.txt",
                                   "//etc/passwd",
                                   "/etc/passwd",
                                   "/" + garbage(40),
                                   "/" + std::string(stream.below(10'000), 'a')});
  switch (stream.below(10)) {
    case 0:
      return garbage(300);
    case 1:
      return pick({"POST ", "HEAD ", "TRACE ", "\r\n", "GET  ", "get "}) + target +
             " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n" + garbage(200);
    case 2: {
      std::string whole = get(target);
      whole.resize(stream.below(whole.size() + 1));  // cut short
      return whole;
    }
    case 3:
      return get(target, garbage(60) + "\r\nX: " + std::string(stream.below(12'000), 'x') + "\r\n");
    case 4:
      return get(target, "", pick({"evil.example", "", "localhost\x01", garbage(10)}));
    default:
      return get(target);
  }
}

TEST_F(Serving, ACrowdThatSendsAnythingChangesNothing) {
  constexpr int kCrowd = 200;
  constexpr int kEach = 50;
  const auto crowd = [&](std::uint32_t seed) {
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < kCrowd; ++i) {
      threads.emplace_back([&, i] {
        Stream stream(seed, Purpose::user, i);
        for (int n = 0; n < kEach / 2; ++n) {
          const std::string answer = ask(random_request(stream));
          EXPECT_EQ(answer.find(kSecret), std::string::npos);
          EXPECT_EQ(answer.find("root:x:0"), std::string::npos);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  };
  crowd(1);
  const std::size_t open = descriptors();
  const std::size_t before = resident_bytes();
  crowd(2);
  for (int i = 0; i < 200 && descriptors() > open; ++i) {
    std::this_thread::sleep_for(milliseconds(50));  // the last ones are being closed
  }
  EXPECT_LE(descriptors(), open);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which keep what is freed
  EXPECT_LT(resident_bytes(), before + (std::size_t{64} << 20));
#else
  EXPECT_GT(before, 0u);
#endif
  EXPECT_EQ(ask(get("/api/runs")).substr(9, 3), "200");
}

/// Sends requests one after the other through connections that serve a thousand each.
void ask_often(int port, const std::vector<std::string>& targets, std::size_t times) {
  constexpr std::size_t kEach = 500;
  for (std::size_t done = 0; done < times; done += kEach) {
    std::string all;
    for (std::size_t i = 0; i + 1 < kEach; ++i) {
      all += "GET " + targets[i % targets.size()] + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    }
    all += get(targets.back());
    const Connection connection(port);
    std::thread sender([&] { connection.send(all); });
    std::array<char, 65'536> piece;
    std::size_t bytes = 0;
    while (const std::size_t got = connection.receive_some(piece)) bytes += got;
    sender.join();
    ASSERT_GT(bytes, 100 * kEach);  // an answer has more than that in headers alone
  }
}

TEST_F(Serving, TensOfThousandsOfRequestsTakeNoMemory) {
  // A run that changes all the time, as a page that is left open sees it.
  answers_ = std::make_unique<Answers>(parts_, std::vector<fs::path>{root_ / "runs"},
                                       Answers::Options{.container_bytes = 1 << 18});
  const fs::path manifest = root_ / "runs" / "a" / "container" / "manifest.json";
  const std::string text = content(manifest);
  const std::vector<std::string> targets = {"/api/runs",
                                            "/api/runs/0",
                                            "/api/runs/0/container",
                                            "/api/runs/0/novelty",
                                            "/api/runs/0/metrics",
                                            "/api/runs/0/training",
                                            "/api/runs",
                                            "/api/runs/1/container",
                                            "/api/runs/0/container?at=10",
                                            "/main.js",
                                            "/api/runs/0/backdrop",
                                            "/nothing"};
  const auto look_on = [&](std::size_t times) {
    for (std::size_t done = 0; done < times; done += 500) {
      write(manifest, text);  // the same again, and newer
      ask_often(port_, targets, 500);
    }
  };
  look_on(4'000);
  const std::size_t open = descriptors();
  const std::size_t before = resident_bytes();
  look_on(20'000);
  EXPECT_LE(descriptors(), open + 2);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which keep what is freed
  EXPECT_LT(resident_bytes(), before + (std::size_t{4} << 20));
#else
  EXPECT_GT(before, 0u);
#endif
}

TEST_F(Serving, WhoSaysNothingKeepsNobodyFromBeingServed) {
  std::vector<std::unique_ptr<Connection>> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(std::make_unique<Connection>(port_));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(ask(get("/api/runs")).substr(9, 3), "200");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
}

TEST(Port, IsTakenByOneAlone) {
  const auto one = make_server([](const Request&) { return Answer(); });
  const auto two = make_server([](const Request&) { return Answer(); });
  const int port = one->bind("127.0.0.1", 0);
  ASSERT_GT(port, 0);
  EXPECT_EQ(two->bind("127.0.0.1", port), 0);
}

/// The program itself, which is ended with the test.
class Program {
 public:
  explicit Program(const std::vector<std::string>& words) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(ends[1], 1);
      ::close(ends[0]);
      std::vector<char*> argv = {const_cast<char*>("aurora"), const_cast<char*>("explore")};
      for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
      argv.push_back(nullptr);
      ::execv(AURORA_PROGRAM, argv.data());
      ::_exit(99);
    }
    ::close(ends[1]);
    out_ = ::fdopen(ends[0], "r");
  }
  ~Program() {
    if (process_ > 0) end(SIGKILL);
    std::fclose(out_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  std::string line() {
    std::array<char, 1000> text{};
    return std::fgets(text.data(), text.size(), out_) ? text.data() : "";
  }
  /// The exit status, or 1000 + the signal that ended it; with a signal if one is given.
  int end(int signal = 0) {
    if (signal != 0) ::kill(process_, signal);
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

 private:
  pid_t process_ = -1;
  std::FILE* out_ = nullptr;
};

class ExploreProgram : public ExploreFixture {};

TEST_F(ExploreProgram, PrintsItsAddressAndEndsAtOnce) {
  make_run("a");
  for (const int signal : {SIGINT, SIGTERM}) {
    Program program({root_.string(), "--port", "0"});
    const std::string address = program.line();
    ASSERT_TRUE(address.starts_with("http://127.0.0.1:")) << address;
    const int port = std::atoi(address.c_str() + std::strlen("http://127.0.0.1:"));
    EXPECT_EQ(converse(port, get("/api/runs")).substr(9, 3), "200");
    const Connection idle(port);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(program.end(signal), 0);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  }
}

TEST_F(ExploreProgram, OnANetworkMakesAToken) {
  Program program({root_.string(), "--port", "0", "--host", "0.0.0.0"});
  const std::string address = program.line();
  const std::size_t token = address.find("/?token=");
  ASSERT_NE(token, std::string::npos) << address;
  EXPECT_EQ(address.size() - token, std::strlen("/?token=") + 32 + 1);
  const int port = std::atoi(address.c_str() + address.rfind(':') + 1);
  EXPECT_EQ(converse(port, get("/")).substr(9, 3), "401");
  EXPECT_EQ(converse(port, get(address.substr(token, address.size() - token - 1))).substr(9, 3),
            "303");
  Program bad({root_.string(), "--token", "short"});
  EXPECT_EQ(bad.end(), 2);
  Program nowhere({(root_ / "nowhere").string()});
  EXPECT_EQ(nowhere.end(), 1);
}

TEST_F(ExploreProgram, WritesAPage) {
  make_run("a");
  Program program({(root_ / "a").string(), "--export", (root_ / "page").string(), "--films", "1"});
  EXPECT_EQ(program.end(), 0);
  EXPECT_TRUE(fs::exists(root_ / "page" / "index.html"));
}

}  // namespace
}  // namespace aurora::explore
