#pragma once

#include <cstdint>
#include <vector>

#include "base/spinlock.hpp"
#include "messages/matching.hpp"
#include "packets/peer.hpp"

namespace headway::messages {

/// A matching space: ranks, and what waits there. See exchange.hpp.
struct exchange_parts;

class context {
 public:
  context(exchange_parts& parts, std::uint16_t id, int self, std::vector<packets::peer*> ranks, bool collective)
      : parts(parts), id(id), self(self), collective(collective), ranks(std::move(ranks)) {}

  exchange_parts& parts;
  const std::uint16_t id;
  const int self;
  const bool collective;
  const std::vector<packets::peer*> ranks;

  base::spinlock lock;  // guards the rest: no call out of this room is made under it
  matcher waiting;
  int lost_ranks = 0;
};

}  // namespace headway::messages
