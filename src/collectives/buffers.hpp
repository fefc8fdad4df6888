#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/schedule.hpp"
#include "datatypes/layout.hpp"

namespace headway::collectives {

/// Elements of one type at an address.
struct block {
  void* data = nullptr;
  std::int64_t count = 0;
  const datatypes::layout* type = nullptr;

  [[nodiscard]] std::int64_t bytes() const noexcept { return count * type->size(); }
};

/// A block per rank within one buffer: equally long and adjacent (`count`), or as in the v forms
/// (`counts`, and `places` in extents), or as in the w forms (`types`, and `places` in bytes).
/// Shape:    the arrays have an entry per rank and are not needed after the schedule is built.
struct blocks {
  void* data = nullptr;
  const datatypes::layout* type = nullptr;
  std::int64_t count = 0;
  const std::int64_t* counts = nullptr;
  const std::int64_t* places = nullptr;
  const datatypes::layout* const* types = nullptr;

  [[nodiscard]] block of(int rank) const noexcept {
    const auto* each = types ? types[rank] : type;
    const auto elements = counts ? counts[rank] : count;
    const auto place = !places ? elements * rank * each->extent()
                       : types ? places[rank]
                               : places[rank] * each->extent();
    return {static_cast<std::byte*>(data) + place, elements, each};
  }
  /// All blocks have the same size and lie back to back as plain bytes.
  [[nodiscard]] bool plain() const noexcept { return !counts && type->is_contiguous(); }
};

/// Where the bytes of blocks are sent from and received into: the user's buffer if they are
/// contiguous there, otherwise scratch memory in packed form.
class wire_buffers {
 public:
  explicit wire_buffers(schedule& s) noexcept : schedule_(s) {}

  /// The packed bytes of `b`, from the present step on.
  [[nodiscard]] const std::byte* out(const block& b);
  /// Memory to receive the packed bytes of `b` into, which `settle` unpacks.
  [[nodiscard]] std::byte* in(const block& b);
  /// After the round of the last message: unpacks what was received through `in`.
  void settle();
  /// What later steps of the schedule do with the copy.
  enum class later_steps : bool { do_not_read_it, read_it };
  /// Copies data to a place with another type; sizes are equal. See `schedule::copy_result`.
  void move(const block& from, const block& to, later_steps steps = later_steps::do_not_read_it);

 private:
  struct packed_block {
    block to;
    const std::byte* packed;
  };
  schedule& schedule_;
  std::vector<packed_block> to_unpack_;
};

/// Sends, receives and copies the operands of a reduction: elements of one type, laid out as the
/// operator reads them, packed on the wire where that is needed.
class values {
 public:
  values(schedule& s, const datatypes::layout& type) noexcept
      : schedule_(s), type_(type), wires_(s) {}

  /// Scratch memory for `count` elements: the address that the type's offsets are relative to.
  [[nodiscard]] std::byte* scratch(std::int64_t count);
  [[nodiscard]] std::int64_t bytes(std::int64_t count) const noexcept {
    return count * type_.size();
  }
  [[nodiscard]] std::byte* at(void* first, std::int64_t element) const noexcept {
    return static_cast<std::byte*>(first) + element * type_.extent();
  }
  [[nodiscard]] const std::byte* at(const void* first, std::int64_t element) const noexcept {
    return static_cast<const std::byte*>(first) + element * type_.extent();
  }
  /// The value to send, packed if needed: one `out` serves any number of sends.
  [[nodiscard]] const std::byte* out(const void* value, std::int64_t count);
  void send(int peer, const void* value, std::int64_t count);
  void receive(int peer, void* value, std::int64_t count);
  /// Ends the round; after it the received values can be read.
  void settle();
  void copy(const void* from, void* to, std::int64_t count);

 private:
  schedule& schedule_;
  const datatypes::layout& type_;
  wire_buffers wires_;
};

}  // namespace headway::collectives
