// OpenMP, of GNU or of LLVM, as it is linked. The environment determines how its threads wait, how
// many they are and whether they are bound.

#include "untouched.hpp"

int main(int argc, char** argv) {
  return untouched::run(argc, argv, [](untouched::arrival& message) {
    double sum = 0;
    bool over = false;
    while (!over) {
#pragma omp parallel reduction(+ : sum)
      for (int i = 0; i < 5; ++i) sum += untouched::piece_of_work(i);
      // All threads have arrived here; until the next region they wait as their runtime does.
      over = message.over();
    }
  });
}
