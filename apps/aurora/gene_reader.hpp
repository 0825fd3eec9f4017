// Genotypes from text: one a line, genes in [0, 1] separated by spaces, tabs or commas. Blank lines
// are skipped, and so is everything from a # to the end of its line.
#pragma once

#include <cstddef>
#include <fstream>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "aurora/core/matrix.hpp"

namespace aurora {

class GeneReader {
 public:
  /// Reads the file `path`, or standard input if it is "-". FileError if it cannot be opened.
  GeneReader(const std::string& path, std::size_t genes);

  /// Replaces the rows of `genotypes` by the next ones, `limit` at most; 0 rows at the end.
  /// DataError with file and line for the wrong number of genes, and genes outside [0, 1] or not
  /// numbers.
  void read(Matrix<float>& genotypes, std::size_t limit);

 private:
  bool next_line();
  void parse_genotype(std::string_view line, std::vector<float>& genes) const;
  [[noreturn]] void fail(const std::string& reason) const;

  std::string name_;
  std::ifstream file_;
  std::istream* input_;
  std::size_t genes_;
  std::size_t line_ = 0;
  std::vector<char> buffer_;
  std::string_view text_;  // the line, in the buffer
};

}  // namespace aurora
