#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/intrusive_list.hpp"
#include "messages/exchange.hpp"
#include "messages/match_index.hpp"
#include "messages/request.hpp"
#include "messages/wire.hpp"
#include "packets/peer.hpp"

namespace headway::messages {

struct by_envelope {};  // tags of the places of an unexpected message
struct by_source {};
struct by_tag {};

/// An unexpected message: it, or its request to send, arrived before its receive was posted. Made
/// by `make_unexpected`, freed by `free_unexpected`.
struct unexpected_message : base::list_hook<>,
                            match_hook<by_envelope>,
                            match_hook<by_source>,
                            match_hook<by_tag> {
  packets::peer* from = nullptr;
  std::uint16_t context = 0;
  int source = 0;
  int tag = 0;
  bool is_rts = false;
  bool given_up = false;         // stands for a message that will never come
  packets::announced announced;  // of a request to send
  std::size_t bytes = 0;         // of the message
  std::uint32_t charge = 0;      // what it takes of the peer's credits
  [[nodiscard]] std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

/// Copies an arrived eager message (`payload`) or notes a request to send. nullptr: out of memory.
[[nodiscard]] unexpected_message* make_unexpected(packets::peer& from, const envelope& match,
                                                  std::span<const std::byte> payload) noexcept;
[[nodiscard]] unexpected_message* make_unexpected(packets::peer& from,
                                                  const rts& announced) noexcept;
void free_unexpected(unexpected_message* message) noexcept;

/// Posted receives and unexpected messages of one context.
/// Shape:    posted receives by (source, tag) as they were posted, wildcards included: a message
///           asks for the four patterns that admit it, as far as there are such receives, and takes
///           the one with the lowest number of posting. Unexpected messages by (source, tag), and in the
///           order of their arrival; also by source and by tag alone from the first receive with
///           that wildcard on until all are gone. Every operation takes constant time, however many
///           wait, as long as `widen` follows where `bins_wanted`.
/// Threads:  none: the context's lock guards it.
/// Source:   MPI-5.0 section 3.5 (order); M. Flajslik et al., ISC 2016; A. Denis, CCGrid 2019.
class matcher {
 public:
  matcher() noexcept;
  ~matcher();
  matcher(const matcher&) = delete;
  matcher& operator=(const matcher&) = delete;

  struct pattern {
    int source;
    int tag;
    [[nodiscard]] bool admits(int s, int t) const noexcept {
      return (source == any_source || source == s) && (tag == any_tag || tag == t);
    }
  };

  /// The oldest posted receive for such a message, taken out; or nullptr.
  [[nodiscard]] request* take_posted(int source, int tag) noexcept;
  void post(request& r, pattern wanted) noexcept;
  void withdraw(request& r) noexcept;
  /// The oldest unexpected message that such a receive would get, or nullptr.
  [[nodiscard]] unexpected_message* find_unexpected(pattern wanted) noexcept;
  void add_unexpected(unexpected_message& message) noexcept;
  void remove_unexpected(unexpected_message& message) noexcept;
  /// Whether `enough(request)` holds for a posted receive; asks no further then.
  template <class Enough>
  [[nodiscard]] bool any_posted(Enough enough) const noexcept {
    return posted_.find_if(enough) != nullptr;
  }
  /// Takes out one posted receive for which `wanted(request)` holds, or nullptr.
  template <class Wanted>
  [[nodiscard]] request* take_posted_if(Wanted wanted) noexcept {
    request* const found = posted_.find_if(wanted);
    if (found) withdraw(*found);
    return found;
  }

  /// Bins of one size for all that waits. Made and freed without the context's lock.
  struct bins {
    std::unique_ptr<match_index<request>::bin[]> posted;
    std::unique_ptr<match_index<unexpected_message, by_envelope>::bin[]> envelopes;
    std::unique_ptr<match_index<unexpected_message, by_source>::bin[]> sources;
    std::unique_ptr<match_index<unexpected_message, by_tag>::bin[]> tags;
    std::size_t count = 0;
    /// `count` is 0: out of memory.
    [[nodiscard]] static bins make(std::size_t count) noexcept;
  };
  /// How many bins what waits should have; 0: it has enough.
  [[nodiscard]] std::size_t bins_wanted() const noexcept {
    const auto keys = std::max(posted_.keys(), by_envelope_.keys());
    return keys <= posted_.bins() ? 0 : posted_.bins() * growth;
  }
  /// Takes them into use, unless there are as many already; `with` then has the old ones.
  void widen(bins& with) noexcept;

 private:
  static constexpr std::size_t bins_at_first = 64;
  static constexpr std::size_t bins_at_first_by_wildcard = 16;
  static constexpr std::size_t growth = 8;
  template <class Index, std::size_t Count>
  using first_bins = std::array<typename Index::bin, Count>;
  using posted_index = match_index<request>;
  using envelope_index = match_index<unexpected_message, by_envelope>;
  using source_index = match_index<unexpected_message, by_source>;
  using tag_index = match_index<unexpected_message, by_tag>;

  [[nodiscard]] static std::uint64_t key_of(int source, int tag) noexcept {
    return std::uint64_t{static_cast<std::uint32_t>(source)} << 32 |
           static_cast<std::uint32_t>(tag);
  }
  /// Of the four kinds of patterns; 0: no wildcard.
  [[nodiscard]] static std::size_t kind_of(std::uint64_t key) noexcept {
    return (key >> 32 == static_cast<std::uint32_t>(any_source) ? 1u : 0u) |
           (static_cast<std::uint32_t>(key) == static_cast<std::uint32_t>(any_tag) ? 2u : 0u);
  }
  void index_by_source() noexcept;
  void index_by_tag() noexcept;

  // What every message reads comes first, near the context's lock.
  posted_index posted_;
  std::uint64_t posted_so_far_ = 0;
  std::uint32_t wildcards_ = 0;  // among the posted
  std::array<std::uint32_t, 4> posted_of_kind_{};
  base::intrusive_list<unexpected_message> arrivals_;
  envelope_index by_envelope_;
  bool has_by_source_ = false;  // all that waits is in it, too
  bool has_by_tag_ = false;
  source_index by_source_;
  tag_index by_tag_;
  bins wider_;  // in use instead of these, if it has some
  first_bins<posted_index, bins_at_first> first_posted_{};
  first_bins<envelope_index, bins_at_first> first_by_envelope_{};
  first_bins<source_index, bins_at_first_by_wildcard> first_by_source_{};
  first_bins<tag_index, bins_at_first_by_wildcard> first_by_tag_{};
};

}  // namespace headway::messages
