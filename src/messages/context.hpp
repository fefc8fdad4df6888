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
  context(exchange_parts& of, std::uint16_t number, int own_rank,
          std::vector<packets::peer*> members, bool is_collective)
      : parts(of),
        id(number),
        self(own_rank),
        collective(is_collective),
        ranks(std::move(members)) {}

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
