#include "rails/tcp/record.hpp"

#include <algorithm>

#include "rails/tcp/wire.hpp"

namespace headway::rails::tcp::record {
namespace {

constexpr char kdf_context[crypto_kdf_CONTEXTBYTES + 1] = "hwrecord";
constexpr std::uint64_t content_subkey = 1, length_subkey = 2;

std::array<std::byte, crypto_shorthash_BYTES> hash_of(std::uint32_t content_bytes,
                                                      std::uint64_t number,
                                                      const keys& use) noexcept {
  std::array<std::byte, sizeof number + sizeof content_bytes> said;
  put_number(&said[0], number);
  put_number(&said[sizeof number], content_bytes);
  std::array<std::byte, crypto_shorthash_BYTES> made;
  crypto_shorthash(sodium_bytes(made.data()), sodium_bytes(said.data()), said.size(),
                   use.length.data());
  return made;
}

}  // namespace

keys::keys(const authentication::key& from) noexcept {
  static_assert(sizeof from == crypto_kdf_KEYBYTES);
  const auto* const key = sodium_bytes(from.data());
  crypto_kdf_derive_from_key(content.data(), content.size(), content_subkey, kdf_context, key);
  crypto_kdf_derive_from_key(length.data(), length.size(), length_subkey, kdf_context, key);
}

head_image encode(std::uint32_t content_bytes, std::uint64_t number, const keys& use) noexcept {
  head_image made;
  put_number(&made[0], content_bytes);
  std::ranges::copy(hash_of(content_bytes, number, use), &made[sizeof content_bytes]);
  return made;
}

std::optional<std::uint32_t> decode(std::span<const std::byte, head_bytes> image,
                                    std::uint64_t number, const keys& use) noexcept {
  const auto content_bytes = get_number<std::uint32_t>(&image[0]);
  const auto expected = hash_of(content_bytes, number, use);
  const bool valid =
      sodium_memcmp(&image[sizeof content_bytes], expected.data(), expected.size()) == 0;
  if (!valid || content_bytes == 0 || content_bytes > content_bytes_max) return std::nullopt;
  return content_bytes;
}

}  // namespace headway::rails::tcp::record
