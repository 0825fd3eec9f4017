// Evaluates a batch on several processes, the ranks of one run. Rank 0 has the loop; the others
// serve().
//
// In every rank a thread of its own does all communication. On rank 0 it hands pieces of the batch
// to whoever is free and puts results into their rows; rank 0 evaluates pieces, too. All ranks say
// every second that they are there; who is not heard of for `silence` seconds is lost, and the run
// with it. Where the network itself tells who is gone, and the others can go on, rank 0 gives the
// pieces of that one to somebody else. A thread that has nothing to do sleeps: for a thirty-second
// of the time it has had nothing to do, at most a millisecond.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "aurora/evaluation/evaluator.hpp"
#include "aurora/evaluation/piece_queue.hpp"
#include "aurora/evaluation/row_codec.hpp"
#include "aurora/evaluation/thread_evaluator.hpp"
#include "aurora/evaluation/transport.hpp"

namespace aurora {

struct RankConfig {
  double silence = 30;  // seconds
};

class RankEvaluator final : public Evaluator {
 public:
  /// Returns when all ranks have said who they are. `connect` is called in the thread that
  /// communicates. UsageError if a rank is another program or has another task, Lost if one does
  /// not answer.
  RankEvaluator(const EvaluatorContext& context, const RankConfig& config, Connect connect);
  /// Lets the others go. If one of them is lost, that would be in vain: then the program, when it
  /// ends, ends all that are left with kLostStatus.
  ~RankEvaluator() override;

  /// On rank 0 alone. What a task throws elsewhere arrives as its message, a std::runtime_error;
  /// Lost says which rank is lost, and where it was.
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) override;
  std::optional<std::vector<Piece>> busy() const override;
  bool serve() override;
  std::string describe() const override;

 private:
  using Clock = std::chrono::steady_clock;

  /// A rank that evaluates for us.
  struct Peer {
    std::string host;
    std::size_t threads = 1;
    bool ready = false;
    bool gone = false;         // in good order, or because the run goes on without it
    std::deque<Piece> held{};  // the first one is being evaluated
    Clock::time_point heard{};
    std::unique_ptr<RowDecoder> decoder{};
  };

  bool leads() const { return rank_ == 0; }
  std::string name_of(int rank) const;
  void stop();
  void nudge();

  // In the thread that communicates.
  void communicate(const Connect& connect);
  void begin();
  bool go_on();
  bool hear();
  void listen(const Message& message);
  void meet(int rank, std::span<const std::byte> text);
  void take_result(Peer& peer, std::size_t begin, std::size_t count,
                   std::span<const std::byte> rest);
  bool hand_out();
  bool send_results();
  void say_alive();
  void look_for_silence();
  void go_on_without(int rank);
  void lose(const std::string& why);

  const Task& task_;
  std::function<void(const std::string&)> warn_;
  ThreadEvaluator local_;
  std::size_t threads_;
  double silence_;

  // Of the thread that communicates; the others look only once it has said `ready_`.
  std::unique_ptr<Transport> transport_;
  int rank_ = 0;
  int size_ = 0;
  Clock::time_point last_look_;
  Clock::time_point last_alive_;
  bool said_done_ = false;
  bool given_up_ = false;

  mutable std::mutex mutex_;  // of what follows
  bool ready_ = false;
  bool closing_ = false;
  std::string lost_;     // why there is no going on; empty if there is
  std::string refused_;  // why there is no beginning
  std::vector<Peer> peers_;
  // Rank 0: the batch.
  PieceQueue queue_;
  MatrixView<const float> genotypes_;
  EvaluationView out_;
  std::size_t missing_ = 0;    // rows without results
  std::size_t own_begin_ = 0;  // of the piece that is evaluated here
  std::optional<std::string> error_;
  // The others: pieces to evaluate, and results to send.
  std::deque<std::pair<std::size_t, Matrix<float>>> todo_;
  std::deque<std::vector<std::byte>> results_;
  bool done_ = false;

  bool nudged_ = false;
  std::condition_variable wake_;     // the thread that communicates
  std::condition_variable changed_;  // those who wait for it
  std::thread thread_;
};

}  // namespace aurora
