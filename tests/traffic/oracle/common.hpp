#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace oracle {

struct settings {
  std::uint32_t seed = 1;
  int threads = 2;
  int messages = 2000;  ///< of all ranks, in a round
  int collectives = 0;  ///< of each thread with those of its number on the other ranks, in a round
  int one_sided = 0;    ///< of each thread, in a round
  int rank = 0, size = 1;
};

/// The longest message.
constexpr std::size_t bytes_max = 300 << 10;

/// Most are short, as in programs; one in sixteen is up to `bytes_max` long.
[[nodiscard]] std::size_t size_of(std::uint32_t random) noexcept;

/// The contents of what has this number: `bytes` of them, which are part of a random text at a
/// place that the number determines.
[[nodiscard]] const unsigned char* contents(std::uint32_t number) noexcept;

/// Ends the job: what arrived is not what was sent.
[[noreturn]] void wrong(const char* what, long which);

/// A communicator of its own for each thread, and one for each of its ways of matching.
enum way { by_source_and_tag, by_tag, by_source, anything, way_count };
struct communicators {
  MPI_Comm matching[way_count];
  MPI_Comm own;
};

}  // namespace oracle
