#include "common.hpp"

#include <cstdio>
#include <cstdlib>
#include <random>

namespace oracle {
namespace {

constexpr std::size_t places = 4096;

std::vector<unsigned char> random_text() {
  std::mt19937 random(1);
  std::vector<unsigned char> text(bytes_max + places + 64);
  for (auto& one : text) one = static_cast<unsigned char>(random());
  return text;
}

}  // namespace

std::size_t size_of(std::uint32_t random) noexcept {
  const std::size_t rest = random / 16;
  switch (random % 16) {
    case 0:
      return rest % bytes_max;
    case 1:
    case 2:
      return rest % (20 << 10);
    case 3:
      return 0;
    default:
      return rest % 200;
  }
}

const unsigned char* contents(std::uint32_t number) noexcept {
  static const auto text = random_text();
  return text.data() + (number * 2654435761u >> 16) % places;
}

void wrong(const char* what, long which) {
  std::fprintf(stderr, "oracle: %s (%ld)\n", what, which);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

}  // namespace oracle
