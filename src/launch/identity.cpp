#include "launch/identity.hpp"

#include <fmt/format.h>
#include <sodium.h>

namespace headway::launch {
namespace {

constexpr std::int64_t ranks_max = 1 << 24;

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '_' || c == '.';
}

}  // namespace

bool is_place(std::int64_t rank, std::int64_t size) noexcept {
  return size >= 1 && size <= ranks_max && rank >= 0 && rank < size;
}

std::string file_safe(std::string_view name) {
  std::string safe;
  for (const char c : name.substr(0, 48)) safe += is_plain(c) ? c : '_';
  if (safe == name && !safe.empty() && safe.front() != '.') return safe;
  std::array<unsigned char, 8> hash;
  crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(name.data()),
                     name.size(), nullptr, 0);
  if (!safe.empty() && safe.front() == '.') safe.front() = '_';
  safe += '-';
  for (const auto byte : hash) safe += fmt::format("{:02x}", byte);
  return safe;
}

}  // namespace headway::launch
