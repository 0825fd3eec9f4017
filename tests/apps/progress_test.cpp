#include "apps/aurora/progress.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace aurora {
namespace {

/// What a file gets to see of the progress.
std::string said(bool quiet, const std::function<void(Progress&)>& happens) {
  std::FILE* stream = std::tmpfile();
  {
    Progress progress(stream, quiet, "runs/it");
    happens(progress);
  }
  std::string result;
  std::rewind(stream);
  for (int c; (c = std::fgetc(stream)) != EOF;) result += static_cast<char>(c);
  std::fclose(stream);
  return result;
}

Standing standing(std::size_t iteration, const Row& row, const TrainingReport* training = nullptr) {
  return {.iteration = iteration,
          .iterations = 1000,
          .evaluations = 128 * iteration,
          .container_size = 4321,
          .target_size = 5000,
          .row = row,
          .training = training};
}

const Row kRow = {{"coverage", 12.34}, {"threshold", 0.5}};

std::string shown(bool quiet, std::size_t iteration, const TrainingReport* training) {
  return said(quiet, [&](Progress& progress) {
    progress.stands(standing(iteration, kRow, training));
    progress.stands(standing(iteration, kRow, training));  // too soon: says nothing
    progress.note("a line");
    progress.ended();
  });
}

TEST(Progress, SaysWhereTheRunStandsOnPlainLines) {
  const std::string line = shown(false, 500, nullptr);
  EXPECT_NE(line.find("iteration 500/1000"), std::string::npos);
  EXPECT_NE(line.find("size 4321/5000"), std::string::npos);
  EXPECT_NE(line.find("coverage 12.3 %"), std::string::npos);
  EXPECT_NE(line.find("d_min 0.5"), std::string::npos);
  EXPECT_NE(line.find("eval/s"), std::string::npos);
  EXPECT_NE(line.find("left"), std::string::npos);
  EXPECT_EQ(line.find("reconstruction"), std::string::npos);
  EXPECT_EQ(line.find('\r'), std::string::npos) << "a file is no terminal";
  EXPECT_TRUE(line.ends_with("\na line\n"));
  EXPECT_EQ(std::ranges::count(line, '\n'), 2) << "the second call came too soon";
}

TEST(Progress, SaysTheLastReconstructionError) {
  TrainingReport training;
  training.validation_loss = 0.25;
  EXPECT_NE(shown(false, 500, &training).find("reconstruction 0.25"), std::string::npos);
}

TEST(Progress, QuietIsQuiet) {
  EXPECT_EQ(shown(true, 500, nullptr), "");
}

TEST(Progress, SaysNoThresholdWhereThereIsNone) {
  const std::string line = said(false, [](Progress& progress) {
    progress.stands(standing(500, {{"coverage", 12.34}}));
  });
  EXPECT_TRUE(line.ends_with(" eval/s\n")) << line;
}

TEST(Progress, AlwaysSaysTheEnd) {
  const std::string lines = said(false, [](Progress& progress) {
    progress.stands(standing(500, kRow));
    progress.stands(standing(999, kRow));
    progress.stands(standing(1000, kRow));
  });
  EXPECT_EQ(std::ranges::count(lines, '\n'), 2) << lines;
  EXPECT_NE(lines.find("iteration 1000/1000"), std::string::npos);
}

TEST(Progress, WarnsEvenIfQuietAndCountsFromWhereItStarted) {
  for (const bool quiet : {true, false}) {
    const std::string text = said(quiet, [](Progress& progress) {
      progress.resumed(500, 64000);
      progress.warn("something");
      progress.stands(standing(500, kRow));
    });
    EXPECT_TRUE(text.starts_with("aurora: warning: something\n")) << text;
    EXPECT_EQ(text.find(" 0 eval/s") != std::string::npos, !quiet) << text;
  }
}

/// What a terminal of so many columns gets to see.
std::string on_a_terminal(unsigned short columns, const std::function<void(Progress&)>& happens) {
  int master = -1;
  int slave = -1;
  winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  EXPECT_EQ(openpty(&master, &slave, nullptr, nullptr, &size), 0);
  std::FILE* stream = fdopen(slave, "w");
  {
    Progress progress(stream, false, "runs/it");
    happens(progress);
  }
  std::string text(4096, '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(read(master, text.data(), 4096), 0)));
  std::fclose(stream);
  close(master);
  return text;
}

TEST(Progress, FitsTheTerminal) {
  TrainingReport training;
  training.validation_loss = 0.25;
  for (const unsigned short columns : {20, 40, 60, 80, 140}) {
    const std::string text = on_a_terminal(
        columns, [&](Progress& progress) { progress.stands(standing(999, kRow, &training)); });
    const std::string clear = "\r\x1b[K";
    ASSERT_TRUE(text.starts_with(clear)) << text;
    const std::string line = text.substr(clear.size(), text.find("\r\n") - clear.size());
    EXPECT_LT(line.size(), columns) << line;
    EXPECT_TRUE(line.starts_with("iteration 999/1000")) << line;
    EXPECT_EQ(line.find("left") != std::string::npos, columns >= 40) << line;
    EXPECT_EQ(line.find("reconstruction") != std::string::npos, columns >= 140) << line;
  }
}

TEST(Progress, SaysWhatIsMadeBeforeTheRunBegins) {
  const std::string text =
      said(false, [](Progress& progress) { progress.makes("Voronoi cells", 0.25); });
  EXPECT_EQ(text, "making Voronoi cells  25 %  for 0 s\n");
}

TEST(Progress, SaysHowAFailedRunGoesOn) {
  for (const bool quiet : {true, false}) {
    const std::string text = said(quiet, [](Progress& progress) { progress.saved_up_to(30); });
    EXPECT_EQ(
        text,
        "aurora: warning: the run is saved up to iteration 30; once the cause of the error is "
        "mended, aurora run --resume --out 'runs/it' goes on from there\n");
  }
}

/// What a terminal gets to see of a line that is left in the middle of the work.
TEST(StatusLine, EndsItsLineOnATerminalWhenTheWorkFails) {
  const int screen = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(screen, 0);
  ASSERT_EQ(grantpt(screen), 0);
  ASSERT_EQ(unlockpt(screen), 0);
  std::FILE* terminal = std::fopen(ptsname(screen), "w");
  ASSERT_NE(terminal, nullptr);
  {
    StatusLine line(terminal);
    line.show({"one"});
    line.show({"two"});
  }
  std::fclose(terminal);
  std::string seen;
  for (char c; read(screen, &c, 1) == 1;) seen += c;  // it comes when it comes, and ends with EIO
  close(screen);
  EXPECT_EQ(seen, "\r\x1b[Kone\r\x1b[Ktwo\r\n");
}

/// What a terminal shows in the end: escapes that move the cursor up and clear are obeyed.
std::vector<std::string> screen_of(const std::string& text) {
  std::vector<std::string> lines(1);
  std::size_t row = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      if (++row == lines.size()) lines.emplace_back();
    } else if (text[i] == '\x1b') {
      const std::size_t end = text.find_first_of("AKJ", i);
      if (text[end] == 'A') row -= std::stoul(text.substr(i + 2));
      if (text[end] == 'K') lines[row].clear();
      if (text[end] == 'J') {
        lines.resize(row + 1);
        lines[row].clear();
      }
      i = end;
    } else if (text[i] != '\r') {
      lines[row] += text[i];
    }
  }
  return lines;
}

TEST(StatusBlock, RenewsItsLinesBelowWhatIsSaid) {
  using Lines = std::vector<std::string>;
  int master = 0;
  int slave = 0;
  winsize size{.ws_row = 4, .ws_col = 10, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, &size), 0);
  std::FILE* stream = fdopen(slave, "w");
  std::string text;
  const auto seen = [&] {
    std::string more(4096, '\0');
    more.resize(static_cast<std::size_t>(std::max<ssize_t>(read(master, more.data(), 4096), 0)));
    text += more;
    return screen_of(text);
  };
  {
    StatusBlock block(stream);
    EXPECT_TRUE(block.is_due());
    EXPECT_EQ(block.columns(), 9U);
    block.show({"one", "two"});
    EXPECT_EQ(seen(), (Lines{"one", "two", ""}));
    EXPECT_FALSE(block.is_due());
    block.show({"three", "a line that is too long", "five", "six"});
    EXPECT_EQ(seen(), (Lines{"three", "a line th", "five", ""})) << "as many as there is room for";
    block.say("this stays");
    EXPECT_TRUE(block.is_due());
    block.show({"seven"});
    EXPECT_EQ(seen(), (Lines{"this stays", "seven", ""}));
  }
  EXPECT_EQ(seen(), (Lines{"this stays", ""}));
  std::fclose(stream);
  close(master);
}

TEST(StatusBlock, SaysOnlyWhatStaysInALog) {
  std::FILE* stream = std::tmpfile();
  {
    StatusBlock block(stream);
    EXPECT_FALSE(block.is_due());
    block.show({"one"});
    block.say("this stays");
  }
  std::rewind(stream);
  std::string text(100, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), stream));
  EXPECT_EQ(text, "this stays\n");
  std::fclose(stream);
}

TEST(Progress, WantsToKnowWhenItIsDueUnlessItIsQuiet) {
  said(false, [](Progress& progress) {
    EXPECT_TRUE(progress.wants_standing());
    progress.stands(standing(500, kRow));
    EXPECT_FALSE(progress.wants_standing()) << "too soon";
  });
  said(true, [](Progress& progress) { EXPECT_FALSE(progress.wants_standing()); });
}

TEST(Progress, DurationsAreForPeople) {
  EXPECT_EQ(duration_text(0), "0 s");
  EXPECT_EQ(duration_text(42.4), "42 s");
  EXPECT_EQ(duration_text(60), "1:00");
  EXPECT_EQ(duration_text(754), "12:34");
  EXPECT_EQ(duration_text(3909), "1:05:09");
  EXPECT_EQ(duration_text(-3), "0 s");
}

}  // namespace
}  // namespace aurora
