// The page as a folder of plain files that needs no server: for the web page of a paper.
//
//   index.html, style.css, explore.js   the page, its modules as one script
//   data.js                             the answers that it reads, as text
//   data/                               the same answers as files, and pictures and films
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "apps/aurora/explore/answers.hpp"

namespace aurora::explore {

struct StaticPage {
  std::size_t runs = 0;
  std::size_t films = 0;
  std::vector<std::string> notes;  // what could not be written, a line each
};

/// Writes the folder, which must be new or empty. Of each run, `films` individuals get their
/// pictures and films: those whose descriptors are most different. `begins` is called before each.
/// `answers` should not be live ones. DataError if there is no run, or nothing of any.
StaticPage write_static_page(Answers& answers, const std::filesystem::path& out, std::size_t films,
                             const std::function<void(const std::string&)>& begins = {});

/// Rows of a container that are far from each other: the one with the highest fitness, then always
/// the one that is farthest in the descriptor space from those that were chosen (Gonzalez' greedy
/// choice). All of them if there are no more than `count`. O(count * individuals).
std::vector<std::size_t> most_different(const Individuals& individuals, std::size_t count);

}  // namespace aurora::explore
