// Genotypes from text: one a line, genes in [0, 1] separated by spaces, tabs or commas. Blank lines
// are skipped, and so is everything from a # to the end of its line.
//
// A first line with a column gene_0 or the like makes it a CSV table, as `aurora export` writes it:
// the genes are found by the names of their columns, and the other columns are passed over.
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
  /// numbers; for a table also if its header is not that of the task's genes, or a line has another
  /// number of cells.
  void read(Matrix<float>& genotypes, std::size_t limit);

 private:
  bool next_line();
  bool take_header(std::string_view line);
  void parse_genotype(std::string_view line, std::vector<float>& genes) const;
  void parse_cells(std::string_view line, std::vector<float>& genes) const;
  float gene(std::string_view word, std::size_t number) const;
  [[noreturn]] void fail(const std::string& reason) const;

  std::string name_;
  std::ifstream file_;
  std::istream* input_;
  std::size_t genes_;
  std::size_t line_ = 0;
  bool begun_ = false;                // a line with content was read
  std::size_t cells_ = 0;             // in a line of a table; 0: it is none
  std::vector<std::size_t> columns_;  // of the genes in a table
  std::vector<char> buffer_;
  std::string_view text_;  // the line, in the buffer
};

}  // namespace aurora
