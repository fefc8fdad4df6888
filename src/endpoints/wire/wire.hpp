#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "endpoints/buffers/block.hpp"
#include "packets/send_item.hpp"
#include "packets/transfer/transfer.hpp"

namespace headway::endpoints {

/// Kinds of packets. Both ends run the same build, with the same byte order.
enum class wire_kind : std::uint8_t {
  data = packets::beside_kinds,  ///< message_head, then the message
  shared,                        ///< shared_head: the message lies in memory that both map
  announced,                     ///< bulk_head: the message comes by a rendezvous, or into a zone
  credit,                        ///< message_head: `tag` units of the window at `from` are free
  gone,                          ///< message_head: there is no end-point `to.id` here (any more)
  name_add,                      ///< name_head, then the name: it becomes that of `id`
  name_added,                    ///< the answer, in `status`
  name_ask,                      ///< which end-point has it; `status` 1: answer when one has
  name_told,                     ///< the answer: `status`, `process`, `id`
  name_forget,                   ///< the answer to `token` is not needed any more
  name_remove,                   ///< `id` of the sender unregisters the name
  name_removed,                  ///< remove it from the cache
  region_offered,                ///< plain_head, then a region_offer: asks for a mapping
  region_answer,                 ///< plain_head: `value` 1: the region of `process` is mapped
  packed,                        ///< plain_head, then messages, each behind a packed_entry
  zone_opened,                   ///< zone_head: a zone is preposted for a large message
  leaving,                       ///< plain_head: the process sends nothing more
  lent,                          ///< as `shared`, and the sender keeps the memory
};

struct message_head {
  std::uint32_t credit_of_stream = 0;
  wire_kind kind = wire_kind::data;
  std::uint8_t zero = 0;
  std::uint16_t charge = 0;
  std::uint32_t to = 0;    ///< the receiver's id of the end-point
  std::uint32_t from = 0;  ///< the sender's, or 0
  std::int32_t tag = 0;
};
static_assert(sizeof(message_head) == 20);

/// A message_head that is written in whole words, because a rail reads it in words immediately
/// afterwards: see base::optimizer_barrier.
class head_in_words {
 public:
  explicit head_in_words(const message_head& of) noexcept {
    if constexpr (std::endian::native == std::endian::little) {
      words_ = {static_cast<std::uint64_t>(of.charge) << 48 |
                    static_cast<std::uint64_t>(of.kind) << 32 | of.credit_of_stream,
                std::uint64_t{of.from} << 32 | of.to, static_cast<std::uint32_t>(of.tag)};
    } else {
      std::memcpy(words_.data(), &of, sizeof of);
    }
  }
  [[nodiscard]] std::span<std::byte> bytes() noexcept {
    return std::as_writable_bytes(std::span(words_)).first(sizeof(message_head));
  }

 private:
  std::array<std::uint64_t, 3> words_;
};

struct shared_head {
  message_head message;
  std::uint32_t owner = 0;  ///< the owner of the region
  std::uint64_t place = 0;  ///< of the block there
  std::uint64_t bytes = 0;
};
static_assert(sizeof(shared_head) <= packets::send_item::head_bytes_max);

struct bulk_head {
  message_head message;
  std::uint32_t transfer = 0;  ///< its tag in `messages`
  std::uint64_t bytes = 0;
  std::uint32_t zone = 0;  ///< one that the receiver has preposted; 0: none
  /// 1: the message goes into `zone`; 0: by a rendezvous, and `zone` is not used
  std::uint32_t uses = 0;
};
static_assert(sizeof(bulk_head) <= packets::send_item::head_bytes_max);

struct zone_head {
  std::uint32_t credit_of_stream = 0;
  wire_kind kind = wire_kind::zone_opened;
  std::uint8_t zero[3] = {};
  packets::preposted zone = {};
};
static_assert(sizeof(zone_head) <= packets::send_item::head_bytes_max);

struct name_head {
  std::uint32_t credit_of_stream = 0;
  wire_kind kind = wire_kind::name_ask;
  std::uint8_t status = 0;
  std::uint16_t name_bytes = 0;
  std::uint32_t token = 0;  ///< that of the question, returned in the answer
  std::uint32_t process = 0;
  std::uint32_t id = 0;
};
static_assert(sizeof(name_head) == 20);

struct plain_head {
  std::uint32_t credit_of_stream = 0;
  wire_kind kind = wire_kind::leaving;
  std::uint8_t zero[3] = {};
  std::uint32_t process = 0;
  std::uint32_t value = 0;
};
static_assert(sizeof(plain_head) == 16);

/// The head of a message among others in one packet.
struct packed_entry {
  std::uint32_t to = 0;
  std::uint32_t from = 0;
  std::int32_t tag = 0;
  std::uint16_t bytes = 0;
  std::uint16_t charge = 0;
};
static_assert(sizeof(packed_entry) == 16);

inline constexpr std::size_t name_bytes_max = 255;

using packets::read_head;
using packets::write_head;

/// A name packet, checked: false if its name is not whole, empty or too long.
[[nodiscard]] inline bool read_name(std::span<const std::byte> bytes, name_head& head,
                                    std::string_view& name) noexcept {
  if (!read_head(bytes, head)) return false;
  const auto rest = bytes.subspan(sizeof head);
  if (rest.size() != head.name_bytes || rest.empty() || rest.size() > name_bytes_max) return false;
  name = {reinterpret_cast<const char*>(rest.data()), rest.size()};
  return true;
}

}  // namespace headway::endpoints
