#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "messages/exchange.hpp"
#include "packets/peers.hpp"
#include "tests/silent_driver.hpp"

namespace headway::packets::testing {

/// A network in memory with several rails between each pair, each of which can be cut, muted and
/// mended. On a seed its drivers answer `retry`, post instead of taking, and deliver late.
/// Threads:  any; one lock.
class cables {
 public:
  explicit cables(std::uint32_t seed) : random_(seed) {}
  class driver;

  /// A reset: both ends are told, what is under way is gone.
  void cut(std::uint32_t rail, std::uint32_t a, std::uint32_t b);
  /// Nobody is told: what is sent does not arrive, until `mend` or until an end gives up. Nor does
  /// anybody get through with a new connection meanwhile.
  void mute(std::uint32_t rail, std::uint32_t a, std::uint32_t b);
  void mend(std::uint32_t rail, std::uint32_t a, std::uint32_t b);
  /// Packets may come twice, which no driver does.
  bool doubles = false;

 private:
  friend class driver;
  struct parcel {
    std::vector<std::byte> bytes;  // of an ordinary packet
    std::uint32_t zone = 0;        // of a piece
    std::uint64_t offset = 0;
  };
  struct end {
    bool up = true;
    bool wants = false;         // revive
    std::deque<parcel> coming;  // to this end
  };
  struct cord {
    bool muted = false;
    end ends[2];  // of the lower rank, of the higher
  };
  using key = std::pair<std::uint32_t, std::uint32_t>;
  cord& between(std::uint32_t rail, std::uint32_t a, std::uint32_t b);
  end& end_of(std::uint32_t rail, std::uint32_t whose, std::uint32_t other);
  void lose(std::uint32_t rail, std::uint32_t whose, std::uint32_t other);
  void meet(std::uint32_t rail, std::uint32_t a, std::uint32_t b);
  bool chance(unsigned one_in) { return random_() % one_in == 0; }

  std::mutex lock_;
  std::mt19937 random_;
  std::map<std::pair<std::uint32_t, key>, cord> cords_;
  std::map<key, driver*> drivers_;  // by rail and rank
};

class cables::driver final : public rails::testing::silent_driver {
 public:
  driver(cables& net, std::uint32_t rail, std::uint32_t self);

  rails::limits query() const noexcept override;
  base::result<> connect(rails::peer_id peer, std::span<const std::byte>) override;
  rails::post send(rails::peer_id peer, const rails::packet& what) noexcept override;
  bool land(rails::peer_id, rails::landing_id id, std::span<std::byte> target) noexcept override;
  void unland(rails::landing_id id) noexcept override;
  std::size_t reap(std::span<rails::event> out) noexcept override;
  void sever(rails::peer_id peer) noexcept override;
  void revive(rails::peer_id peer) noexcept override;

 private:
  friend class cables;
  void tell(const rails::event& e) { events_.push_back(e); }

  cables& net_;
  const std::uint32_t rail_, self_;
  std::vector<std::uint32_t> others_;
  std::deque<rails::event> events_;
  std::deque<parcel> held_;
  std::map<std::uint32_t, std::span<std::byte>> zones_;
};

/// `count` processes in one, with so many rails between each two; only the test polls.
class processes {
 public:
  processes(std::uint32_t count, std::uint32_t rails, std::uint32_t seed);
  ~processes();
  cables net;

  packets::peers& peers(std::size_t i) { return *all_[i].peers; }
  messages::exchange& at(std::size_t i) { return *all_[i].messages; }
  messages::context* open(std::size_t i, std::uint32_t id);
  void poll();
  template <class Enough>
  bool poll_until(Enough enough, std::uint64_t within_ms = 60'000) {
    const auto until = base::now_ns() + within_ms * 1'000'000;
    while (!enough()) {
      if (base::now_ns() > until) return enough();
      poll();
    }
    return true;
  }

 private:
  struct one {
    std::unique_ptr<progress::engine> engine;
    std::unique_ptr<packets::peers> peers;
    std::unique_ptr<messages::exchange> messages;
  };
  std::unique_ptr<topology::machine> machine_;
  std::vector<one> all_;
};

}  // namespace headway::packets::testing
