// Individuals as columns: row i of every column belongs to individual i. A batch of offspring and
// the content of a container have the same form, but for the sensory data: that of a container is
// frozen, and copies of the container share it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aurora/core/matrix.hpp"
#include "aurora/core/sensory_data.hpp"

namespace aurora {

/// Sizes of the columns.
struct IndividualsLayout {
  std::size_t genotype_size = 0;
  std::size_t descriptor_size = 0;
  std::size_t ground_truth_size = 0;
  SensoryShape sensory;
  std::vector<std::string> extra = {};  // names of columns that a part wants for itself
};

struct Individuals {
  Matrix<float> genotypes;
  std::vector<float> fitness;
  Matrix<float> descriptors;
  std::vector<float> reconstruction_error;  // the surprise score; 0 where nobody asked for it
  Matrix<float> ground_truth;
  SensoryData sensory;
  std::vector<std::uint64_t> ids;  // unique, growing with time: a larger id is a younger individual
  std::vector<std::string> extra_names;
  Matrix<float> extra;  // a column for each of the names; 0 at birth

  Individuals() = default;
  explicit Individuals(const IndividualsLayout& layout, std::size_t rows = 0)
      : genotypes(0, layout.genotype_size),
        descriptors(0, layout.descriptor_size),
        ground_truth(0, layout.ground_truth_size),
        sensory(layout.sensory),
        extra_names(layout.extra),
        extra(0, layout.extra.size()) {
    resize(rows);
  }

  std::size_t size() const { return fitness.size(); }

  void resize(std::size_t rows) {
    genotypes.resize_rows(rows);
    fitness.resize(rows);
    descriptors.resize_rows(rows);
    reconstruction_error.resize(rows);
    ground_truth.resize_rows(rows);
    sensory.resize_rows(rows);
    ids.resize(rows);
    extra.resize_rows(rows);
  }

  /// Overwrites row `to` with row `from` of `source` (which may be *this).
  void copy_row(const Individuals& source, std::size_t from, std::size_t to) {
    std::ranges::copy(source.genotypes.row(from), genotypes.row(to).begin());
    fitness[to] = source.fitness[from];
    std::ranges::copy(source.descriptors.row(from), descriptors.row(to).begin());
    reconstruction_error[to] = source.reconstruction_error[from];
    std::ranges::copy(source.ground_truth.row(from), ground_truth.row(to).begin());
    sensory.copy_row(source.sensory, from, to);
    ids[to] = source.ids[from];
    std::ranges::copy(source.extra.row(from), extra.row(to).begin());
  }

  /// Number of the extra column called `name`; DataError if there is none.
  std::size_t extra_column(std::string_view name) const;
};

/// Rows in ascending order of ids: oldest first, whatever order they are stored in.
std::vector<std::uint32_t> rows_by_age(const Individuals& individuals);

/// Whether rows of one may be copied into the other.
bool same_columns(const Individuals& a, const Individuals& b);

/// No NaN and no infinity among the values.
bool all_finite(std::span<const float> values);
bool all_finite(std::span<const double> values);

/// Every gene is in [0, 1].
bool has_valid_genes(const Individuals& individuals);

/// DataError if two individuals have the same id.
void check_ids(const Individuals& individuals);

/// Nothing that its evaluation gave is NaN or infinite. An encoder may still fail to describe it.
bool is_evaluated(const Individuals& individuals, std::size_t row);

/// Nothing about the individual is NaN or infinite; only such individuals may enter a container.
bool is_finite(const Individuals& individuals, std::size_t row);

}  // namespace aurora
