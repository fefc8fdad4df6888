#include "launch/card.hpp"

#include <sodium.h>

#include <cstdint>

#include "base/assert.hpp"

namespace headway::launch {
namespace {

constexpr int wire_variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;

/// Cuts bytes off the front of a span; once it failed, everything after fails too.
class cutter {
 public:
  explicit cutter(std::span<const std::byte> bytes) : rest_(bytes) {}
  [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }
  [[nodiscard]] bool failed() const noexcept { return failed_; }

  std::span<const std::byte> cut(std::size_t count) noexcept {
    if (count > rest_.size()) failed_ = true;
    if (failed_) return {};
    const auto front = rest_.first(count);
    rest_ = rest_.subspan(count);
    return front;
  }
  std::size_t cut_number(std::size_t bytes) noexcept {
    std::size_t value = 0, shift = 0;
    for (const auto b : cut(bytes)) {
      value |= std::to_integer<std::size_t>(b) << shift;
      shift += 8;
    }
    return value;
  }

 private:
  std::span<const std::byte> rest_;
  bool failed_ = false;
};

}  // namespace

std::vector<std::byte> pack_card(const card& entries) {
  std::vector<std::byte> out;
  for (const auto& [name, value] : entries) {
    HEADWAY_ASSERT(name.size() <= card_name_bytes_max && value.size() <= card_bytes_max);
    out.push_back(static_cast<std::byte>(name.size()));
    for (const char c : name) out.push_back(static_cast<std::byte>(c));
    for (int shift = 0; shift < 32; shift += 8)
      out.push_back(static_cast<std::byte>(value.size() >> shift & 0xff));
    out.insert(out.end(), value.begin(), value.end());
  }
  return out;
}

std::optional<card> unpack_card(std::span<const std::byte> bytes) {
  card entries;
  for (cutter in(bytes); !in.empty();) {
    const auto name_size = in.cut_number(1);
    if (name_size > card_name_bytes_max) return std::nullopt;
    const auto name = in.cut(name_size);
    const auto value = in.cut(in.cut_number(4));
    if (in.failed()) return std::nullopt;
    std::string key;
    for (const auto b : name) key += static_cast<char>(b);
    entries.insert_or_assign(std::move(key), std::vector(value.begin(), value.end()));
  }
  return entries;
}

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
