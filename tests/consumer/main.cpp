// A project of somebody else's, against the installed library.
#include <algorithm>
#include <aurora/runs/parts.hpp>
#include <cstdio>

int main() {
  const aurora::Parts parts = aurora::builtin_parts();
  const auto maze = parts.task(parts.tasks.find("maze"), {});
  aurora::Matrix<float> genotypes(1, maze->spec().genotype_size);
  std::fill_n(genotypes.data(), genotypes.cols(), 0.5F);  // all weights 0: the robot stands still
  aurora::Evaluation evaluation(maze->spec(), 1);
  maze->evaluate(genotypes, evaluation.view());
  std::printf("%s: %zu genes, a still robot scores %g\n", maze->spec().name.c_str(),
              maze->spec().genotype_size, 0.0 + static_cast<double>(evaluation.fitness[0]));
}
