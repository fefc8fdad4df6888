#include "topology/hardware.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "base/assert.hpp"
#include "topology/hwloc_library.hpp"

namespace headway::topology {
namespace {

constexpr std::uint32_t objects_max = UINT16_MAX, processors_max = 1u << 20;

hardware::kind kind_of(hwloc_obj_type_t type) {
  switch (type) {
    case HWLOC_OBJ_MACHINE:
      return hardware::kind::machine;
    case HWLOC_OBJ_PACKAGE:
      return hardware::kind::package;
    case HWLOC_OBJ_DIE:
      return hardware::kind::die;
    case HWLOC_OBJ_L3CACHE:
      return hardware::kind::l3;
    case HWLOC_OBJ_CORE:
      return hardware::kind::core;
    case HWLOC_OBJ_PU:
      return hardware::kind::processor;
    default:
      return hardware::kind::group;
  }
}

/// A topology of hwloc, loaded while its objects are read.
class reader {
 public:
  explicit reader(const hwloc_library& by) : by_(by) {}
  ~reader() {
    if (topology_) by_.destroy(topology_);
  }
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;

  [[nodiscard]] base::result<> read(const std::string& description) {
    if (by_.init(&topology_) != 0) return base::failed_errno("hwloc_topology_init", errno);
    keep_levels();
    // hwloc's x86 component binds the caller to each processor in turn, and waits for each; the
    // information in /sys suffices.
    by_.set_components(topology_, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    if (!description.empty() && by_.set_synthetic(topology_, description.c_str()) != 0)
      return base::failed(base::fault_kind::bad_input,
                          "hwloc does not understand topology '" + description + "'");
    if (by_.load_topology(topology_) != 0) return base::failed_errno("hwloc_topology_load", errno);
    return {};
  }

  void add_all(std::vector<hardware::object>& all) const {
    add(all, by_.object_at(topology_, 0, 0), 0);
  }

 private:
  /// Keeps only the levels whose sharing matters to a queue.
  void keep_levels() {
    by_.set_all_types_filter(topology_, HWLOC_TYPE_FILTER_KEEP_NONE);
    for (const auto type : {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_DIE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_CORE})
      by_.set_type_filter(topology_, type, HWLOC_TYPE_FILTER_KEEP_ALL);
  }

  void add(std::vector<hardware::object>& all, hwloc_obj_t from, std::uint32_t depth) const {
    if (all.size() >= objects_max) return;
    const auto number =
        from->os_index != HWLOC_UNKNOWN_INDEX ? from->os_index : from->logical_index;
    hardware::object made{.what = kind_of(from->type), .number = number, .depth = depth};
    for (int p = by_.next_in(from->cpuset, -1); p >= 0; p = by_.next_in(from->cpuset, p))
      made.processors.push_back(p);
    all.push_back(std::move(made));
    if (from->type == HWLOC_OBJ_CORE) return;  // processors of a core are no places of their own
    for (auto child = from->first_child; child; child = child->next_sibling)
      add(all, child, depth + 1);
  }

  const hwloc_library& by_;
  hwloc_topology_t topology_ = nullptr;
};

}  // namespace

base::result<hardware> hardware::read(const std::string& description) {
  const auto library = hwloc_library::load();
  if (!library) return std::unexpected(library.error());
  reader from(*library);
  if (auto done = from.read(description); !done) return std::unexpected(done.error());
  hardware made;
  from.add_all(made.objects);
  return made;
}

hardware hardware::only(std::span<const int> processors) const {
  HEADWAY_ASSERT(std::ranges::is_sorted(processors));
  hardware made;
  for (const auto& o : objects) {
    object kept{.what = o.what, .number = o.number, .depth = o.depth};
    std::ranges::set_intersection(o.processors, processors, std::back_inserter(kept.processors));
    if (!kept.processors.empty()) made.objects.push_back(std::move(kept));
  }
  return made.objects.empty() ? *this : made;
}

std::vector<std::byte> hardware::pack() const {
  std::vector<std::uint32_t> words;
  for (const auto& o : objects) {
    HEADWAY_ASSERT(!o.processors.empty());  // `unpack` refuses others
    const auto count = static_cast<std::uint32_t>(o.processors.size());
    words.insert(words.end(), {static_cast<std::uint32_t>(o.what), o.number, o.depth, count});
    words.insert(words.end(), o.processors.begin(), o.processors.end());
  }
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

base::result<hardware> hardware::unpack(std::span<const std::byte> bytes) {
  constexpr std::size_t word = sizeof(std::uint32_t), head_words = 4;
  bool sound = bytes.size() % word == 0;
  const auto next = [&] {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data(), word);
    bytes = bytes.subspan(word);
    return value;
  };
  hardware made;
  while (sound && !bytes.empty() && made.objects.size() < objects_max) {
    if (!(sound = bytes.size() >= head_words * word)) break;
    const auto what = next();
    const auto number = next(), depth = next(), count = next();
    const bool root = made.objects.empty();
    sound = what <= static_cast<std::uint32_t>(kind::group) && count > 0 &&
            count <= bytes.size() / word && (root ? depth == 0 : depth > 0) &&
            (root || depth <= made.objects.back().depth + 1);
    if (!sound) break;
    made.objects.push_back({.what = static_cast<kind>(what), .number = number, .depth = depth});
    auto& o = made.objects.back();
    for (std::uint32_t i = 0; i < count && sound; ++i) {
      const auto processor = next();
      sound = processor < processors_max &&
              (i == 0 || static_cast<int>(processor) > o.processors.back());
      o.processors.push_back(static_cast<int>(processor));
    }
  }
  if (!sound || made.objects.empty())
    return base::failed(base::fault_kind::bad_input, "this is no description of a machine");
  return made;
}

}  // namespace headway::topology
