#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.hpp"
#include "rails/driver.hpp"

namespace headway::rails {

/// What other processes may do with exposed bytes. Values are combined.
enum class access : std::uint8_t {
  get = 1,
  put = 2,
  atomic = 4,
  notified = 8,  ///< with `put`: the exposing process reports arriving bytes as `landed`
};

[[nodiscard]] constexpr access operator|(access a, access b) noexcept {
  return static_cast<access>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
[[nodiscard]] constexpr bool allows(access given, access wanted) noexcept {
  return (static_cast<std::uint8_t>(given) & static_cast<std::uint8_t>(wanted)) ==
         static_cast<std::uint8_t>(wanted);
}

/// The processes that may use an exposure: all of the job, or one.
class process_set {
 public:
  [[nodiscard]] static constexpr process_set any() noexcept { return {}; }
  [[nodiscard]] static constexpr process_set only(peer_id peer) noexcept {
    process_set one;
    one.any_ = false;
    one.peer_ = peer;
    return one;
  }
  [[nodiscard]] constexpr bool has(peer_id peer) const noexcept { return any_ || peer_ == peer; }

 private:
  peer_id peer_{};
  bool any_ = true;
};

/// What another process needs to reach exposed bytes. Plain data: it is sent in a packet to
/// processes that run the same build. Only the driver interprets `id` and `address`.
struct ticket {
  std::uint64_t id = 0;  ///< of the exposure; never used twice by a driver. 0: none
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;

  bool operator==(const ticket&) const = default;
};
static_assert(sizeof(ticket) <= 32, "a ticket fits into the head of a packet");

/// Bytes to expose.
struct exposure {
  std::span<std::byte> bytes = {};
  access rights = access::put | access::notified;
  process_set who = process_set::any();
  std::uint64_t token = 0;  ///< of the exposing process: reported in `landed`
};

/// A place in another process's exposed bytes.
struct remote_place {
  ticket exposed = {};
  std::uint64_t offset = 0;
};

/// Bytes at an address in another process, exposed or not: only where memory_limits::direct.
[[nodiscard]] constexpr remote_place direct_place(std::uint64_t address,
                                                  std::uint64_t bytes) noexcept {
  return {.exposed = {.id = 0, .address = address, .bytes = bytes}};
}

/// Operations on a word of 8 bytes. The result is the value before.
enum class operation : std::uint8_t {
  fetch,  ///< leaves the word as it is
  add,    ///< modulo 2^64
  bit_and,
  bit_or,
  bit_xor,
  swap,
  compare_and_swap,  ///< stored if the word was `expected`
};

struct atomic_request {
  operation what = operation::fetch;
  std::uint64_t operand = 0;
  std::uint64_t expected = 0;
};

/// The faster way to move a large message to its receiver.
enum class sooner_by : std::uint8_t {
  put,       ///< the sender puts it
  get,       ///< the receiver gets it; only if `direct`
  measured,  ///< not known in advance: to be measured; only if `direct`
};

/// What a driver can do with one peer's memory. Constant while the peer is connected.
struct memory_limits {
  bool put = false;
  bool get = false;
  bool atomic = false;
  bool flush = false;
  bool notifies = false;  ///< `access::notified` is supported
  /// `get`, and `put` to what is not notified, answer `done` or `down` at once, need nothing of the
  /// peer, and may be called by any thread; a ticket with id 0 names bytes by their address alone
  bool direct = false;
  sooner_by large = sooner_by::put;
};

/// How long large copies between this process and a peer took lately, ns for 64 KiB. 0: not known.
struct copy_costs {
  std::uint64_t put = 0;  ///< of both ends together
  std::uint64_t get = 0;  ///< of the process that gets
};

/// Operations on the memory that other processes expose: the second contract of a driver.
///
/// Order:    none, neither between these operations nor between them and packets: bytes of one
///           `put` may arrive in any order.
/// Threads:  `expose`, `withdraw`, `limits_to`: any thread. `put`, `get`, `atomic`: one thread at a
///           time per peer, `driver::send` to that peer included, except where `direct` allows
///           more.
/// Progress: as `driver::send`: nothing waits for a peer. What is `posted` advances inside `reap`,
///           at the target inside the target's.
/// Errors:   places are inside their tickets: the caller's promise. A peer's requests are checked
///           all the same, except where `direct` operations need nothing of the peer: what is
///           withdrawn, out of bounds or not allowed is never touched. A `put` to what is withdrawn
///           or not allowed is dropped, and reported as `sent`; `get` and `atomic` answer `down`,
///           or end as `failed`. One that is out of bounds breaks the format: the target may give
///           up the peer that sent it, which is then lost.
/// Source:   the shape of fi_rma(3) and fi_atomic(3): a registration, a key, one-sided operations.
class memory {
 public:
  [[nodiscard]] virtual memory_limits limits_to(peer_id peer) const noexcept = 0;
  /// Any thread. Asked only where `sooner_by::measured`.
  [[nodiscard]] virtual copy_costs costs_with(peer_id) const noexcept { return {}; }
  /// Exposes bytes until `withdraw`. `no_memory`: not now, try again later.
  [[nodiscard]] virtual base::result<ticket> expose(const exposure& what) noexcept = 0;
  /// After return no operation of a peer reads or writes these bytes any more. The end of a
  /// `direct` operation is not visible here: the caller must know it by other means. To withdraw
  /// twice has no effect.
  virtual void withdraw(const ticket& exposed) noexcept = 0;
  /// Writes `from` there. Answers as `driver::send`: `done`, `from` may be reused now; `posted`, it
  /// is read until `sent` or `failed` with `cookie`. Neither means that the bytes have arrived: see
  /// `flush`.
  [[nodiscard]] virtual post put(peer_id peer, const remote_place& to,
                                 std::span<const std::byte> from,
                                 std::uint64_t cookie) noexcept = 0;
  /// The same for bytes that are `lent`: see packet.
  [[nodiscard]] virtual post put_lent(peer_id peer, const remote_place& to,
                                      std::span<const std::byte> from,
                                      std::uint64_t cookie) noexcept {
    return put(peer, to, from, cookie);
  }
  /// Reads the bytes there. `done`: `to` is filled; `posted`: it is filled when `sent` reports
  /// `cookie`.
  [[nodiscard]] virtual post get(peer_id peer, const remote_place& from, std::span<std::byte> to,
                                 std::uint64_t cookie) noexcept;
  /// Changes the word at a multiple of 8 and writes its old value to `before`, atomically with
  /// respect to all other such operations of the job on that exposure, and to atomic accesses of
  /// its own process. Ends as `get`.
  [[nodiscard]] virtual post atomic(peer_id peer, const remote_place& at,
                                    const atomic_request& what, std::uint64_t& before,
                                    std::uint64_t cookie) noexcept;
  /// Ends when every byte has arrived that this process has put into that peer's memory by puts
  /// that were `done`, or reported as `sent`, before this call. `done`: all have. `posted`: they
  /// have when `sent` reports `cookie`; after `failed` the peer is lost, and nothing is known.
  [[nodiscard]] virtual post flush(peer_id peer, std::uint64_t cookie) noexcept;

 protected:
  ~memory() = default;
};

}  // namespace headway::rails
