#include "mpi/objects/memory_alignment.hpp"

#include <bit>
#include <charconv>
#include <system_error>

namespace headway::mpi {

std::size_t minimum_alignment(const info* hints) {
  constexpr std::size_t greatest = std::size_t{1} << 30;
  const auto text = hints != nullptr ? hints->get(minimum_alignment_hint) : std::nullopt;
  if (!text) return 1;
  std::size_t bytes = 0;
  const char* const end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, bytes);
  const bool is_number = read.ec == std::errc() && read.ptr == end;
  return is_number && std::has_single_bit(bytes) && bytes <= greatest ? bytes : 1;
}

}  // namespace headway::mpi
