// aurora retrain: an encoder from scratch for the container of a finished run.
#include "aurora/runs/retrain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "apps/aurora/commands.hpp"
#include "apps/aurora/interrupt.hpp"
#include "apps/aurora/progress.hpp"
#include "aurora/core/processors.hpp"

namespace aurora {
namespace {

std::string describe(const Retrained& retrained) {
  const TrainingReport& training = retrained.training;
  return fmt::format(
      "{}: {} latent dimension(s), {} epochs on {} individuals, validation loss {:.4g}{}\n",
      retrained.directory.string(), *retrained.options.dimension, training.epochs,
      training.examples, training.validation_loss,
      retrained.was_there ? "; it was there already" : "");
}

std::string progress(const TrainingReport& so_far, const RetrainOptions& options, double seconds) {
  const auto epochs = static_cast<double>(so_far.epochs);
  return fmt::format("epoch {}/{}  {:.1f} epochs/s  validation loss {:.4g}  left {} at most",
                     so_far.epochs, options.epochs, epochs / seconds, so_far.validation_loss,
                     duration_text(seconds * (static_cast<double>(options.epochs) / epochs - 1)));
}

}  // namespace

Command add_retrain(Parser& program, const Parts& parts) {
  struct Arguments {
    std::string run;
    std::string out;
    RetrainOptions options;
  };
  const auto arguments = std::make_shared<Arguments>();
  RetrainOptions& options = arguments->options;
  options.threads = processors();
  Grammar grammar = program.command(
      "retrain", "Train a new encoder from scratch on the container of a finished run");
  grammar.add("RUN", arguments->run, "The run directory; its descriptors must be learned",
              {.required = true});
  grammar.add("--seed", options.seed, "Another seed gives other initial weights; 1 unless said",
              {.value = "S"});
  grammar.add("--dimension", options.dimension,
              "Of the new latent space; that of the run unless said",
              {.value = "N", .least = 1, .most = 1000});
  grammar.add("--epochs", options.epochs, "At most so many; 200 unless said",
              {.value = "E", .least = 1, .most = 1'000'000});
  grammar.add("--patience", options.patience,
              "Epochs without a lower validation loss before it stops; 20 unless said",
              {.value = "P", .least = 1, .most = 1'000'000});
  grammar.add("--threads", options.threads,
              "Threads; all the machine has unless said; changes no result",
              {.value = "T", .least = 1, .most = 1024});
  grammar.add("--out", arguments->out, "Folder for the result; RUN/retrained unless said",
              {.value = "DIR"});
  grammar.add("--force", options.force, "Replace a re-training that is there with other settings");
  grammar.footer(
      "The run itself is left as it is. aurora report draws the new latent space beside the run's\n"
      "own where both have two dimensions.\n"
      "\nExamples:\n"
      "  aurora run maze --variant aurora-csc-uniform-2 --out runs/flat\n"
      "  aurora retrain runs/flat\n"
      "  aurora report runs/flat");
  return {grammar, [arguments, &parts] {
            arguments->options.out = arguments->out;
            end_with_adopter();
            StatusLine line(stderr);
            arguments->options.begins = [&](std::size_t individuals) {
              line.say(fmt::format("aurora: training on {} individuals, at most {} epochs",
                                   individuals, arguments->options.epochs));
            };
            arguments->options.after_epoch = [&](const TrainingReport& so_far) {
              if (line.is_due()) line.show({progress(so_far, arguments->options, line.seconds())});
            };
            const Retrained retrained = retrain(parts, arguments->run, arguments->options);
            line.finish();
            print(describe(retrained));
            return 0;
          }};
}

}  // namespace aurora
