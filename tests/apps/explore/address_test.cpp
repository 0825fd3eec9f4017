#include "apps/aurora/explore/address.hpp"

#include <gtest/gtest.h>

namespace aurora::explore {
namespace {

int status_of(const std::string& target) {
  try {
    parse_address(target);
    return 200;
  } catch (const Refusal& refusal) {
    return refusal.status();
  }
}

TEST(Address, IsWhatItSays) {
  EXPECT_EQ(parse_address("/").file, "index.html");
  EXPECT_EQ(parse_address("/main.js").file, "main.js");
  EXPECT_EQ(parse_address("/api/runs").what, What::runs);
  EXPECT_EQ(parse_address("/api/runs/7").run, 7u);
  const Address film = parse_address("/api/runs/3/film?id=12&at=500&kind=gif");
  EXPECT_EQ(film.what, What::film);
  EXPECT_EQ(film.run, 3u);
  EXPECT_EQ(film.id, 12u);
  EXPECT_EQ(film.at, 500u);
  EXPECT_EQ(film.kind, "gif");
  EXPECT_EQ(parse_address("/api/runs/3/film?id=12").kind, "apng");
  EXPECT_EQ(parse_address("/api/runs/3/novelty?at=500").what, What::novelty);
  EXPECT_EQ(parse_address("/api/runs/3/container?at=").at, std::nullopt);
  EXPECT_EQ(parse_address("/api/runs/0/metrics?from=99").from, 99u);
  EXPECT_EQ(parse_address("/%61pi/%72uns/%31").run, 1u);
  EXPECT_EQ(parse_address("/?token=abc").token, "abc");
  EXPECT_EQ(parse_address("/api/runs/0/individual?%69d=%31").id, 1u);
}

TEST(Address, HasNoPathInIt) {
  for (const char* target : {"/../etc/passwd",
                             "/..%2fetc%2fpasswd",
                             "/%2e%2e/%2e%2e/etc/passwd",
                             "/%252e%252e%252f",
                             "/a%00.js",
                             "/main.js%00",
                             "/a\\b",
                             "/a%5cb",
                             "//etc/passwd",
                             "/api/runs/0/../../x",
                             "/api/runs/0/film/x",
                             "/api/",
                             "/api",
                             "/api/runs/0/nothing",
                             "/api/run/0",
                             "/page/main.js",
                             "/main.js/",
                             "/api/runs/+1",
                             "/api/runs/ 1",
                             "/a b",
                             "/\xff\xfe",
                             "/%ff",
                             "/~root",
                             "/api/runs/"}) {
    const int status = status_of(target);
    EXPECT_TRUE(status == 400 || status == 404) << target << " gives " << status;
  }
  // These are names like any other, of files that there are not.
  EXPECT_EQ(parse_address("/..").file, "..");
  EXPECT_EQ(parse_address("/%2e%2e").file, "..");
}

TEST(Address, IsRefusedIfItMakesNoSense) {
  for (const char* target : {"",
                             "main.js",
                             "http://localhost/",
                             "*",
                             "/%",
                             "/%4",
                             "/%zz",
                             "/%4g",
                             "/api/runs/-1",
                             "/api/runs/1e3",
                             "/api/runs/0x1",
                             "/api/runs/x",
                             "/api/runs/99999999999999999999999",
                             "/api/runs/0/film",
                             "/api/runs/0/film?id=",
                             "/api/runs/0/film?id=-1",
                             "/api/runs/0/film?id=1&id=2",
                             "/api/runs/0/film?id=1&kind=mp4",
                             "/api/runs/0/picture?id=1&kind=gif",
                             "/api/runs/0/container?at=x",
                             "/api/runs/0/container?what=1",
                             "/api/runs/0/metrics?from=1&at=2",
                             "/api/runs?x",
                             "/?x=1",
                             "/main.js?token=abc",
                             "/api/runs/0/film?=1",
                             "/api/runs/0/backdrop?id=1"}) {
    EXPECT_EQ(status_of(target), 400) << target;
  }
  EXPECT_EQ(status_of("/" + std::string(3000, 'a')), 414);
  EXPECT_EQ(status_of("/api/runs/0/film?id=" + std::string(2500, '1')), 414);
}

int entry(const Request& request, const Door& door) {
  try {
    check_entry(request, request.method == "GET" ? parse_address(request.target) : Address(), door);
    return 200;
  } catch (const Refusal& refusal) {
    return refusal.status();
  }
}

Request get(std::vector<std::string> hosts) {
  return {"GET", "/", std::move(hosts), "", "", ""};
}

TEST(Entry, IsForWhoLooks) {
  for (const char* method : {"POST", "HEAD", "PUT", "DELETE", "OPTIONS", "get", "", "CONNECT"}) {
    EXPECT_EQ(entry({method, "/", {"localhost"}, "", "", ""}, {}), 405) << method;
  }
}

TEST(Entry, IsByANameOfOurs) {
  const Door door{.host = "127.0.0.1", .machine = "box", .token = ""};
  for (const char* host : {"localhost", "localhost:8017", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:9",
                           "127.1.2.3:80", "[::1]", "[::1]:8017", " localhost "}) {
    EXPECT_EQ(entry(get({host}), door), 200) << host;
  }
  for (const char* host : {"evil.example", "evil.example:8017", "localhost.evil.example", "box",
                           "box:8017", "192.168.0.1", "127.0.0.1.evil.example", "0.0.0.0",
                           "[::2]:8017", "127.evil", "1270.0.0.1", "localhost."}) {
    EXPECT_EQ(entry(get({host}), door), 403) << host;
  }
  for (const char* host : {"", ":8017", "localhost:", "localhost:x", "localhost:123456", "[::1",
                           "[::1]x", "localhost:80:80", "[::1]:"}) {
    EXPECT_EQ(entry(get({host}), door), 400) << host;
  }
  EXPECT_EQ(entry(get({}), door), 400);
  EXPECT_EQ(entry(get({"localhost", "localhost"}), door), 400);
  EXPECT_EQ(entry(get({"localhost", "evil.example"}), door), 400);
}

TEST(Entry, OnANetworkIsByTheNamesOfTheMachineAndWithTheToken) {
  const Door door{.host = "0.0.0.0", .machine = "Box", .token = "secret12", .cookie = "aurora_1"};
  const auto with = [](Request request, const std::string& authorization,
                       const std::string& cookie) {
    request.authorization = authorization;
    request.cookie = cookie;
    return request;
  };
  for (const char* host :
       {"box", "box:1", "BOX.lab.example:1", "10.0.0.5:1", "[fe80::1]:1", "localhost:1"}) {
    EXPECT_EQ(entry(with(get({host}), "Bearer secret12", ""), door), 200) << host;
    EXPECT_EQ(entry(get({host}), door), 401) << host;
  }
  for (const char* host : {"evil.example", "boxes", "notbox.example", "0.0.0.0.evil.example"}) {
    EXPECT_EQ(entry(with(get({host}), "Bearer secret12", ""), door), 403) << host;
  }
  const Request home = get({"box"});
  EXPECT_EQ(entry(with(home, "", "aurora_1=secret12"), door), 200);
  EXPECT_EQ(entry(with(home, "", "a=b; aurora_1=secret12; c=d"), door), 200);
  Request first = home;
  first.target = "/?token=secret12";
  EXPECT_EQ(entry(first, door), 200);
  for (const char* cookie : {"aurora_1=secret1", "aurora_1=secret123", "aurora_2=secret12",
                             "aurora_1=", "aurora_1", "=secret12", "xaurora_1=secret12"}) {
    EXPECT_EQ(entry(with(home, "", cookie), door), 401) << cookie;
  }
  for (const char* said : {"secret12", "Bearer", "Bearer ", "bearer secret12", "Basic secret12",
                           "Bearer secret12 ", "Bearer  secret12"}) {
    EXPECT_EQ(entry(with(home, said, ""), door), 401) << said;
  }
}

TEST(Entry, LoopbackIsWhatOnlyThisMachineReaches) {
  for (const char* host : {"127.0.0.1", "127.0.1.1", "localhost", "::1", "[::1]"}) {
    EXPECT_TRUE(is_loopback(host)) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "example.org", "", "127.evil"}) {
    EXPECT_FALSE(is_loopback(host)) << host;
  }
}

TEST(Entry, TextsAreComparedWhole) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_TRUE(equal_in_constant_time("", ""));
  for (const char* other : {"", "a", "ab", "abd", "bbc", "abcabc", "abcd"}) {
    EXPECT_FALSE(equal_in_constant_time(other, "abc")) << other;
    EXPECT_FALSE(equal_in_constant_time("abc", other)) << other;
  }
}

TEST(Etag, IsFoundInAList) {
  EXPECT_TRUE(has_etag("\"a\"", "\"a\""));
  EXPECT_TRUE(has_etag("\"b\", W/\"a\"", "\"a\""));
  EXPECT_TRUE(has_etag("*", "\"a\""));
  EXPECT_FALSE(has_etag("\"b\"", "\"a\""));
  EXPECT_FALSE(has_etag("", "\"a\""));
  EXPECT_FALSE(has_etag("a", "\"a\""));
  EXPECT_FALSE(has_etag("*", ""));
}

}  // namespace
}  // namespace aurora::explore
