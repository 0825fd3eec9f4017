#include "apps/aurora/gene_reader.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

class GeneFile {
 public:
  explicit GeneFile(const std::string& content)
      : path_(std::filesystem::temp_directory_path() /
              ("aurora_gene_reader_test_" + std::to_string(::getpid()))) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~GeneFile() { std::filesystem::remove(path_); }
  GeneFile(const GeneFile&) = delete;
  GeneFile& operator=(const GeneFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// All genotypes of a text, read `limit` at a time.
std::vector<std::vector<float>> read_all(const std::string& text, std::size_t genes,
                                         std::size_t limit = 100) {
  const GeneFile file(text);
  GeneReader reader(file.path(), genes);
  std::vector<std::vector<float>> all;
  Matrix<float> batch;
  for (;;) {
    reader.read(batch, limit);
    EXPECT_LE(batch.rows(), limit);
    if (batch.rows() == 0) return all;
    for (std::size_t i = 0; i < batch.rows(); ++i) {
      all.emplace_back(batch.row(i).begin(), batch.row(i).end());
    }
  }
}

using Rows = std::vector<std::vector<float>>;

TEST(GeneReader, TakesSpacesTabsCommasCommentsAndBlankLines) {
  const Rows expected = {{0.0F, 0.5F}, {1.0F, 0.25F}};
  for (const std::string text :
       {"0 0.5\n1 0.25\n", "0,0.5\n1,0.25", "  0.0\t5e-1 \r\n\r\n1.0 , .25\r\n",
        "# genes\n0 0.5 # first\n\n   \n#\n1,0.25,\n"}) {
    EXPECT_EQ(read_all(text, 2), expected) << text;
  }
  EXPECT_TRUE(read_all("", 2).empty());
  EXPECT_TRUE(read_all("\n# nothing\n , ,\n", 2).empty());
}

TEST(GeneReader, FindsTheGenesOfATableByTheirNames) {
  const Rows expected = {{0.25F, 0.5F}, {1.0F, 0.0F}};
  for (const std::string text :
       {"gene_0,gene_1\n0.25,0.5\n1,0\n",
        "id,fitness,gene_1,x,gene_0\r\n7,-3e9,0.5,,0.25\r\n8,,0,nan,1",
        "# ours\n\n\"a, b\", gene_0 ,gene_1,generation\n5,0.25,0.5,6\n\n# more\n5,1,0,6\n"}) {
    EXPECT_EQ(read_all(text, 2), expected) << text;
    EXPECT_EQ(read_all(text, 2, 1), expected) << text;
  }
  EXPECT_TRUE(read_all("gene_0,gene_1\n", 2).empty());
}

TEST(GeneReader, BatchesAreCutAnywhere) {
  std::string text;
  Rows expected;
  for (int i = 0; i < 23; ++i) {
    text += "0." + std::to_string(10 + i) + "\n";
    expected.push_back({std::stof("0." + std::to_string(10 + i))});
  }
  for (const std::size_t limit : {1U, 2U, 7U, 22U, 23U, 24U}) {
    EXPECT_EQ(read_all(text, 1, limit), expected);
  }
}

TEST(GeneReader, WhatIsWrongHasItsLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"id,gene_0\n", ":1: there is no column gene_1; the task's genotypes have 2 genes"},
      {"gene_0,gene_1,gene_2\n", ":1: there is a column gene_2, but the task's genotypes have 2"},
      {"gene_0,gene_1,gene_0\n", ":1: there are two columns gene_0"},
      {"gene_0,gene_1\n0,1\n0\n", ":3: 1 cells, but the header has 2"},
      {"gene_0,gene_1\n0,1,\n", ":2: 3 cells, but the header has 2"},
      {"gene_1,gene_0\n0,1.5\n", ":2: gene 1 is '1.5'"},
      {"gene_0,gene_1\n0,\n", ":2: gene 2 is ''"},
      {"0 0.5\ngene_0,gene_1\n", ":2: gene 1 is 'gene_0'"},
      {"id,fitness\n0,1\n", ":1: gene 1 is 'id'"},
      {"0 0.5\n0\n", ":2: 1 genes, but the task's genotypes have 2"},
      {"\n0 0.5 1\n", ":2: 3 genes"},
      {"0 1.5\n", ":1: gene 2 is '1.5'"},
      {"-0.1 0\n", ":1: gene 1 is '-0.1'"},
      {"1.0000001 0\n", "gene 1"},
      {"0 nan\n", "gene 2 is 'nan'"},
      {"inf 0\n", "gene 1 is 'inf'"},
      {"1e999 0\n", "gene 1 is '1e999'"},
      {"0 x\n", "gene 2 is 'x'"},
      {"0 0.5x\n", "gene 2 is '0.5x'"},
      {"0;0.5\n", "gene 1 is '0;0.5'"},
      {"[0, 0.5]\n", "gene 1 is '[0'"},
      {std::string("0 \0 0\n", 6), "gene 2"},
      {"0 0\n" + std::string(100000, ' ') + "\n", ":2: this line is longer than"},
  };
  for (const auto& [text, says] : cases) {
    SCOPED_TRACE(says);
    try {
      read_all(text, 2);
      ADD_FAILURE() << "was taken";
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
  }
}

TEST(GeneReader, FilesThatCannotBeReadAreErrors) {
  EXPECT_THROW(GeneReader("/no/such/file", 2), FileError);
  EXPECT_THROW(GeneReader(std::filesystem::temp_directory_path().string(), 2), FileError);
}

}  // namespace
}  // namespace aurora
