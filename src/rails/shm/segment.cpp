#include "rails/shm/segment.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <optional>
#include <string_view>
#include <vector>

#include "base/file_size_errors.hpp"
#include "base/lock_guard.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "rails/shm/doorbell.hpp"

namespace headway::rails::shm {

using base::failed;
using base::failed_errno;
using base::fault_kind;

owned_fd::~owned_fd() {
  if (fd_ >= 0) ::close(fd_);
}

namespace {

slot_view view_of(std::byte* base, const geometry& shape, std::uint32_t index) noexcept {
  std::byte* at = base + head_bytes + index * shape.slot_bytes();
  std::byte* const ring = at + control_bytes;
  std::byte* const passed = ring + shape.ring_bytes;
  std::byte* const pieces = passed + shape.passed_bytes();
  return {.control = reinterpret_cast<slot_control*>(at),
          .ring = ring,
          .passed = passed,
          .pieces = pieces,
          .replies = pieces + shape.pieces_bytes()};
}

std::string bell_of(const std::string& path) { return path + ".bell"; }

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// In both modes, so that a bell whose owner has died does not raise SIGPIPE.
int open_bell(const std::string& path) noexcept {
  return ::open(bell_of(path).c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
}

/// Otherwise a full file system causes a signal in the middle of a copy. Not posix_fallocate: where
/// that is unsupported it writes, which would race with other writers.
bool reserve_range(int fd, std::size_t offset, std::size_t bytes) noexcept {
  const base::file_size_errors meanwhile;
  int done;
  do {
    done = fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (done != 0 && errno == EINTR);
  return done == 0 || errno == EOPNOTSUPP || errno == ENOSYS;
}

struct file_system {
  std::size_t capacity = 0, free = 0;  ///< bytes
};

/// The one that holds `directory`; nothing: it has no limit, or reports none.
std::optional<file_system> file_system_of(const std::string& directory) noexcept {
  struct statvfs about{};
  if (statvfs(directory.c_str(), &about) != 0 || about.f_blocks == 0) return std::nullopt;
  const std::size_t unit = about.f_frsize;
  return file_system{.capacity = about.f_blocks * unit, .free = about.f_bavail * unit};
}

/// The failure is due to a limit of this process; the file may exist.
bool out_of_resources(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/// The reason, by errno, why `what` does not get its memory.
std::unexpected<base::fault> no_room(const std::string& directory, std::size_t bytes,
                                     const char* what) {
  if (errno != ENOSPC && errno != ENOMEM)
    return failed_errno(fmt::format("shm: fallocate in {}", directory), errno);
  return failed(fault_kind::no_memory,
                fmt::format("shm: {} needs {} KiB of {}, where {} KiB are free (HEADWAY_SHM_RING, "
                            "HEADWAY_SHM_PIECE and HEADWAY_SHM_PIECES make it less)",
                            what, bytes / 1024, directory,
                            file_system_of(directory).value_or(file_system{}).free / 1024));
}

void remove_names(const std::string& path) noexcept {
  // The bell first: a segment without a bell is swept later, a bell without a segment is not.
  unlink(bell_of(path).c_str());
  unlink(path.c_str());
}

}  // namespace

// --- mappings

struct mapping_table {
  base::mutex lock;  // cold: taken by open and connect
  std::vector<std::weak_ptr<mapping>> known HEADWAY_GUARDED_BY(lock);

  std::shared_ptr<mapping> find(const mapping::key& wanted) HEADWAY_REQUIRES(lock) {
    std::erase_if(known, [](const auto& one) { return one.expired(); });
    for (const auto& one : known)
      if (auto found = one.lock(); found && found->key_ == wanted) return found;
    return nullptr;
  }
  static mapping_table& of_process() {
    static mapping_table one;
    return one;
  }
};

base::result<std::shared_ptr<mapping>> mapping::of(int fd, std::size_t bytes) {
  struct stat about{};
  if (fstat(fd, &about) != 0) return failed_errno("fstat of a segment", errno);
  const key wanted{about.st_dev, about.st_ino};
  auto& table = mapping_table::of_process();
  const base::lock_guard guard(table.lock);
  if (auto found = table.find(wanted)) return found;
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (base == MAP_FAILED) return failed_errno("mmap of a segment", errno);
  std::shared_ptr<mapping> made(new mapping(static_cast<std::byte*>(base), bytes, wanted));
  table.known.push_back(made);
  return made;
}

mapping::~mapping() { munmap(base_, bytes_); }

// --- this process's own

namespace {

/// How much of a segment `create` reserves.
struct kept_memory {
  geometry shape;
  std::size_t bytes = head_bytes;
};

/// All that peers need, if the file system may be too small for the segments of all sharers; with
/// fewer piece buffers, as far as that helps.
kept_memory keep_for(const segment_options& options) noexcept {
  constexpr std::uint32_t piece_count_min = 2;
  kept_memory kept{.shape = options.shape};
  const auto where = file_system_of(options.directory);
  const std::size_t sharers = std::max(options.sharers, 1u);
  const auto too_large = [&] { return kept.shape.bytes_for(sharers) > where->free / sharers; };
  if (!where || !too_large()) return kept;
  while (kept.shape.piece_count > piece_count_min && too_large()) kept.shape.piece_count /= 2;
  kept.bytes = kept.shape.bytes_for(sharers);
  return kept;
}

}  // namespace

base::result<std::unique_ptr<segment>> segment::create(const segment_options& options) {
  std::unique_ptr<segment> made(new segment);
  const auto kept = keep_for(options);
  made->shape_ = kept.shape;
  made->sharers_ = std::max(options.sharers, 1u);
  const token proof = random_token();
  // Segments never share a name: a sweeper that has found the owner of one dead must not remove
  // another one. The name is the beginning of the proof, which need not be secret from the same
  // user.
  std::uint64_t unique;
  std::memcpy(&unique, proof.data(), sizeof unique);
  const std::string path = fmt::format("{}/{}.{:016x}", options.directory, options.name, unique);
  // The file gets its name after it is locked and filled in, so that no sweeper takes it for dead.
  const std::string early = fmt::format("{}/.{}.{:016x}", options.directory, options.name, unique);
  made->file_ = owned_fd(::open(early.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!made->file_.valid()) return failed_errno("open " + early, errno);
  const auto give_up = [&](std::string what) {
    const int why = errno;
    unlink(early.c_str());
    return failed_errno(std::move(what), why);
  };
  const int fd = made->file_.get();
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) return give_up("flock " + early);
  const auto bytes = static_cast<off_t>(kept.shape.total_bytes());
  const base::file_size_errors meanwhile;
  if (ftruncate(fd, bytes) != 0) return give_up("ftruncate " + early);
  if (!reserve_range(fd, 0, kept.bytes)) {
    auto why = no_room(options.directory, kept.bytes, "a process");
    unlink(early.c_str());
    return why;
  }
  auto memory = mapping::of(fd, kept.shape.total_bytes());
  if (!memory) {
    unlink(early.c_str());
    return std::unexpected(memory.error());
  }
  made->memory_ = std::move(*memory);
  auto* head = new (made->memory_->base()) segment_head{};
  head->label = {
      .magic = layout_magic, .version = layout_version, .shape = kept.shape, .proof = proof};
  head->bell.store(doorbell::strict, std::memory_order_relaxed);
  head->hurry_bell.store(doorbell::strict, std::memory_order_relaxed);
  if (rename(early.c_str(), path.c_str()) != 0) return give_up("rename to " + path);
  made->path_ = path;
  unlink(bell_of(path).c_str());
  if (mkfifo(bell_of(path).c_str(), 0600) != 0)
    return failed_errno("mkfifo " + bell_of(path), errno);
  made->bell_ = owned_fd(::open(bell_of(path).c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!made->bell_.valid()) return failed_errno("open " + bell_of(path), errno);
  return made;
}

segment::~segment() {
  // A sweeper or a launcher may have removed the names: removes only what is still this file.
  struct stat mine{}, named{};
  if (path_.empty() || fstat(file_.get(), &mine) != 0 || stat(path_.c_str(), &named) != 0) return;
  if (mine.st_ino == named.st_ino && mine.st_dev == named.st_dev) remove_names(path_);
}

segment_head& segment::head() const noexcept {
  return *reinterpret_cast<segment_head*>(memory_->base());
}

slot_view segment::slot(std::uint32_t index) const noexcept {
  return view_of(memory_->base(), shape_, index);
}

bool segment::reserve_of_slot(std::uint32_t slot, std::size_t begin,
                              std::size_t bytes) const noexcept {
  constexpr std::size_t left_for_each = 8 * shm_slots::passed_at;
  const auto where = file_system_of(directory_of(path_));
  if (where && where->free / sharers_ < left_for_each) return false;
  return reserve_range(file_.get(), shape_.banks_at() + slot * shm_slots::banked_bytes + begin,
                       bytes);
}

void segment::ring_bell() const noexcept {
  // if it is full it is readable already
  [[maybe_unused]] const auto written = ::write(bell_.get(), "!", 1);
}

bool segment::drain_bell() const noexcept {
  char bytes[64];
  bool some = false;
  while (::read(bell_.get(), bytes, sizeof bytes) > 0) some = true;
  return some;
}

// --- a peer's

base::result<> attachment::map(const address& where) {
  path_ = where.path;
  file_ = owned_fd(::open(where.path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!file_.valid() && out_of_resources(errno)) return failed_errno("open " + where.path, errno);
  if (!file_.valid())
    return failed(fault_kind::unsupported, fmt::format("shm: {} is not here", where.path));
  struct stat about{};
  if (fstat(file_.get(), &about) != 0 || !S_ISREG(about.st_mode) ||
      static_cast<std::size_t>(about.st_size) < head_bytes)
    return failed(fault_kind::unsupported, fmt::format("shm: {} is no segment", where.path));
  // Read with read(2), not mapped: if the file were cut short later, an access to the mapping would
  // raise a signal.
  segment_label label{};
  if (pread(file_.get(), &label, sizeof label, 0) != sizeof label)
    return failed(fault_kind::unsupported, fmt::format("shm: {} is unreadable", where.path));
  if (label.magic != layout_magic || label.version != layout_version || !label.shape.sane() ||
      label.proof != where.proof ||
      static_cast<std::size_t>(about.st_size) != label.shape.total_bytes())
    return failed(fault_kind::unsupported,
                  fmt::format("shm: {} is another process's segment", where.path));
  shape_ = label.shape;
  auto memory = mapping::of(file_.get(), shape_.total_bytes());
  if (!memory) return std::unexpected(memory.error());
  memory_ = std::move(*memory);
  return {};
}

base::result<> attachment::claim_slot(processes::process_id me, const std::string& path) {
  // relaxed: it only assigns numbers
  index_ = head().claimed.fetch_add(1, std::memory_order_relaxed);
  if (index_ >= shape_.slot_count)
    return failed(fault_kind::no_memory, fmt::format("shm: no slot is free in {}", path));
  slot_ = view_of(memory_->base(), shape_, index_);
  const auto bytes = control_bytes + shape_.ring_bytes;
  if (!reserve(reinterpret_cast<std::byte*>(slot_.control), bytes))
    return no_room(directory_of(path), bytes, "a peer");
  // Published by the release of this slot's bit in `active`.
  slot_.control->job.store(me.job, std::memory_order_relaxed);
  slot_.control->rank_plus_one.store(me.rank + 1, std::memory_order_relaxed);
  return {};
}

base::result<std::unique_ptr<attachment>> attachment::attach(const address& where,
                                                             processes::process_id me) {
  const address here = this_process();
  if (where.boot_id != here.boot_id)
    return failed(fault_kind::unsupported, "shm: the peer is on another machine");
  std::unique_ptr<attachment> made(new attachment);
  if (auto mapped = made->map(where); !mapped) return std::unexpected(mapped.error());
  made->bell_ = owned_fd(open_bell(where.path));
  if (!made->bell_.valid() && out_of_resources(errno))
    return failed_errno("open " + bell_of(where.path), errno);
  if (!made->bell_.valid())
    return failed(fault_kind::unsupported, fmt::format("shm: {} has no bell", where.path));
  if (where.pid_namespace == here.pid_namespace && where.pid_namespace != 0) {
    made->pid_ = static_cast<pid_t>(where.pid);
    made->process_ = owned_fd(static_cast<int>(syscall(SYS_pidfd_open, where.pid, 0)));
  }
  if (auto claimed = made->claim_slot(me, where.path); !claimed)
    return std::unexpected(claimed.error());
  made->keep_or_close();
  return made;
}

namespace {

/// Attachments that keep their descriptors; a relaxed count.
std::atomic<rlim_t> kept_attachments{0};

rlim_t kept_attachments_max() noexcept {
  constexpr rlim_t for_each = 4, share = 4;
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur / share / for_each : 0;
}

}  // namespace

void attachment::keep_or_close() noexcept {
  kept_ = kept_attachments.fetch_add(1, std::memory_order_relaxed) < kept_attachments_max();
  if (kept_) return;
  kept_attachments.fetch_sub(1, std::memory_order_relaxed);
  for (auto* one : {&file_, &bell_, &process_}) *one = owned_fd();
}

attachment::~attachment() {
  if (kept_) kept_attachments.fetch_sub(1, std::memory_order_relaxed);
  static_cast<void>(owned_fd(memory_file_.load(std::memory_order_relaxed)));
}

/// A process that still runs when the file is open is the one to which the file belongs.
int attachment::open_memory_file() noexcept {
  owned_fd opened;
  if (kept_ && pid_ != 0)
    opened = owned_fd(::open(fmt::format("/proc/{}/mem", pid_).c_str(), O_RDWR | O_CLOEXEC));
  const bool usable = opened.valid() && process_runs();
  int known = not_opened;
  const int mine = usable ? opened.get() : no_file;
  if (!memory_file_.compare_exchange_strong(known, mine, std::memory_order_acq_rel))  // (M)
    return known;
  if (usable) static_cast<void>(opened.release());
  return mine;
}

int attachment::file(owned_fd& again) const noexcept {
  if (file_.valid()) return file_.get();
  again = owned_fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  return again.get();
}

segment_head& attachment::head() const noexcept {
  return *reinterpret_cast<segment_head*>(memory_->base());
}

void attachment::ring_bell() const noexcept {
  const owned_fd again(bell_.valid() ? -1 : open_bell(path_));
  // If it is full it is readable already.
  [[maybe_unused]] const auto written = ::write(bell_.valid() ? bell_.get() : again.get(), "!", 1);
}

bool attachment::reserve(const std::byte* begin, std::size_t bytes) noexcept {
  owned_fd again;
  const int fd = file(again);
  const auto offset = static_cast<std::size_t>(begin - memory_->base());
  if (fd < 0 || !reserve_range(fd, offset, bytes)) return false;
  map_now(memory_->base() + offset, bytes);
  return true;
}

std::optional<std::size_t> capacity_of(const std::string& directory) noexcept {
  const auto found = file_system_of(directory);
  return found ? std::optional(found->capacity) : std::nullopt;
}

void map_now(std::byte* begin, std::size_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  static_cast<void>(madvise(begin, bytes, MADV_POPULATE_WRITE));
#endif
}

bool attachment::reserve_or_say(const std::byte* begin, std::size_t bytes) noexcept {
  if (reserve(begin, bytes)) return true;
  const auto why = no_room(directory_of(path_), bytes, "a peer");
  base::log(base::severity::error, "{}", why.error().text);
  return false;
}

bool attachment::reserve_pieces() noexcept {
  return reserve_or_say(slot_.pieces, shape_.pieces_bytes());
}

bool attachment::reserve_passed() noexcept { return reserve(slot_.passed, shape_.passed_bytes()); }

bool attachment::reserve_replies() noexcept {
  return reserve_or_say(slot_.replies, std::size_t{shape_.piece_bytes} * reply_count);
}

/// A `poll` that fails shows nothing: it does where a process may have no descriptor.
bool attachment::process_has_ended() const noexcept {
  pollfd ended{process_.get(), POLLIN, 0};
  return process_.valid() && ::poll(&ended, 1, 0) > 0;
}

bool attachment::owner_alive() const noexcept {
  if (process_has_ended()) return false;
  owned_fd again;
  const int fd = file(again);
  // A sweeper or a launcher may have removed the name.
  if (fd < 0) return errno != ENOENT || pid_ == 0 || kill(pid_, 0) == 0 || errno != ESRCH;
  // The owner keeps the file locked; the kernel unlocks it when the owner dies.
  if (flock(fd, LOCK_SH | LOCK_NB) != 0) return true;
  flock(fd, LOCK_UN);
  return false;
}

// --- the dead

namespace {

/// The mark of a line that one process of a job has printed for all (base/once_a_job.hpp): it is
/// empty, no process locks it, and the job's launcher removes it. The launcher of one that is older
/// than a day was killed.
bool is_mark(const struct stat& about) noexcept {
  constexpr std::time_t day_s = 24 * 60 * 60;
  return about.st_size == 0 && std::time(nullptr) < about.st_mtime + day_s;
}

void sweep_one(const std::string& path) noexcept {
  const owned_fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid() || flock(file.get(), LOCK_EX | LOCK_NB) != 0) return;
  struct stat about{};  // without a link, another process has removed it: the path may be another's
  if (fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_nlink == 0 ||
      about.st_uid != geteuid() || is_mark(about))
    return;
  remove_names(path);
  base::log(base::severity::debug, "shm: removed {}, whose owner is dead", path);
}

}  // namespace

void sweep(const std::string& directory, std::string_view kept) noexcept {
  DIR* listing = opendir(directory.c_str());
  if (!listing) return;
  while (const dirent* entry = readdir(listing)) {
    const std::string_view name = entry->d_name;
    const bool passed_over = !kept.empty() && name.starts_with(kept);
    if (name.starts_with(file_prefix) && !name.ends_with(".bell") && !passed_over)
      sweep_one(directory + "/" + std::string(name));
  }
  closedir(listing);
}

}  // namespace headway::rails::shm
