#include "collectives/buffers.hpp"

#include <new>

namespace headway::collectives {
namespace {

std::byte* first_byte(const block& b) noexcept {
  return static_cast<std::byte*>(b.data) + b.type->true_lb();
}

}  // namespace

const std::byte* wire_buffers::out(const block& b) {
  if (b.type->is_one_block(b.count)) return first_byte(b);
  std::byte* packed = schedule_.scratch(b.bytes());
  schedule_.pack(*b.type, b.data, b.count, packed);
  return packed;
}

std::byte* wire_buffers::in(const block& b) {
  if (b.type->is_one_block(b.count)) return first_byte(b);
  std::byte* packed = schedule_.scratch(b.bytes());
  to_unpack_.push_back({b, packed});
  return packed;
}

void wire_buffers::settle() {
  for (const auto& l : to_unpack_) {
    schedule_.unpack(*l.to.type, l.packed, l.to.data, l.to.count);
  }
  to_unpack_.clear();
}

void wire_buffers::move(const block& from, const block& to, later_steps steps) {
  if (from.bytes() == 0 || (from.data == to.data && from.type == to.type)) return;
  if (to.type->is_one_block(to.count)) {
    if (from.type->is_one_block(from.count)) {
      const auto* const source = first_byte(from);
      if (steps == later_steps::read_it) schedule_.copy(source, first_byte(to), from.bytes());
      else schedule_.copy_result(source, first_byte(to), from.bytes());
    } else {
      schedule_.pack(*from.type, from.data, from.count, first_byte(to));
    }
  } else {
    schedule_.unpack(*to.type, out(from), to.data, to.count);
  }
}

std::byte* values::scratch(std::int64_t count) {
  const auto all = type_.reach(count);
  if (!all) throw std::bad_alloc();
  return schedule_.scratch(all->bytes()) - all->begin;
}

const std::byte* values::out(const void* value, std::int64_t count) {
  return wires_.out({const_cast<void*>(value), count, &type_});
}

void values::send(int peer, const void* value, std::int64_t count) {
  schedule_.send(peer, out(value, count), bytes(count));
}

void values::receive(int peer, void* value, std::int64_t count) {
  schedule_.receive(peer, wires_.in({value, count, &type_}), bytes(count));
}

void values::settle() {
  schedule_.close_round();
  wires_.settle();
}

void values::copy(const void* from, void* to, std::int64_t count) {
  wires_.move({const_cast<void*>(from), count, &type_}, {to, count, &type_},
              wire_buffers::later_steps::read_it);
}

}  // namespace headway::collectives
