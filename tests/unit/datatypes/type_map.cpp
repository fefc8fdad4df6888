#include "type_map.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "datatypes/build.hpp"
#include "datatypes/signature.hpp"

namespace headway::datatypes::test {

type_map type_map::of(number kind) {
  type_map made;
  made.elements.push_back({0, kind});
  return made;
}

type_map type_map::at(std::int64_t offset) const {
  type_map made = *this;
  for (auto& e : made.elements) e.offset += offset;
  for (auto& m : made.lb_markers) m += offset;
  for (auto& m : made.ub_markers) m += offset;
  return made;
}

void type_map::append(const type_map& other) {
  elements.insert(elements.end(), other.elements.begin(), other.elements.end());
  lb_markers.insert(lb_markers.end(), other.lb_markers.begin(), other.lb_markers.end());
  ub_markers.insert(ub_markers.end(), other.ub_markers.begin(), other.ub_markers.end());
}

type_map type_map::repeated(std::int64_t count, std::int64_t stride) const {
  type_map made;
  for (std::int64_t i = 0; i < count; ++i) made.append(at(i * stride));
  return made;
}

std::int64_t type_map::size() const {
  std::int64_t sum = 0;
  for (const auto& e : elements) sum += bytes_of(e.kind);
  return sum;
}

std::int64_t type_map::true_lb() const {
  std::int64_t least = elements.empty() ? 0 : elements.front().offset;
  for (const auto& e : elements) least = std::min(least, e.offset);
  return least;
}

std::int64_t type_map::true_ub() const {
  std::int64_t most = elements.empty() ? 0 : elements.front().offset;
  for (const auto& e : elements) most = std::max(most, e.offset + bytes_of(e.kind));
  return most;
}

std::int64_t type_map::lb() const {
  return lb_markers.empty() ? true_lb() : *std::ranges::min_element(lb_markers);
}

std::int64_t type_map::ub() const {
  if (!ub_markers.empty()) return *std::ranges::max_element(ub_markers);
  std::int64_t alignment = 1;
  for (const auto& e : elements) alignment = std::max(alignment, layout::of(e.kind).alignment());
  auto bound = true_ub();
  while ((bound - lb()) % alignment != 0) ++bound;
  return bound;
}

std::vector<std::byte> type_map::pack(const std::byte* from, std::int64_t count) const {
  std::vector<std::byte> packed;
  for (std::int64_t i = 0; i < count; ++i) {
    for (const auto& e : elements) {
      const auto* at = from + i * extent() + e.offset;
      packed.insert(packed.end(), at, at + bytes_of(e.kind));
    }
  }
  return packed;
}

namespace {

using dice = std::mt19937_64;

std::int64_t roll(dice& d, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(d);
}

twin basic(dice& d) {
  constexpr number kinds[] = {number::int8,    number::int16,       number::int32,
                              number::float64, number::long_double, number::complex32};
  const auto kind = kinds[roll(d, 0, 5)];
  return {layout::of(kind), type_map::of(kind)};
}

twin vector_of(dice& d, const twin& old) {
  const auto count = roll(d, 0, 4), block = roll(d, 0, 3), stride = roll(d, -5, 5);
  const auto extent = old.reference.extent();
  if (roll(d, 0, 1) == 0) {
    return {build_vector(count, block, stride, *old.made).value(),
            old.reference.repeated(block, extent).repeated(count, stride * extent)};
  }
  const auto bytes = roll(d, -40, 40);
  return {build_hvector(count, block, bytes, *old.made).value(),
          old.reference.repeated(block, extent).repeated(count, bytes)};
}

twin indexed_of(dice& d, const twin& old) {
  const auto count = static_cast<std::size_t>(roll(d, 0, 5));
  const auto extent = old.reference.extent();
  const bool one_length = roll(d, 0, 1) == 0;
  const bool in_bytes = roll(d, 0, 1) == 0;
  std::vector<std::int64_t> blocks(count), places(count);
  type_map map;
  for (std::size_t i = 0; i < count; ++i) {
    blocks[i] = one_length && i > 0 ? blocks[0] : roll(d, 0, 3);
    places[i] = roll(d, -6, 12) * (in_bytes ? 3 : 1);
    const auto bytes = in_bytes ? places[i] : places[i] * extent;
    map.append(old.reference.repeated(blocks[i], extent).at(bytes));
  }
  if (one_length && count > 0) {
    return {(in_bytes ? build_hindexed_block(blocks[0], places, *old.made)
                      : build_indexed_block(blocks[0], places, *old.made))
                .value(),
            map};
  }
  return {(in_bytes ? build_hindexed(blocks, places, *old.made)
                    : build_indexed(blocks, places, *old.made))
              .value(),
          map};
}

twin struct_of(dice& d, const std::vector<twin>& olds) {
  std::vector<std::int64_t> blocks, places;
  std::vector<const layout*> types;
  type_map map;
  std::int64_t at = roll(d, -20, 20);
  for (const auto& old : olds) {
    blocks.push_back(roll(d, 0, 3));
    places.push_back(at);
    types.push_back(old.made.get());
    map.append(old.reference.repeated(blocks.back(), old.reference.extent()).at(at));
    at += blocks.back() * old.reference.extent() + roll(d, 0, 1) * roll(d, 0, 9);
  }
  return {build_struct(blocks, places, types).value(), map};
}

twin resized(dice& d, const twin& old) {
  const auto lb = roll(d, -8, 8), extent = roll(d, 0, 64);
  type_map map = old.reference;
  map.lb_markers = {lb};
  map.ub_markers = {lb + extent};
  return {build_resized(lb, extent, *old.made).value(), map};
}

/// The elements of an array part, found by asking every index of the array.
template <class Owns>
type_map array_map(const std::vector<std::int64_t>& sizes, storage_order order, const type_map& old,
                   const Owns& owns) {
  std::int64_t total = 1;
  for (auto s : sizes) total *= s;
  type_map map;
  std::vector<std::int64_t> index(sizes.size());
  for (std::int64_t linear = 0; linear < total; ++linear) {
    auto rest = linear;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto d = order == storage_order::c ? sizes.size() - 1 - i : i;
      index[d] = rest % sizes[d];
      rest /= sizes[d];
    }
    if (owns(index)) map.append(old.at(linear * old.extent()));
  }
  map.lb_markers = {0};
  map.ub_markers = {total * old.extent()};
  return map;
}

twin subarray_of(dice& d, const twin& old) {
  const auto dimensions = static_cast<std::size_t>(roll(d, 1, 3));
  std::vector<std::int64_t> sizes(dimensions), subsizes(dimensions), starts(dimensions);
  for (std::size_t i = 0; i < dimensions; ++i) {
    sizes[i] = roll(d, 1, 4);
    subsizes[i] = roll(d, 1, sizes[i]);
    starts[i] = roll(d, 0, sizes[i] - subsizes[i]);
  }
  const auto order = roll(d, 0, 1) == 0 ? storage_order::c : storage_order::fortran;
  const auto inside = [&](const auto& index) {
    for (std::size_t i = 0; i < dimensions; ++i) {
      if (index[i] < starts[i] || index[i] >= starts[i] + subsizes[i]) return false;
    }
    return true;
  };
  return {build_subarray(sizes, subsizes, starts, order, *old.made).value(),
          array_map(sizes, order, old.reference, inside)};
}

twin darray_of(dice& d, const twin& old) {
  const auto count = static_cast<std::size_t>(roll(d, 1, 3));
  std::vector<darray_dimension> dimensions(count);
  std::vector<std::int64_t> sizes(count), place(count);
  std::int64_t rank = 0;
  for (std::size_t i = 0; i < count; ++i) {
    auto& dim = dimensions[i];
    dim.size = sizes[i] = roll(d, 1, 7);
    dim.how = static_cast<distribution>(roll(d, 0, 2));
    dim.processes = dim.how == distribution::none ? 1 : roll(d, 1, 3);
    dim.argument = dim.how == distribution::cyclic && roll(d, 0, 1) == 0 ? roll(d, 1, 3) : -1;
    place[i] = roll(d, 0, dim.processes - 1);
    rank = rank * dim.processes + place[i];
  }
  const auto order = roll(d, 0, 1) == 0 ? storage_order::c : storage_order::fortran;
  const auto owns = [&](const auto& index) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto& dim = dimensions[i];
      auto block = dim.how == distribution::none ? dim.size
                   : dim.how == distribution::cyclic
                       ? std::max<std::int64_t>(dim.argument, 1)
                       : (dim.size + dim.processes - 1) / dim.processes;
      if (index[i] / block % dim.processes != place[i]) return false;
    }
    return true;
  };
  return {build_darray(rank, dimensions, order, *old.made).value(),
          array_map(sizes, order, old.reference, owns)};
}

twin grow(dice& d, int depth) {
  if (depth == 0) return basic(d);
  const auto old = grow(d, depth - 1);
  switch (roll(d, 0, 7)) {
    case 0: {
      const auto count = roll(d, 0, 4);
      return {build_contiguous(count, *old.made).value(),
              old.reference.repeated(count, old.reference.extent())};
    }
    case 1:
    case 2:
      return vector_of(d, old);
    case 3:
      return indexed_of(d, old);
    case 4:
      return resized(d, old);
    case 5:
      return subarray_of(d, old);
    case 6:
      return darray_of(d, old);
    default:
      return struct_of(d, {old, grow(d, static_cast<int>(roll(d, 0, 1))), basic(d)});
  }
}

}  // namespace

twin random_type(std::uint64_t seed, int depth) {
  dice d(seed);
  return grow(d, depth);
}

}  // namespace headway::datatypes::test
