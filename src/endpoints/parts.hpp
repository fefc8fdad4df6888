#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/spinlock.hpp"
#include "endpoints/dispatcher.hpp"
#include "endpoints/inbox.hpp"
#include "endpoints/names.hpp"
#include "endpoints/packing.hpp"
#include "endpoints/pool.hpp"
#include "endpoints/rooms.hpp"
#include "endpoints/service.hpp"
#include "endpoints/table.hpp"
#include "endpoints/wire.hpp"
#include "messages/exchange.hpp"
#include "packets/peers.hpp"

namespace headway::endpoints {

/// What we know of an end-point of another process: how far ahead of it we are.
struct remote_endpoint {
  base::spinlock lock;  // guards the rest
  // Relaxed: changed under the lock alone; without it a guess.
  std::atomic<std::uint32_t> id{0};
  /// Units of the window. Less than 0 where they are back before they were counted: see `count`.
  std::atomic<std::int32_t> used{0};
  std::atomic<bool> gone{false};
  base::intrusive_list<waiting_thread> senders;

  [[nodiscard]] bool begin(std::uint32_t use, woken& then) noexcept;
  /// A message to `use` may be sent at once, and counted when it is gone. As many threads as send
  /// at the same time may go beyond the window by a message each.
  [[nodiscard]] bool seems_free(std::uint32_t use, std::int32_t most) const noexcept {
    return id.load(std::memory_order_relaxed) == use && !gone.load(std::memory_order_relaxed) &&
           used.load(std::memory_order_relaxed) < most;
  }
  void count(std::uint32_t use, std::uint32_t units) noexcept;
  void add(std::int32_t units) noexcept {
    used.store(used.load(std::memory_order_relaxed) + units, std::memory_order_relaxed);
  }
};

/// Another process. `region` says whether it maps ours; of others', `regions`.
struct neighbour {
  enum class answer : std::uint8_t { unknown, asked, yes, no };

  std::atomic<slot_pages<remote_endpoint, 256>*> endpoints{nullptr};
  base::spinlock making;  // of `endpoints`
  // Relaxed: each is a fact about the process and carries nothing with it.
  std::atomic<bool> lost{false};
  std::atomic<bool> acquainted{false};      ///< one of us has sent something to the other
  std::atomic<int> complaints{0};           ///< about what it says, in our log
  std::atomic<std::uint32_t> announced{0};  ///< messages that are under way to us by `messages`
  std::atomic<answer> region{answer::unknown};
  base::spinlock lock;  // guards `regions`
  std::map<std::uint32_t, answer> regions;
  packing pack;
  rooms large;
  // Constant from `attach` on.
  std::size_t inline_bytes = 0;       ///< payload that its rail never posts
  std::size_t at_once_bytes_end = 0;  ///< shorter messages go that way, each in a packet of its own

  ~neighbour() { delete endpoints.load(std::memory_order_relaxed); }  // nobody else is left
};

struct outgoing_message;
struct bulk_send;
struct by_service;

/// Large messages on their way, so that none is left when the service ends.
/// Threads:  any.
template <class Transfer>
struct transfers_under_way {
  base::spinlock lock;  // guards the list
  base::intrusive_list<Transfer, by_service> all;

  void add(Transfer& one) noexcept;
  void remove(Transfer& one) noexcept;
};

/// What comes as bytes, beside them.
struct arrival {
  address from;
  std::uint32_t to = 0;
  std::int32_t tag = 0;
  std::uint16_t charge = 0;
};

/// The inside of `service`: what is sent (sending.cpp, packing.cpp, bulk.cpp), what arrives
/// (arrivals.cpp).
///
/// Threads:  `arrived`, `landed`, `lost` by the reaper; the rest any thread.
/// Locks:    an inbox's two, a remote end-point's, the names', a packing's; none is held while
///           one of another object is taken.
struct service_parts final : packets::receiver, postman {
  service_parts(packets::peers& all, progress::engine& own, service_options chosen);
  ~service_parts();

  // packets::receiver
  [[gnu::hot]] void arrived(packets::peer& from,
                            std::span<const std::byte> bytes) noexcept override;
  void landed(rails::landing_id, std::uint64_t) noexcept override {}
  void lost(packets::peer& whom) noexcept override;
  // postman
  void deliver(std::uint32_t process, const name_head& head, std::string_view name) override;

  // What arrives.
  [[gnu::noinline]] void arrived_other(std::uint32_t from, wire_kind kind,
                                       std::span<const std::byte> bytes) noexcept;
  void arrived_data(pool& own, std::uint32_t from, std::span<const std::byte> bytes) noexcept;
  void arrived_packed(std::uint32_t from, std::span<const std::byte> bytes) noexcept;
  void arrived_message(pool& own, const arrival& what, std::span<const std::byte> payload) noexcept;
  void arrived_shared(std::uint32_t from, std::span<const std::byte> bytes) noexcept;
  void arrived_announced(std::uint32_t from, std::span<const std::byte> bytes) noexcept;
  void arrived_credit(std::uint32_t from, const message_head& head) noexcept;
  void arrived_gone(std::uint32_t from, const message_head& head) noexcept;
  void arrived_region(std::uint32_t from, std::span<const std::byte> bytes) noexcept;
  /// Into the inbox of `to`; false: there is none, and its sender was told.
  bool put(std::uint32_t to, parcel& p) noexcept;
  bool hand_in(std::uint32_t to, parcel& p) noexcept;  ///< the same, in line
  void arrived_in_room(messages::exchange& way, bulk_receive& r, const bulk_head& head) noexcept;
  void arrived_room(std::uint32_t from, std::span<const std::byte> bytes) noexcept;
  void announce(bulk_receive& r, const bulk_head& head) noexcept;
  void bulk_ended(bulk_receive& r) noexcept;
  // Rooms ahead; `rooms` says what they are.
  void want_room(std::uint32_t for_process, std::uint64_t bytes) noexcept;
  void open_room(std::uint32_t for_process) noexcept;
  void open_room_that_is_due() noexcept;
  void close_room(messages::exchange& way, std::uint32_t for_process, std::uint32_t zone) noexcept;
  void free_room(bulk_receive* r) noexcept;
  void forget_transfers() noexcept;  ///< when neither rails nor `exchange` are there any more
  void count_room(const block& room, int by) noexcept;
  [[nodiscard]] std::vector<bulk_receive*> close_rooms(messages::exchange& way);
  /// One line in the log, a few times for each process.
  void complain(std::uint32_t of, const char* what) noexcept;
  void lack_memory(std::uint32_t of, std::uint64_t bytes) noexcept;
  void lose(std::uint32_t process) noexcept;

  // What is sent.
  [[nodiscard]] outcome send_here(const sending& what, const pool::found& f,
                                  std::uint64_t deadline_ns) noexcept;
  [[nodiscard]] outcome put_here(local_endpoint& e, std::uint32_t id, parcel& p,
                                 std::uint64_t deadline_ns) noexcept;
  [[nodiscard]] outcome send_there(const sending& what, const pool::found& f,
                                   std::uint64_t deadline_ns) noexcept;
  [[nodiscard]] outcome get_credit(remote_endpoint& at, const sending& what, std::uint32_t charge,
                                   std::uint64_t deadline_ns) noexcept;
  void return_credit(remote_endpoint& at, std::uint32_t id, std::uint32_t units) noexcept;
  [[nodiscard]] outcome post_message(const sending& what, const pool::found& f,
                                     std::uint32_t charge, bool by_place) noexcept;
  [[nodiscard]] bool post_data_now(address to, std::int32_t tag, std::uint32_t from,
                                   const void* data, std::size_t bytes,
                                   std::uint32_t charge) noexcept;
  [[nodiscard]] outcome post_data(const sending& what, const pool::found& f,
                                  std::uint32_t charge) noexcept;
  [[nodiscard]] outcome post_shared(const sending& what, const pool::found& f,
                                    std::uint32_t charge) noexcept;
  [[nodiscard]] outcome post_bulk(const sending& what, const pool::found& f,
                                  std::uint32_t charge) noexcept;
  /// Says that nothing more comes from here; `done` when that is on its way.
  void take_leave(std::uint32_t process, progress::completion& done) noexcept;
  template <class Record>
  [[nodiscard]] Record* make_record() noexcept;
  /// Posts `item`, a record in a block of its own; `down`: the process is lost now.
  [[nodiscard]] packets::posted post(std::uint32_t process, outgoing_message& item) noexcept;
  /// The same behind the messages that are being packed.
  [[nodiscard]] packets::posted post_in_order(std::uint32_t process,
                                              outgoing_message& item) noexcept;
  void learn_rails(std::size_t packed_bytes_max) noexcept;
  [[nodiscard]] bool pack(const sending& what, std::uint32_t charge) noexcept;
  void line_up(packing& k) noexcept;
  void send_packed(packing& k) noexcept;
  void end_packing() noexcept;
  static void sent(packets::outgoing& item, bool well) noexcept;
  static void finish(outgoing_message& item) noexcept;
  /// A packet without a buffer: a head, and up to some bytes that are copied.
  template <class Head>
  void tell(std::uint32_t process, const Head& head, std::span<const std::byte> text = {}) noexcept;
  [[nodiscard]] bool maps(std::uint32_t process, std::uint32_t owner) noexcept;
  [[nodiscard]] bool same_node(std::uint32_t process) const noexcept {
    return process < options.nodes.size() && options.nodes[process] == options.nodes[self];
  }
  [[nodiscard]] remote_endpoint& remote(address of);
  /// Of a limit of `most` units.
  [[nodiscard]] static std::uint32_t charge_of(std::size_t bytes, std::uint32_t most) noexcept;
  [[nodiscard]] static std::uint32_t charge_in_place(std::size_t bytes,
                                                     std::uint32_t most) noexcept;

  // Receiving.
  /// `p` is out of its inbox: what the program gets.
  [[nodiscard]] outcome finish(parcel& p, message& out) noexcept;
  /// Before a wait for a message that is likely to come from a thread of this process: its sender
  /// needs no poll of ours, and only one thread of a process polls anyway.
  static void spin(const waiting_thread& me) noexcept;
  static void look_away() noexcept;  ///< see `inbox::gathers`
  /// Frees what nobody will receive.
  void drop(parcel& p) noexcept;
  /// The oldest that `wanted` admits, received: under both locks of the inbox; of those aside,
  /// under `taking` alone. What is to be told comes out in `due`, units for the sender's process.
  [[nodiscard]] parcel* take(inbox& box, const filter& wanted, woken& then,
                             std::uint32_t& due) noexcept;
  struct taken {
    std::uint32_t number = 0;  ///< of the end-point
    bool open = false;         ///< it is open under that
    std::uint32_t due = 0;
    parcel* p = nullptr;
    std::uint32_t more = 0;  ///< units of this process's threads that wait behind it
  };
  /// The same with the locks it needs; `me`, if it is given, waits where there is none.
  [[nodiscard]] bool take_at_once(inbox& box, const filter& wanted, taken& found,
                                  waiting_thread* me) noexcept;
  void take_or_wait(inbox& box, const filter& wanted, taken& found, waiting_thread* me) noexcept;
  [[nodiscard]] parcel* take_aside(inbox& box, const filter& wanted, woken& then,
                                   std::uint32_t& due) noexcept;
  /// `p` is received: what its sender gets back. Under `lock` of the inbox.
  void account(inbox& box, const parcel& p, woken& then, std::uint32_t& due) noexcept;
  /// So many more: how many are to be told now.
  [[nodiscard]] std::uint32_t owe(std::uint32_t& owed, std::uint32_t units) const noexcept {
    owed += units;
    return owed < window_units / 4 ? 0 : std::exchange(owed, 0u);
  }
  void return_units(inbox& box, std::uint32_t units, woken& then) noexcept;
  void give_credit(std::uint32_t id, std::uint32_t process, std::uint32_t due) noexcept;
  [[nodiscard]] local_endpoint* local(std::uint32_t id) noexcept {
    return id == 0 ? nullptr : locals.find(slot_of(id));
  }
  [[nodiscard]] parcel* wrap(const pool::found& f, bool keep) noexcept;
  void wake_up() noexcept;  ///< from the first use on, something is pending

  [[nodiscard]] pool* buffers() noexcept {
    pool* p = pool_seen.load(std::memory_order_acquire);  // (B)
    return p ? p : make_pool();
  }
  pool* make_pool() noexcept;
  outcome mistake(wrong what, const void* data) noexcept;

  packets::peers& peers;
  progress::engine& engine;
  const service_options options;
  const std::uint32_t self;
  const std::uint32_t process_count;
  const std::uint32_t window_units;
  const std::uint32_t queue_units;
  const std::size_t inline_max;  ///< where the buffer could be handed over
  const bool share;
  // Rooms opened ahead, of all processes: few of the landing zones that a rail has.
  static constexpr std::uint32_t nobody = UINT32_MAX;
  /// The process for which one is to be opened soon. Hazard: who takes it does not see what was
  /// wished. Edge: (D) release -> (E) acquire, in both of its exchanges.
  std::atomic<std::uint32_t> room_due{nobody};
  static constexpr int rooms_count_max = 64;
  const std::uint64_t rooms_each_max;
  const std::int64_t rooms_bytes_max;
  std::atomic<int> rooms_count{0};           // relaxed: numbers
  std::atomic<std::int64_t> rooms_bytes{0};  // likewise
  std::atomic<messages::exchange*> exchange{nullptr};
  std::atomic<messages::context*> bulk_context{nullptr};
  std::atomic<std::uint32_t> transfers{0};  // relaxed: unique, no more
  std::atomic<std::int64_t> bulk_sends{0};  // relaxed: how many `stop` waits for
  transfers_under_way<bulk_send> sends_under_way;
  transfers_under_way<bulk_receive> receives_under_way;

  std::mutex pool_making;  // cold
  std::unique_ptr<pool> pool_made;
  std::atomic<pool*> pool_seen{nullptr};  // (B): release in make_pool -> acquire in buffers

  slot_pages<local_endpoint, 256> locals;
  slot_numbers numbers;
  std::unique_ptr<neighbour[]> neighbours;
  names directory_of_names;
  dispatcher dispatch;
  std::atomic<bool> awake{false};  // relaxed: one exchange wins
  std::atomic<bool> stopped{false};
  std::atomic<std::uint32_t> open_count{0};  // relaxed: a number to show
};

/// In line, so that what a receiver gets needs not be written and read again on its way to the
/// program.
[[gnu::always_inline]] inline outcome service_parts::finish(parcel& p, message& out) noexcept {
  pool& buffers = *pool_seen.load(std::memory_order_acquire);  // (B)
  block& own = block_of(p);
  block* const contents = p.contents;  // before `p`, which may lie in it, is the program's
  const bool lent = p.lent;
  out.data = nullptr;
  out.bytes = p.bytes;
  out.tag = p.tag;
  out.from = p.from;
  if (&own != contents) buffers.arrived_nowhere(own, false);
  if (!contents) return outcome::ok;
  out.data = lent ? buffers.address_of(*contents, true) : contents->data();
  const bool written =
      buffers.checks() && contents->checksum != pool::checksum(*contents, out.bytes);
  buffers.received(*contents, lent);
  return written ? mistake(wrong::written, out.data) : outcome::ok;
}

/// A packet on its way. Lies in the data of a block of its own.
struct outgoing_message : packets::outgoing {
  service_parts* parts = nullptr;
  block* self = nullptr;
  block* contents = nullptr;  ///< what the message was sent from, or nullptr
  bool lent = false;
  progress::completion* told = nullptr;
};

/// Several messages: a block of 8 KiB as a whole.
struct packed_message final : outgoing_message {
  static constexpr std::size_t room = 8192 - sizeof(outgoing_message) - sizeof(std::size_t);
  std::size_t used;
  std::array<std::byte, room> entries;  // left unset; `add` writes what it needs

  void begin() noexcept;
  [[nodiscard]] bool fits(std::size_t bytes, std::size_t room_bytes) const noexcept;
  void add(const sending& what, std::uint32_t units) noexcept;
};
static_assert(sizeof(packed_message) == 8192);

/// The same with bytes of its own.
struct letter final : outgoing_message {
  std::array<std::byte, name_bytes_max + 1> text;  // left unset; `tell` writes what it needs
};

}  // namespace headway::endpoints
