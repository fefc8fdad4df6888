#include "wireup/process_record.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "base/host_identity.hpp"
#include "wireup/byte_reader.hpp"

namespace headway::wireup {
namespace {

process_place read_place(byte_reader& from) {
  process_place found;
  found.kernel = from.number(8);
  found.memory = from.number(8);
  found.processors = static_cast<std::uint32_t>(from.number(4));
  found.package = static_cast<std::int32_t>(from.number(4));
  found.tuned = from.number(8);
  return found;
}

std::unexpected<base::fault> damaged() {
  return base::failed(base::fault_kind::bad_input,
                      "what another process published of itself came back damaged");
}

void put_text(std::vector<std::byte>& to, std::string_view text) {
  HEADWAY_ASSERT(text.size() < 256);
  put_number(to, text.size(), 1);
  for (const char c : text) to.push_back(static_cast<std::byte>(c));
}

std::string take_text(byte_reader& from) {
  const auto bytes = from.take(from.number(1));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

process_place process_place::own(std::uint32_t processors, std::int32_t package) {
  auto kernel = base::boot_id();
  if (kernel.empty()) {  // no /proc: the host's name must do
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    kernel = name;
  }
  struct stat shm{};
  const auto memory = stat("/dev/shm", &shm) == 0
                          ? fmt::format("{}/{}:{}", kernel, shm.st_dev, shm.st_ino)
                          : fmt::format("{}/{}", kernel, getpid());
  return {.kernel = base::hash_of(kernel),
          .memory = base::hash_of(memory),
          .processors = processors,
          .package = package};
}

std::vector<std::byte> process_record::pack() const {
  HEADWAY_ASSERT(addresses.size() < 256);
  std::vector<std::byte> packed;
  put_number(packed, place.kernel, 8);
  put_number(packed, place.memory, 8);
  put_number(packed, place.processors, 4);
  put_number(packed, static_cast<std::uint32_t>(place.package), 4);
  put_number(packed, place.tuned, 8);
  put_text(packed, host);
  put_number(packed, addresses.size(), 1);
  for (const auto& [driver, of_driver] : addresses) {
    put_text(packed, driver);
    const auto bytes = pack_nic_addresses(of_driver);
    put_number(packed, bytes.size(), 4);
    packed.insert(packed.end(), bytes.begin(), bytes.end());
  }
  return packed;
}

base::result<process_record> process_record::unpack(std::span<const std::byte> bytes) {
  byte_reader from(bytes);
  process_record found;
  found.place = read_place(from);
  found.host = take_text(from);
  const auto drivers = from.number(1);
  for (std::uint64_t i = 0; i < drivers && !from.short_of(); ++i) {
    auto driver = take_text(from);
    auto addresses = unpack_nic_addresses(from.take(from.number(4)));
    if (!addresses) return std::unexpected(addresses.error());
    found.addresses.insert_or_assign(std::move(driver), std::move(*addresses));
  }
  if (!from.at_end()) return damaged();
  return found;
}

base::result<process_place> process_record::place_in(std::span<const std::byte> bytes) {
  byte_reader from(bytes);
  const auto found = read_place(from);
  if (from.short_of()) return damaged();
  return found;
}

}  // namespace headway::wireup
