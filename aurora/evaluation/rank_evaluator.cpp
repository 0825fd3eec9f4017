#include "aurora/evaluation/rank_evaluator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

#include "aurora/core/instruction_set.hpp"
#include "aurora/core/task_spec.hpp"
#include "aurora/evaluation/guard.hpp"

namespace aurora {
namespace {

using Bytes = std::vector<std::byte>;
using Seconds = std::chrono::duration<double>;
using std::chrono::microseconds;

constexpr Seconds kAlive(1);  // between two signs of life
constexpr microseconds kShortest(20);
constexpr microseconds kLongest(1000);
constexpr int kIdleParts = 32;

enum class Kind : std::uint32_t {
  hello,    // to rank 0: who I am
  piece,    // from rank 0: genotypes
  result,   // to rank 0: fitness, ground truth, sensory data
  failure,  // to rank 0: what the task threw
  alive,    // to and from rank 0
  done,     // from rank 0: that was all
  bye,      // to rank 0: understood
};

struct Header {
  Kind kind{};
  std::uint32_t count = 0;  // of rows
  std::uint64_t begin = 0;  // the first row
};

void append(Bytes& bytes, const void* data, std::size_t count) {
  const auto* begin = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), begin, begin + count);
}

Bytes message_of(const Header& header, const void* data = nullptr, std::size_t count = 0) {
  Bytes bytes;
  bytes.reserve(sizeof(header) + count);
  append(bytes, &header, sizeof(header));
  append(bytes, data, count);
  return bytes;
}

Bytes message_of(const Header& header, const std::string& text) {
  return message_of(header, text.data(), text.size());
}

void read(std::span<const std::byte>& bytes, void* to, std::size_t count) {
  if (bytes.size() < count) throw DataError("a message from another rank ends too early");
  if (count > 0) std::memcpy(to, bytes.data(), count);
  bytes = bytes.subspan(count);
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// What all ranks must have in common.
std::string identity(const TaskSpec& spec) {
  return fmt::format("version {}, instructions {}, task {}", AURORA_VERSION, instruction_kind(),
                     fingerprint(spec));
}

/// Of the exception that is being handled.
std::string current_message() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

/// Connections to ranks of which some are lost. To end them in good order would take for ever.
struct Abandoned {
  std::mutex mutex;
  std::vector<std::unique_ptr<Transport>> transports;
};

void abort_at_exit(std::unique_ptr<Transport> transport) {
  static auto* const all = new Abandoned;  // nothing of it may be touched when the program ends
  const std::scoped_lock lock(all->mutex);
  all->transports.push_back(std::move(transport));
  if (all->transports.size() > 1) return;
  std::atexit([] { all->transports.front()->abort(kLostStatus); });
}

}  // namespace

RankEvaluator::RankEvaluator(const EvaluatorContext& context, const RankConfig& config,
                             Connect connect)
    : task_(context.task),
      warn_(context.warn),
      local_(context.task, context.workers),
      threads_(context.workers.threads()),
      silence_(config.silence),
      queue_(1, task_.spec().preferred_batch) {
  thread_ = std::thread([this, connect = std::move(connect)] { communicate(connect); });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ready_ || !lost_.empty() || !refused_.empty(); });
  if (ready_) return;
  lock.unlock();
  stop();
  if (!refused_.empty()) throw UsageError(refused_);
  throw Lost(lost_);
}

RankEvaluator::~RankEvaluator() {
  stop();
}

void RankEvaluator::stop() {
  {
    const std::scoped_lock lock(mutex_);
    closing_ = true;
    nudge();
  }
  if (thread_.joinable()) thread_.join();
  if (!lost_.empty() && transport_) abort_at_exit(std::move(transport_));
}

/// Wakes the thread that communicates; the mutex is held.
void RankEvaluator::nudge() {
  nudged_ = true;
  wake_.notify_one();
}

std::string RankEvaluator::name_of(int rank) const {
  const std::string& host = peers_[static_cast<std::size_t>(rank)].host;
  return host.empty() ? fmt::format("rank {}", rank) : fmt::format("rank {} on {}", rank, host);
}

std::string RankEvaluator::describe() const {
  std::map<std::string, std::size_t> hosts;
  for (const Peer& peer : peers_) ++hosts[peer.host];
  std::vector<std::string> places;
  for (const auto& [host, ranks] : hosts) places.push_back(fmt::format("{} ({})", host, ranks));
  return fmt::format("{} ranks on {}", size_, fmt::join(places, ", "));
}

void RankEvaluator::evaluate(MatrixView<const float> genotypes, EvaluationView out) {
  if (!leads()) throw UsageError("this rank evaluates for rank 0 alone: it must serve()");
  std::unique_lock lock(mutex_);
  genotypes_ = genotypes;
  out_ = out;
  error_.reset();
  missing_ = genotypes.rows();
  queue_.fill(genotypes.rows());
  nudge();
  // This rank takes pieces like any other, also those that come back from one that is gone.
  while (lost_.empty() && missing_ > 0) {
    const std::optional<Rows> piece = queue_.take(threads_, 0);
    if (!piece) {
      changed_.wait(lock, [&] { return missing_ == 0 || queue_.left() > 0 || !lost_.empty(); });
      continue;
    }
    own_begin_ = piece->begin;
    lock.unlock();
    std::optional<std::string> error;
    try {
      local_.evaluate(genotypes.slice(piece->begin, piece->count),
                      out.slice(piece->begin, piece->count));
    } catch (...) {
      error = current_message();
    }
    lock.lock();
    missing_ -= piece->count;
    if (error) {
      missing_ -= queue_.drop();
      error_ = error;
    }
  }
  if (!lost_.empty()) throw Lost(lost_);
  if (error_) throw std::runtime_error(*error_);
}

std::optional<std::vector<Piece>> RankEvaluator::busy() const {
  std::vector<Piece> all = *local_.busy();
  const std::scoped_lock lock(mutex_);
  for (Piece& piece : all) piece.begin += own_begin_;
  for (const Peer& peer : peers_) {
    if (!peer.held.empty()) all.push_back(peer.held.front());
  }
  return all;
}

bool RankEvaluator::serve() {
  if (leads()) return false;
  const TaskSpec& spec = task_.spec();
  RowEncoder encoder(spec.sensory.row_bytes());
  Evaluation evaluation(spec, 0);  // as large as the largest piece so far
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !todo_.empty() || done_ || !lost_.empty(); });
    if (!lost_.empty()) throw Lost(lost_);
    if (done_) return true;
    const auto [begin, genotypes] = std::move(todo_.front());
    todo_.pop_front();
    lock.unlock();
    const auto count = static_cast<std::uint32_t>(genotypes.rows());
    Bytes message;
    if (evaluation.fitness.size() < count) evaluation = Evaluation(spec, count);
    try {
      const EvaluationView rows = evaluation.view().slice(0, count);
      mark_unwritten(rows);
      local_.evaluate(genotypes, rows);
      message = message_of({Kind::result, count, begin}, evaluation.fitness.data(),
                           count * sizeof(float));
      append(message, evaluation.ground_truth.data(),
             count * spec.ground_truth.size() * sizeof(float));
      const SensoryView sensory = std::as_const(evaluation.sensory).view();
      for (std::size_t i = 0; i < count; ++i) encoder.encode(sensory.bytes(i), message);
    } catch (...) {
      message = message_of({Kind::failure, count, begin}, current_message());
    }
    lock.lock();
    results_.push_back(std::move(message));
    nudge();
  }
}

// --- The thread that communicates --------------------------------------------------------------

void RankEvaluator::communicate(const Connect& connect) {
  prctl(PR_SET_TIMERSLACK, 1);  // nanoseconds: pauses are as short as they are meant
  try {
    transport_ = connect();
    begin();
    Clock::time_point active = Clock::now();
    while (go_on()) {
      if (hear()) active = Clock::now();
      const auto pause =
          std::clamp<Clock::duration>((Clock::now() - active) / kIdleParts, kShortest, kLongest);
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, pause, [&] { return nudged_; })) active = Clock::now();
      nudged_ = false;
    }
  } catch (const UsageError& error) {  // of connect()
    const std::scoped_lock lock(mutex_);
    refused_ = error.what();
    changed_.notify_all();
  } catch (...) {
    lose(current_message());
  }
}

void RankEvaluator::begin() {
  const std::scoped_lock lock(mutex_);
  rank_ = transport_->rank();
  size_ = transport_->size();
  last_look_ = last_alive_ = Clock::now();
  peers_.resize(static_cast<std::size_t>(size_));
  for (Peer& peer : peers_) {
    peer.heard = last_look_;
    peer.decoder = std::make_unique<RowDecoder>(task_.spec().sensory.row_bytes());
  }
  if (leads()) {
    queue_ = PieceQueue(static_cast<std::size_t>(size_), task_.spec().preferred_batch);
    peers_[0].host = transport_->host();
    peers_[0].ready = true;
    ready_ = size_ == 1;
  } else {
    transport_->send(0, message_of({Kind::hello, static_cast<std::uint32_t>(threads_), 0},
                                   transport_->host() + "\n" + identity(task_.spec())));
    ready_ = true;
  }
  changed_.notify_all();
}

/// Sends what there is to send; false when all is over.
bool RankEvaluator::go_on() {
  look_for_silence();
  say_alive();
  const std::scoped_lock lock(mutex_);
  // Those who are left hear of rank 0 for as long as it saves.
  if (!lost_.empty()) return leads() && !closing_;
  const bool over = leads() ? closing_ : done_;
  if (over && !std::exchange(said_done_, true)) {
    if (!leads()) transport_->send(0, message_of({Kind::bye, 0, 0}));
    for (int rank = 1; leads() && rank < size_; ++rank) {
      if (peers_[static_cast<std::size_t>(rank)].gone) continue;
      transport_->send(rank, message_of({Kind::done, 0, 0}));
    }
  }
  if (closing_ && !leads() && !done_) return false;  // an exception is on its way
  if (!said_done_) return true;
  const bool all_gone = !leads() || std::all_of(peers_.begin() + 1, peers_.end(),
                                                [](const Peer& p) { return p.gone; });
  if (!all_gone || !transport_->idle()) return true;
  transport_->close(silence_);
  transport_.reset();
  return false;
}

bool RankEvaluator::hear() {
  bool anything = false;
  if (!given_up_) anything = leads() ? hand_out() : send_results();
  while (const std::optional<Message> message = transport_->receive()) {
    Peer& peer = peers_[static_cast<std::size_t>(message->from)];
    if (given_up_ || peer.gone) continue;  // nobody waits for it
    peer.heard = Clock::now();
    listen(*message);
    anything = true;
    if (leads()) hand_out();
  }
  for (const int rank : transport_->gone()) go_on_without(rank);
  return anything;
}

void RankEvaluator::listen(const Message& message) {
  std::span<const std::byte> rest = message.bytes;
  Header header;
  read(rest, &header, sizeof(header));
  Peer& peer = peers_[static_cast<std::size_t>(message.from)];
  switch (header.kind) {
    case Kind::hello: {
      peer.threads = header.count;
      return meet(message.from, rest);
    }
    case Kind::piece: {
      Matrix<float> genotypes(header.count, task_.spec().genotype_size);
      read(rest, genotypes.data(), header.count * genotypes.cols() * sizeof(float));
      const std::scoped_lock lock(mutex_);
      todo_.emplace_back(header.begin, std::move(genotypes));
      changed_.notify_all();
      return;
    }
    case Kind::result:
    case Kind::failure: {
      if (header.kind == Kind::result) take_result(peer, header.begin, header.count, rest);
      const std::scoped_lock lock(mutex_);
      peer.held.pop_front();
      if (!peer.held.empty()) peer.held.front().since = Clock::now();
      missing_ -= header.count;
      if (header.kind == Kind::failure) {
        missing_ -= queue_.drop();
        error_ = text_of(rest);
      }
      if (missing_ == 0) changed_.notify_all();
      return;
    }
    case Kind::alive:
      return;
    case Kind::done: {
      const std::scoped_lock lock(mutex_);
      done_ = true;
      changed_.notify_all();
      return;
    }
    case Kind::bye:
      peer.gone = true;
      return;
  }
}

/// Somebody says who they are.
void RankEvaluator::meet(int rank, std::span<const std::byte> text) {
  const std::string who = text_of(text);
  const std::size_t end = who.find('\n');
  const std::scoped_lock lock(mutex_);
  Peer& peer = peers_[static_cast<std::size_t>(rank)];
  peer.host = who.substr(0, end);
  peer.ready = true;
  const std::string theirs = who.substr(end + 1);
  const std::string ours = identity(task_.spec());
  if (theirs != ours && refused_.empty()) {
    refused_ = fmt::format(
        "{} is not the same program as rank 0, so the bits could differ: there it is {}; here it "
        "is {}",
        name_of(rank), theirs, ours);
  }
  const bool all = std::ranges::all_of(peers_, [](const Peer& one) { return one.ready; });
  if (all && refused_.empty()) ready_ = true;
  if (all) changed_.notify_all();
}

/// Nobody else touches the rows of a piece that is held, so this needs no lock.
void RankEvaluator::take_result(Peer& peer, std::size_t begin, std::size_t count,
                                std::span<const std::byte> rest) {
  if (peer.held.empty() || peer.held.front().begin != begin || peer.held.front().count != count) {
    throw DataError("a rank sends results that nobody asked it for");
  }
  const EvaluationView rows = out_.slice(begin, count);
  read(rest, rows.fitness.data(), rows.fitness.size_bytes());
  read(rest, rows.ground_truth.data(), count * rows.ground_truth.cols() * sizeof(float));
  for (std::size_t i = 0; i < count; ++i) peer.decoder->decode(rest, rows.sensory.bytes(i));
}

/// Rank 0: pieces to those who have none, then a second one to those who have one.
bool RankEvaluator::hand_out() {
  std::vector<std::pair<int, Rows>> pieces;
  {
    const std::scoped_lock lock(mutex_);
    if (!ready_) return false;
    for (std::size_t held = 0; held < 2 && queue_.left() > 0; ++held) {
      for (int rank = 1; rank < size_; ++rank) {
        Peer& peer = peers_[static_cast<std::size_t>(rank)];
        if (peer.gone || peer.held.size() != held) continue;
        const std::optional<Rows> piece = queue_.take(peer.threads, held);
        if (!piece) break;
        peer.held.push_back({piece->begin, piece->count, Clock::now()});
        pieces.emplace_back(rank, *piece);
      }
    }
  }
  for (const auto& [rank, rows] : pieces) {
    const MatrixView<const float> genotypes = genotypes_.slice(rows.begin, rows.count);
    transport_->send(rank,
                     message_of({Kind::piece, static_cast<std::uint32_t>(rows.count), rows.begin},
                                genotypes.data(), rows.count * genotypes.cols() * sizeof(float)));
  }
  return !pieces.empty();
}

bool RankEvaluator::send_results() {
  std::deque<Bytes> results;
  {
    const std::scoped_lock lock(mutex_);
    results.swap(results_);
  }
  for (Bytes& message : results) transport_->send(0, std::move(message));
  return !results.empty();
}

void RankEvaluator::say_alive() {
  const auto now = Clock::now();
  if (now - last_alive_ < std::min(kAlive, Seconds(silence_ / 4))) return;
  last_alive_ = now;
  if (!leads()) return transport_->send(0, message_of({Kind::alive, 0, 0}));
  for (int rank = 1; rank < size_; ++rank) {
    const Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (!peer.gone) transport_->send(rank, message_of({Kind::alive, 0, 0}));
  }
}

/// Who was not heard of for too long is lost. A time in which this process itself stood still (a
/// machine that slept, a signal) says nothing of the others.
void RankEvaluator::look_for_silence() {
  const auto now = Clock::now();
  const auto paused = now - std::exchange(last_look_, now);
  if (given_up_) return;
  for (int rank = 0; rank < size_; ++rank) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (rank == rank_ || peer.gone || (!leads() && rank > 0)) continue;
    if (paused > kAlive) peer.heard += paused;
    const Seconds silent = now - peer.heard;
    if (silent.count() < silence_) continue;
    return lose(
        fmt::format("{} was not heard of for {:.0f} seconds: its process, its machine or "
                    "the link to it is gone",
                    name_of(rank), silent.count()));
  }
}

/// The network says that a rank is gone, and all that came from it was heard before. At the
/// beginning every rank is needed, and rank 0 always.
void RankEvaluator::go_on_without(int rank) {
  if (given_up_ || (!leads() && rank > 0)) return;
  std::unique_lock lock(mutex_);
  if (!ready_ || rank == 0) {
    lock.unlock();
    return lose(name_of(rank) + " is gone: its process has ended");
  }
  Peer& peer = peers_[static_cast<std::size_t>(rank)];
  if (std::exchange(peer.gone, true)) return;
  for (const Piece& piece : peer.held) queue_.put_back({piece.begin, piece.count});
  peer.held.clear();
  nudge();
  changed_.notify_all();
  if (said_done_) return;  // it was sent home, and left without a word
  lock.unlock();
  const auto left =
      std::count_if(peers_.begin(), peers_.end(), [](const Peer& p) { return !p.gone; });
  warn_(fmt::format("{} is gone: the run goes on with {} rank(s)", name_of(rank), left));
}

void RankEvaluator::lose(const std::string& why) {
  given_up_ = true;
  const std::scoped_lock lock(mutex_);
  lost_ = why;
  changed_.notify_all();
}

}  // namespace aurora
