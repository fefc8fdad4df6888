#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/intrusive_list.hpp"
#include "messages/exchange.hpp"
#include "messages/request.hpp"
#include "messages/wire.hpp"
#include "packets/peer.hpp"

namespace headway::messages {

struct bin_order {};  // tags of the two lists that a parked message is in
struct arrival_order {};

/// A message, or the offer of one, that came before its receive. Made by `park`, freed by `unpark`.
struct parked : base::list_hook<bin_order>, base::list_hook<arrival_order> {
  packets::peer* from = nullptr;
  std::uint16_t context = 0;
  int source = 0;
  int tag = 0;
  bool is_offer = false;
  bool given_up = false;      // stands for a message that will never come
  std::uint32_t send_id = 0;  // of an offer
  std::size_t bytes = 0;      // of the message
  std::uint32_t charge = 0;   // what it takes of the peer's credits
  [[nodiscard]] std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

/// Copies an arrived eager message (`payload`) or notes an offer. nullptr: out of memory.
[[nodiscard]] parked* park(packets::peer& from, const envelope& match,
                           std::span<const std::byte> payload) noexcept;
[[nodiscard]] parked* park(packets::peer& from, const offer& offered) noexcept;
void unpark(parked* message) noexcept;

/// Posted receives and parked messages of one context.
/// Shape:    64 bins by source and tag, so that lists stay short; wildcards have one list of their
///           own and a number says who was posted first.
/// Threads:  none: the context's lock guards it.
/// Source:   MPI-5.0 section 3.5 (order); the bins after M. Flajslik et al., ISC 2016, and
///           A. Denis, CCGrid 2019.
class matcher {
 public:
  matcher() = default;
  ~matcher();
  matcher(const matcher&) = delete;
  matcher& operator=(const matcher&) = delete;

  struct pattern {
    int source;
    int tag;
    [[nodiscard]] bool wild() const noexcept { return source == any_source || tag == any_tag; }
    [[nodiscard]] bool admits(int s, int t) const noexcept {
      return (source == any_source || source == s) && (tag == any_tag || tag == t);
    }
  };

  /// The oldest posted receive for such a message, taken out; or nullptr.
  [[nodiscard]] request* take_posted(int source, int tag) noexcept;
  void post(request& r, pattern wanted) noexcept;
  void withdraw(request& r, pattern wanted) noexcept;
  /// The oldest parked message that such a receive would get, or nullptr.
  [[nodiscard]] parked* find_parked(pattern wanted) noexcept;
  void add_parked(parked& message) noexcept;
  void remove_parked(parked& message) noexcept;
  /// Takes out one posted receive for which `wanted(request)` holds, or nullptr.
  template <class Wanted>
  [[nodiscard]] request* take_posted_if(Wanted wanted) noexcept {
    const auto from = [&](base::intrusive_list<request>& list) -> request* {
      for (request* r = list.front(); r; r = list.after(*r)) {
        if (!wanted(*r)) continue;
        list.erase(*r);
        return r;
      }
      return nullptr;
    };
    if (request* r = from(wild_)) return r;
    for (auto& bin : posted_)
      if (request* r = from(bin)) return r;
    return nullptr;
  }

 private:
  static constexpr std::size_t bin_count = 64;
  [[nodiscard]] static std::size_t bin_of(int source, int tag) noexcept {
    const auto mixed = (static_cast<std::uint32_t>(source) * 0x85ebca6bu) ^
                       (static_cast<std::uint32_t>(tag) * 0x9e3779b1u);
    return mixed >> 26;
  }

  std::array<base::intrusive_list<request>, bin_count> posted_;
  base::intrusive_list<request> wild_;
  std::array<base::intrusive_list<parked, bin_order>, bin_count> parked_;
  base::intrusive_list<parked, arrival_order> arrivals_;
  std::uint64_t posted_so_far_ = 0;
};

}  // namespace headway::messages
