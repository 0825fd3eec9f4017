// aurora encode: descriptors of new observations, by the encoder of a run.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "apps/aurora/commands.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/processors.hpp"
#include "aurora/runs/repertoire.hpp"
#include "aurora/storage/npy.hpp"
#include "aurora/storage/paths.hpp"

namespace aurora {
namespace {

constexpr std::size_t kMaxThreads = 4096;
constexpr std::size_t kLinesAtOnce = 1024;

struct Arguments {
  std::string run;
  std::string file;
  std::string out;
  bool force = false;
  std::size_t threads = processors();
};

/// Said before anything is encoded.
void check_out(const Arguments& arguments) {
  if (arguments.out.empty()) return;
  if (!arguments.out.ends_with(".npy")) {
    throw UsageError(
        fmt::format("--out is a .npy file, and '{}' is not called so; for CSV, leave "
                    "--out away and redirect",
                    arguments.out));
  }
  if (!arguments.force && path_exists(arguments.out)) {
    throw FileError(fmt::format(
        "{} exists already; choose another --out, or add --force to replace it", arguments.out));
  }
}

void print_csv(const Encoded& encoded) {
  std::string text;
  for (std::size_t i = 0; i < encoded.descriptors.cols(); ++i) {
    text += fmt::format("descriptor_{},", i + 1);
  }
  text += "reconstruction_error\n";
  for (std::size_t row = 0; row < encoded.descriptors.rows(); ++row) {
    for (const float value : encoded.descriptors.row(row)) text += fmt::format("{},", value);
    text += fmt::format("{}\n", encoded.reconstruction_error[row]);
    if (row % kLinesAtOnce == 0) {
      print(text);
      text.clear();
    }
  }
  print(text);
}

/// The same columns as those of the CSV.
void write_npy(const std::string& path, const Encoded& encoded) {
  const std::size_t rows = encoded.descriptors.rows();
  const std::size_t columns = encoded.descriptors.cols() + 1;
  write_file(path, [&](OutputFile& file) {
    file.write(npy_preamble({NpyType::float32, {rows, columns}}));
    for (std::size_t row = 0; row < rows; ++row) {
      file.write(std::as_bytes(encoded.descriptors.row(row)));
      file.write(std::as_bytes(std::span(&encoded.reconstruction_error[row], 1)));
    }
  });
}

int act(const Arguments& arguments, const Parts& parts) {
  check_out(arguments);
  const Encoded encoded = encode_file(parts, arguments.run, arguments.file, arguments.threads);
  if (arguments.out.empty()) {
    print_csv(encoded);
  } else {
    write_npy(arguments.out, encoded);
    print(arguments.out + "\n");
  }
  return 0;
}

}  // namespace

Command add_encode(Parser& program, const Parts& parts) {
  const auto arguments = std::make_shared<Arguments>();
  Grammar grammar =
      program.command("encode", "Descriptors of new observations, by a run's encoder");
  grammar.add("RUN", arguments->run, "The run directory", {.required = true});
  grammar.add("FILE", arguments->file,
              "Observations as numpy.save writes them: an array of the task's sensory shape "
              "and type (aurora list tasks), with rows in front",
              {.required = true});
  grammar.add("--out", arguments->out, "A .npy file instead of CSV on stdout, same columns",
              {.value = "FILE.npy"});
  grammar.add("--force", arguments->force, "Let --out replace a file");
  grammar.add("--threads", arguments->threads, "Threads; all the machine has unless said",
              {.value = "T", .least = 1, .most = kMaxThreads});
  grammar.footer(
      "A line per row: descriptor_1, descriptor_2, ..., reconstruction_error. The error is large\n"
      "for what is unlike anything that the run has seen.\n\n"
      "Examples:\n"
      "  aurora encode runs/demo observations.npy > descriptors.csv\n"
      "  aurora encode runs/demo observations.npy --out descriptors.npy\n"
      "  aurora encode runs/demo runs/demo/container/sensory.npy | head");
  return {grammar, [arguments, &parts] { return act(*arguments, parts); }};
}

}  // namespace aurora
