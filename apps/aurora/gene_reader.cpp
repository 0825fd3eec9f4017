#include "apps/aurora/gene_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

constexpr std::string_view kSeparators = " \t\r,";

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

void GeneReader::parse_genotype(std::string_view line, std::vector<float>& genes) const {
  genes.clear();
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(kSeparators), line.size()));
    if (line.empty()) break;
    const std::string_view word = line.substr(0, line.find_first_of(kSeparators));
    line.remove_prefix(word.size());
    double gene = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), gene);
    const bool number = error == std::errc() && end == word.data() + word.size();
    if (!number || !(gene >= 0 && gene <= 1)) {
      fail(fmt::format("gene {} is '{}', but genes are numbers from 0 to 1", genes.size() + 1,
                       word.substr(0, 40)));
    }
    genes.push_back(static_cast<float>(gene));
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
    parse_genotype(content, genes);
    genotypes.resize_rows(genotypes.rows() + 1);
    std::ranges::copy(genes, genotypes.row(genotypes.rows() - 1).begin());
  }
}

}  // namespace aurora
