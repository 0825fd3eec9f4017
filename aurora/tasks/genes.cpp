#include "aurora/tasks/genes.hpp"

#include <fmt/format.h>

#include "aurora/core/errors.hpp"

namespace aurora {

void check_genes(std::span<const float> genes, std::size_t count, std::string_view owner) {
  if (genes.size() != count) {
    throw DataError(fmt::format("a {} has {} genes, not {}", owner, count, genes.size()));
  }
  for (const float gene : genes) {
    // Written so that NaN is outside.
    if (!(gene >= 0 && gene <= 1)) {
      throw DataError(fmt::format("a gene of a {} is {}; genes lie in [0, 1]", owner, gene));
    }
  }
}

}  // namespace aurora
