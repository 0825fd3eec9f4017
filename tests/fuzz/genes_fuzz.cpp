#include <cstdlib>

#include "apps/aurora/gene_reader.hpp"
#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aurora;
  const auto file = fuzz::scratch() / "genes.txt";
  fuzz::write(file, data, size);
  fuzz::expect_error_of_ours([&] {
    GeneReader reader(file.string(), 3);
    Matrix<float> genotypes;
    do {
      reader.read(genotypes, 4);
      for (std::size_t row = 0; row < genotypes.rows(); ++row) {
        for (const float gene : genotypes.row(row)) {
          if (!(gene >= 0 && gene <= 1)) std::abort();
        }
      }
    } while (genotypes.rows() > 0);
  });
  return 0;
}
