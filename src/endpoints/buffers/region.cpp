#include "endpoints/buffers/region.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "base/file_size_errors.hpp"

namespace headway::endpoints {

base::result<> region::map_views(int descriptor) {
  void* both =
      mmap(nullptr, 2 * bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (both == MAP_FAILED) return base::failed_errno("reserve addresses for buffers", errno);
  base_ = static_cast<std::byte*>(both);
  for (std::byte* view : {base_, base_ + bytes()}) {
    void* mapped = mmap(view, bytes(), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED | MAP_NORESERVE, descriptor, 0);
    if (mapped == MAP_FAILED) return base::failed_errno("map buffers", errno);
  }
  madvise(base_, 2 * bytes(), MADV_DONTDUMP);  // a core dump of gigabytes is useless
  return {};
}

base::result<std::unique_ptr<region>> region::make(std::uint32_t owner, std::size_t bytes,
                                                   std::uint64_t job) {
  if (sodium_init() < 0) return base::failed(base::fault_kind::system, "libsodium does not start");
  const int descriptor = memfd_create("headway buffers", MFD_CLOEXEC);
  if (descriptor < 0) return base::failed_errno("memfd_create", errno);
  region_offer offer{.owner = owner,
                     .pid = static_cast<std::uint32_t>(getpid()),
                     .descriptor = static_cast<std::uint32_t>(descriptor),
                     .bytes = bytes};
  randombytes_buf(offer.nonce.data(), sizeof offer.nonce);
  std::unique_ptr<region> made(new region(offer));
  made->own_descriptor_ = descriptor;
  const base::file_size_errors meanwhile;
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) != 0)
    return base::failed_errno("size the memory for buffers", errno);
  if (auto mapped = made->map_views(descriptor); !mapped) return std::unexpected(mapped.error());
  auto* head = new (made->base_) header{};
  head->nonce = offer.nonce;
  head->job = job;
  head->bytes = bytes;
  return made;
}

base::result<std::unique_ptr<region>> region::map(const region_offer& offer, std::uint64_t job) {
  if (offer.bytes < first_place || offer.bytes % first_place != 0)
    return base::failed(base::fault_kind::bad_input, "a region of buffers of no possible size");
  const auto path = fmt::format("/proc/{}/fd/{}", offer.pid, offer.descriptor);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return base::failed_errno(fmt::format("open {}", path), errno);
  struct stat found = {};
  const bool whole =
      fstat(descriptor, &found) == 0 && static_cast<std::uint64_t>(found.st_size) == offer.bytes;
  std::unique_ptr<region> made(new region(offer));
  auto mapped = whole ? made->map_views(descriptor)
                      : base::failed(base::fault_kind::refused, path + " is something else");
  close(descriptor);
  if (!mapped) return std::unexpected(mapped.error());
  const header& head = made->head();
  // A pid has another meaning in another namespace, and may be reused.
  if (head.nonce != offer.nonce || head.job != job || head.bytes != offer.bytes)
    return base::failed(base::fault_kind::refused, path + " is another job's or process's");
  return made;
}

region::~region() {
  if (base_) munmap(base_, 2 * bytes());
  if (own_descriptor_ >= 0) close(own_descriptor_);
}

bool region::damaged(const void* data) const noexcept {
  const auto place = place_of(data);
  return place != 0 && (at(place)->mark == block::mark_value || at(place)->place == place);
}

block* region::checked(std::uint64_t place, std::size_t message_bytes) const noexcept {
  if (place < first_place || place % 64 != 0 || place >= bytes() - sizeof(block)) return nullptr;
  block* b = at(place);
  if (b->mark != block::mark_value || b->place != place || b->owner != owner()) return nullptr;
  if (b->size_class >= 48 || message_bytes > b->capacity()) return nullptr;
  return b->capacity() <= bytes() - sizeof(block) - place ? b : nullptr;
}

}  // namespace headway::endpoints
