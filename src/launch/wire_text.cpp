#include "launch/wire_text.hpp"

#include <sodium.h>

namespace headway::launch {
namespace {

constexpr int wire_variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;

}  // namespace

std::string to_wire_text(std::span<const std::byte> bytes) {
  std::string text(sodium_base64_encoded_len(bytes.size(), wire_variant), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                    bytes.size(), wire_variant);
  text.pop_back();  // sodium's terminating zero
  return text;
}

std::optional<std::vector<std::byte>> from_wire_text(std::string_view text) {
  std::vector<std::byte> bytes(text.size() / 4 * 3 + 3);
  std::size_t size = 0;
  const int status =
      sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(),
                        text.size(), nullptr, &size, nullptr, wire_variant);
  if (status != 0) return std::nullopt;
  bytes.resize(size);
  return bytes;
}

}  // namespace headway::launch
