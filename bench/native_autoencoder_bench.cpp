// The auto-encoders on the native engine, and on libtorch in the same process as the baseline.
//
// Prints individuals per second for training and encoding on 1 and 2 threads, then a table with the
// best repetition of each case: the ratio to libtorch and, for training pictures, the fraction of
// 14,000 pictures/s on each core, which is what 55 G multiply-adds/s would give on three times the
// forward pass. Compare within one run: absolute times move with the machine.
//   native_autoencoder_bench --benchmark_repetitions=5
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "aurora/core/matrix.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/core/random.hpp"
#include "aurora/encoders/encoder.hpp"
#include "aurora/encoders/native/conv_autoencoder.hpp"
#include "aurora/encoders/native/mlp_autoencoder.hpp"
#ifdef AURORA_WITH_TORCH
#include "aurora/encoders/torch_autoencoder.hpp"
#endif

namespace {

using namespace aurora;

constexpr std::size_t kRows = 448;  // 7 mini-batches of 64; too few for a validation set
constexpr std::size_t kEpochs = 8;
constexpr std::size_t kDimension = 10;
constexpr double kFloor = 14000;  // pictures/s on one core

using Factory = std::unique_ptr<Encoder> (*)(const EncoderConfig&, const SensoryShape&, std::size_t,
                                             Stream&);

/// Pictures of a bright disc on a dark floor, or noisy straight trajectories.
SensoryData example(bool pictures, std::size_t rows) {
  SensoryData data(pictures ? SensoryShape{{64, 64, 3}, ElementType::uint8}
                            : SensoryShape{{50, 2}, ElementType::float32},
                   rows);
  Stream stream(1, Purpose::user);
  for (std::size_t i = 0; i < rows; ++i) {
    const double cx = stream.uniform(), cy = stream.uniform();
    if (pictures) {
      const auto row = data.view().row<std::uint8_t>(i);
      for (std::size_t p = 0; p < row.size(); ++p) {
        const double x = static_cast<double>(p / 3 % 64) / 64,
                     y = static_cast<double>(p / 192) / 64;
        const bool disc = (x - cx) * (x - cx) + (y - cy) * (y - cy) < 0.02;
        row[p] = static_cast<std::uint8_t>((disc ? 200 : 40) + stream.below(20));
      }
    } else {
      const auto row = data.view().row<float>(i);
      for (std::size_t p = 0; p < row.size(); ++p) {
        row[p] = static_cast<float>((p % 2 ? cx : cy) * static_cast<double>(p) / 100 +
                                    0.01 * stream.normal());
      }
    }
  }
  return data;
}

EncoderConfig config(bool pictures) {
  EncoderConfig c;
  c.kind = pictures ? EncoderKind::conv_ae : EncoderKind::mlp_ae;
  c.epochs = kEpochs;
  c.patience = kEpochs;
  return c;
}

void train(benchmark::State& state, Factory factory, bool pictures) {
  const SensoryData data = example(pictures, kRows);
  Stream weights(2, Purpose::encoder_weights), order(3, Purpose::encoder_training);
  const auto encoder = factory(config(pictures), data.shape(), kDimension, weights);
  Workers workers(static_cast<std::size_t>(state.range(0)));
  encoder->train(data.view(), order, workers);
  for (auto _ : state) encoder->train(data.view(), order, workers);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRows * kEpochs));
}

void encode(benchmark::State& state, Factory factory, bool pictures, bool with_error) {
  const SensoryData data = example(pictures, 4 * kRows);
  Stream weights(2, Purpose::encoder_weights);
  const auto encoder = factory(config(pictures), data.shape(), kDimension, weights);
  Workers workers(static_cast<std::size_t>(state.range(0)));
  Matrix<float> descriptors(data.rows(), kDimension);
  std::vector<float> error(with_error ? data.rows() : 0);
  for (auto _ : state) {
    encoder->encode(data.view(), descriptors, error, workers);
    benchmark::DoNotOptimize(descriptors.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(data.rows()));
}

void add_engine(const std::string& engine, Factory factory, bool pictures) {
  const std::string network = pictures ? "conv" : "mlp";
  const auto add = [&](const std::string& what, auto function) {
    benchmark::RegisterBenchmark((engine + "/" + network + "/" + what).c_str(), function)
        ->Arg(1)
        ->Arg(2)
        ->UseRealTime()
        ->MeasureProcessCPUTime()
        ->Unit(benchmark::kMillisecond);
  };
  add("train", [=](benchmark::State& s) { train(s, factory, pictures); });
  add("encode", [=](benchmark::State& s) { encode(s, factory, pictures, false); });
  add("encode+error", [=](benchmark::State& s) { encode(s, factory, pictures, true); });
}

/// Remembers the best rates of each case: per second of real time, and per second of processor time
/// (all threads together), which a busy machine disturbs less.
class BestRates : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
      const double rate = run.counters.at("items_per_second").value;
      const double items = rate * run.real_accumulated_time;
      Rates& best = rates_[run.run_name.function_name + "/" + run.run_name.args];
      best.real = std::max(best.real, rate);
      best.processor = std::max(best.processor, items / run.cpu_accumulated_time);
    }
  }

  void print() const {
    std::printf("\n%-20s | %9s %9s %6s | %9s %9s %6s %6s\n", "best of repetitions", "native/s",
                "libtorch", "ratio", "per cpu-s", "libtorch", "ratio", "floor");
    for (const auto& [name, rate] : rates_) {
      if (name.rfind("native/", 0) != 0) continue;
      const std::string what = name.substr(7);
      const auto found = rates_.find("libtorch/" + what);
      const Rates torch = found == rates_.end() ? Rates{} : found->second;
      std::printf("%-20s | %9.0f %9.0f %6.1f | %9.0f %9.0f %6.1f", what.c_str(), rate.real,
                  torch.real, rate.real / torch.real, rate.processor, torch.processor,
                  rate.processor / torch.processor);
      if (what.rfind("conv/train/", 0) == 0) std::printf(" %6.2f", rate.processor / kFloor);
      std::printf("\n");
    }
  }

 private:
  struct Rates {
    double real = 0, processor = 0;
  };
  std::map<std::string, Rates> rates_;
};

}  // namespace

int main(int argc, char** argv) {
  for (const bool pictures : {true, false}) {
    add_engine("native", pictures ? make_native_conv_autoencoder : make_native_mlp_autoencoder,
               pictures);
#ifdef AURORA_WITH_TORCH
    add_engine("libtorch", make_torch_autoencoder, pictures);
#endif
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  BestRates rates;
  benchmark::RunSpecifiedBenchmarks(&rates);
  rates.print();
}
