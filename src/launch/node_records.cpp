#include "launch/node_records.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/file_size_errors.hpp"
#include "base/log.hpp"
#include "base/result.hpp"

namespace headway::launch {
namespace {

// A slot is empty, or claimed by the process that looks the record up, or contains the record's
// offset in the file, above the lower bits with its length.
constexpr std::uint64_t slot_empty = 0, slot_claimed = 1;
constexpr unsigned length_bits = 24;
constexpr std::uint64_t length_mask = (std::uint64_t{1} << length_bits) - 1;

// Room for records, most of it never touched: sparse pages cost nothing.
constexpr std::size_t arena_bytes_per_rank = 4096, arena_bytes_min = std::size_t{1} << 20;
constexpr unsigned look_again_us = 100, look_again_us_max = 3200;

std::string path_of(const identity& who, const job_secret& secret) {
  constexpr std::string_view label = "headway node records";
  std::array<unsigned char, 16> hash;
  crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(label.data()),
                     label.size(), reinterpret_cast<const unsigned char*>(secret.data()),
                     secret.size());
  auto path = fmt::format("/dev/shm/headway-{}-records-", who.job_id);
  for (const auto byte : hash) path += fmt::format("{:02x}", byte);
  return path;
}

/// Whether the file belongs to this user and no other user may open it.
bool is_private(const struct stat& file) {
  return S_ISREG(file.st_mode) && file.st_uid == geteuid() && (file.st_mode & 077) == 0;
}

/// Locks the file, as the job's other processes do. Returns 0 or an errno; EAGAIN: another process
/// has removed the file.
int lock_shared(int file) noexcept {
  struct stat found;
  if (fstat(file, &found) != 0) return errno;
  if (!is_private(found)) return EPERM;  // before the lock: another user could hold it for ever
  if (flock(file, LOCK_SH) != 0 || fstat(file, &found) != 0) return errno;
  return found.st_nlink > 0 ? 0 : EAGAIN;
}

/// Opens the file, or creates it, and locks it. Processes of other jobs remove files that are not
/// locked when they start (`sweep` of rails/shm): if one does so between the two steps, begins
/// again. -1: failed, see errno.
int open_locked(const std::string& path) noexcept {
  constexpr int tries = 100;
  for (int i = 0; i < tries; ++i) {
    const int opened = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (opened < 0) return -1;
    const int error = lock_shared(opened);
    if (error == 0) return opened;
    close(opened);
    errno = error;
    if (error != EAGAIN && error != EINTR) return -1;
  }
  return -1;
}

}  // namespace

/// The beginning of the file, followed by the slots. New pages are zero, so the table is valid for
/// whichever process comes first.
struct node_records::table {
  std::atomic<std::uint64_t> arena_used;  // relaxed: assigns ranges, carries no data

  [[nodiscard]] static std::size_t bytes(std::size_t size) noexcept {
    return sizeof(table) + (size + 1) * sizeof(std::atomic<std::uint64_t>);
  }
};

node_records::node_records(const identity& who, const job_secret& secret,
                           std::uint64_t claim_ns_max)
    : path_(path_of(who, secret)),
      claim_ns_max_(claim_ns_max),
      size_(static_cast<std::size_t>(who.size)) {
  HEADWAY_ASSERT(is_place(who.rank, who.size));
  if (auto done = map_file(); !done)
    base::log(base::severity::info, "processes of this node share no records: {}",
              done.error().text);
}

base::result<> node_records::map_file() {
  const auto head = table::bytes(size_);
  const auto bytes = head + std::max(size_ * arena_bytes_per_rank, arena_bytes_min);
  const int opened = open_locked(path_);
  if (opened < 0) return base::failed_errno("open " + path_, errno);
  const auto failed = [&](std::string_view call, int error) {
    close(opened);
    return base::failed_errno(fmt::format("{} {}", call, path_), error);
  };
  const base::file_size_errors meanwhile;
  if (ftruncate(opened, static_cast<off_t>(bytes)) != 0) return failed("ftruncate", errno);
  // Allocates the pages of the slots now: a full /dev/shm is an error here and would be a signal
  // later.
  if (const int error = posix_fallocate(opened, 0, static_cast<off_t>(head)))
    return failed("posix_fallocate", error);
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
  if (mapped == MAP_FAILED) return failed("mmap", errno);
  descriptor_ = opened;
  bytes_ = bytes;
  table_ = static_cast<table*>(mapped);
  return {};
}

node_records::~node_records() {
  if (!table_) return;
  unlink_name();
  munmap(table_, bytes_);
  close(descriptor_);
}

std::atomic<std::uint64_t>& node_records::slot(int rank) const noexcept {
  HEADWAY_ASSERT(table_ && rank >= 0 && static_cast<std::size_t>(rank) <= size_);
  return reinterpret_cast<std::atomic<std::uint64_t>*>(table_ + 1)[rank];
}

std::optional<std::vector<std::byte>> node_records::find(int rank) const {
  if (!table_) return std::nullopt;
  const auto& from = slot(rank);
  auto found = from.load(std::memory_order_acquire);  // (R)
  unsigned pause_us = look_again_us;                  // longer each time: many may wait for one
  for (const auto until_ns = base::machine_now_ns() + claim_ns_max_;
       found == slot_claimed && base::machine_now_ns() < until_ns;
       found = from.load(std::memory_order_acquire)) {  // (R)
    usleep(pause_us);
    pause_us = std::min(2 * pause_us, look_again_us_max);
  }
  if (found == slot_empty || found == slot_claimed) return std::nullopt;
  const auto offset = found >> length_bits, length = found & length_mask;
  if (offset > bytes_ || length > bytes_ - offset) return std::nullopt;
  const auto* bytes = reinterpret_cast<const std::byte*>(table_) + offset;
  return std::vector(bytes, bytes + length);
}

bool node_records::claim(int rank) noexcept {
  if (!table_) return false;
  auto expected = slot_empty;
  // Relaxed: a claim carries no data, it only keeps others from looking up the same record.
  return slot(rank).compare_exchange_strong(expected, slot_claimed, std::memory_order_relaxed);
}

void node_records::put(int rank, std::span<const std::byte> record) noexcept {
  if (!table_) return;
  const auto begin = table::bytes(size_);
  const auto taken = (record.size() + 7) / 8 * 8;
  const auto offset = begin + table_->arena_used.fetch_add(taken, std::memory_order_relaxed);
  // Written by a system call and not through the mapping: lack of memory is then an error, not a
  // signal.
  const bool fits = record.size() <= length_mask && offset <= bytes_ && taken <= bytes_ - offset;
  errno = ENOSPC;
  if (!fits || pwrite(descriptor_, record.data(), record.size(), static_cast<off_t>(offset)) !=
                   static_cast<ssize_t>(record.size())) {
    base::log(base::severity::info, "a record of {} bytes is not shared: {}", record.size(),
              base::failed_errno("write " + path_, errno).error().text);
    return abandon(rank);
  }
  slot(rank).store(offset << length_bits | record.size(), std::memory_order_release);  // (R)
}

void node_records::abandon(int rank) noexcept {
  if (table_) slot(rank).store(slot_empty, std::memory_order_relaxed);  // nothing was written
}

void node_records::unlink_name() noexcept {
  if (table_) unlink(path_.c_str());  // the first process removes it
}

}  // namespace headway::launch
