#include "apps/aurora/gene_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>
#include <utility>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

constexpr std::string_view kSeparators = " \t\r,";
constexpr std::string_view kGene = "gene_";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

/// The cells of a line of CSV. A comma in quotes is no end of one.
std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  std::size_t begin = 0;
  bool quoted = false;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '"') quoted = !quoted;
    if (i < line.size() && (line[i] != ',' || quoted)) continue;
    cells.push_back(trimmed(line.substr(begin, i - begin)));
    begin = i + 1;
  }
  return cells;
}

/// The number behind gene_; nothing if the cell is not called so.
std::optional<std::size_t> gene_number(std::string_view cell) {
  if (!cell.starts_with(kGene)) return std::nullopt;
  cell.remove_prefix(kGene.size());
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  if (error != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
  return number;
}

}  // namespace

GeneReader::GeneReader(const std::string& path, std::size_t genes)
    : name_(path == "-" ? "standard input" : path),
      input_(&std::cin),
      genes_(genes),
      // Room for any sensible way to write a gene and for a comment.
      buffer_(genes * 64 + (std::size_t{1} << 16)) {
  if (path == "-") return;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw FileError(fmt::format("cannot read {}: it is a folder", path));
  }
  errno = 0;
  file_.open(path, std::ios::binary);
  if (!file_) throw FileError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  input_ = &file_;
}

void GeneReader::fail(const std::string& reason) const {
  throw DataError(fmt::format("{}:{}: {}", name_, line_, reason));
}

bool GeneReader::next_line() {
  input_->getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  const auto length = static_cast<std::size_t>(input_->gcount());
  if (input_->bad()) throw FileError(fmt::format("cannot read on from {}", name_));
  if (input_->fail() && length == 0) return false;
  ++line_;
  if (input_->fail()) fail(fmt::format("this line is longer than {} characters", length));
  // The length counts the newline, which the last line of a file need not have.
  text_ = {buffer_.data(), input_->eof() ? length : length - 1};
  return true;
}

/// Whether it is the header of a table; then what it says is kept.
bool GeneReader::take_header(std::string_view line) {
  const std::vector<std::string_view> cells = cells_of(line);
  constexpr auto kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> columns(genes_, kNone);
  bool any = false;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::optional<std::size_t> number = gene_number(cells[i]);
    if (!number) continue;
    any = true;
    if (*number >= genes_) {
      fail(
          fmt::format("there is a column {}, but the task's genotypes have {} genes, from gene_0 "
                      "on",
                      cells[i], genes_));
    }
    if (columns[*number] != kNone) fail(fmt::format("there are two columns {}", cells[i]));
    columns[*number] = i;
  }
  if (!any) return false;
  const auto missing = std::ranges::find(columns, kNone);
  if (missing != columns.end()) {
    fail(fmt::format("there is no column {}{}; the task's genotypes have {} genes", kGene,
                     missing - columns.begin(), genes_));
  }
  columns_ = std::move(columns);
  cells_ = cells.size();
  return true;
}

float GeneReader::gene(std::string_view word, std::size_t number) const {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool is_number = error == std::errc() && end == word.data() + word.size();
  if (!is_number || !(value >= 0 && value <= 1)) {
    fail(fmt::format("gene {} is '{}', but genes are numbers from 0 to 1", number,
                     word.substr(0, 40)));
  }
  return static_cast<float>(value);
}

void GeneReader::parse_cells(std::string_view line, std::vector<float>& genes) const {
  const std::vector<std::string_view> cells = cells_of(line);
  if (cells.size() != cells_) {
    fail(fmt::format("{} cells, but the header has {}", cells.size(), cells_));
  }
  genes.clear();
  for (const std::size_t column : columns_) {
    genes.push_back(gene(cells[column], genes.size() + 1));
  }
}

void GeneReader::parse_genotype(std::string_view line, std::vector<float>& genes) const {
  genes.clear();
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(kSeparators), line.size()));
    if (line.empty()) break;
    const std::string_view word = line.substr(0, line.find_first_of(kSeparators));
    line.remove_prefix(word.size());
    genes.push_back(gene(word, genes.size() + 1));
  }
  if (genes.size() != genes_) {
    fail(fmt::format("{} genes, but the task's genotypes have {}", genes.size(), genes_));
  }
}

void GeneReader::read(Matrix<float>& genotypes, std::size_t limit) {
  genotypes = Matrix<float>(0, genes_);
  std::vector<float> genes;
  while (genotypes.rows() < limit && next_line()) {
    const std::string_view content = text_.substr(0, text_.find('#'));
    if (content.find_first_not_of(kSeparators) == std::string_view::npos) continue;
    if (!std::exchange(begun_, true) && take_header(content)) continue;
    if (cells_ > 0) {
      parse_cells(content, genes);
    } else {
      parse_genotype(content, genes);
    }
    genotypes.resize_rows(genotypes.rows() + 1);
    std::ranges::copy(genes, genotypes.row(genotypes.rows() - 1).begin());
  }
}

}  // namespace aurora
