#include "rails/shm/host.hpp"

#include <linux/membarrier.h>
#include <sodium.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "base/host_identity.hpp"
#include "base/process_name.hpp"
#include "rails/shm/doorbell.hpp"

namespace headway::rails::shm {
namespace {

constexpr std::size_t path_bytes_max = 512;

struct fixed_part {
  std::uint64_t magic;
  std::uint64_t pid_namespace;
  std::uint64_t proof_address;
  std::uint32_t pid;
  std::uint32_t user;
  token proof;
  std::array<char, 36> boot_id;
  std::uint32_t path_bytes;
};
static_assert(sizeof(fixed_part) == 88 && std::is_trivially_copyable_v<fixed_part>);

/// Copies all of `here` to or from `there` in the other process, by the system call for it.
bool copy_all(decltype(&process_vm_readv) call, pid_t pid, std::uint64_t there,
              std::span<std::byte> here) noexcept {
  while (!here.empty()) {
    const iovec local{here.data(), here.size()};
    const iovec remote{reinterpret_cast<void*>(there), here.size()};
    const ssize_t done = call(pid, &local, 1, &remote, 1, 0);
    if (done <= 0) return false;
    there += static_cast<std::uint64_t>(done);
    here = here.subspan(static_cast<std::size_t>(done));
  }
  return true;
}

}  // namespace

bool process_fences::enlist() noexcept {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void process_fences::heavy() noexcept {
  full();  // also if the call below has been forbidden since `enlist`
  syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

std::vector<std::byte> address::packed() const {
  const fixed_part fixed{.magic = layout_magic,
                         .pid_namespace = pid_namespace,
                         .proof_address = proof_address,
                         .pid = pid,
                         .user = user,
                         .proof = proof,
                         .boot_id = boot_id,
                         .path_bytes = static_cast<std::uint32_t>(path.size())};
  std::vector<std::byte> bytes(sizeof fixed + path.size());
  std::memcpy(bytes.data(), &fixed, sizeof fixed);
  std::memcpy(bytes.data() + sizeof fixed, path.data(), path.size());
  return bytes;
}

base::result<address> address::parse(std::span<const std::byte> bytes) {
  fixed_part fixed{};
  if (bytes.size() >= sizeof fixed) std::memcpy(&fixed, bytes.data(), sizeof fixed);
  if (fixed.magic != layout_magic || fixed.path_bytes > path_bytes_max || fixed.path_bytes == 0 ||
      bytes.size() != sizeof fixed + fixed.path_bytes)
    return base::failed(base::fault_kind::bad_input, "shm: this is no shared-memory address");
  address a;
  a.boot_id = fixed.boot_id;
  a.pid_namespace = fixed.pid_namespace;
  a.proof_address = fixed.proof_address;
  a.pid = fixed.pid;
  a.user = fixed.user;
  a.proof = fixed.proof;
  a.path.assign(reinterpret_cast<const char*>(bytes.data() + sizeof fixed), fixed.path_bytes);
  return a;
}

address this_process() {
  const auto name = base::process_name::own();
  address a;
  base::boot_id().copy(a.boot_id.data(), a.boot_id.size());
  a.pid_namespace = name.pid_namespace;
  a.pid = name.pid;
  a.user = geteuid();
  return a;
}

bool runs_here(const address& peer) noexcept {
  return peer.pid_namespace != 0 && peer.pid_namespace == this_process().pid_namespace &&
         !base::has_ended({.pid_namespace = peer.pid_namespace, .pid = peer.pid});
}

token random_token() {
  token t{};
  randombytes_buf(t.data(), t.size());  // on Linux this needs no initialisation of the library
  return t;
}

bool read_remote(pid_t pid, std::uint64_t from, std::span<std::byte> to) noexcept {
  return copy_all(process_vm_readv, pid, from, to);
}

bool write_remote(pid_t pid, std::uint64_t to, std::span<const std::byte> from) noexcept {
  // iovec has no const form; this memory is only read
  return copy_all(process_vm_writev, pid, to, {const_cast<std::byte*>(from.data()), from.size()});
}

bool read_by_file(int file, std::uint64_t from, std::span<std::byte> to) noexcept {
  return std::cmp_equal(::pread(file, to.data(), to.size(), static_cast<off_t>(from)), to.size());
}

bool write_by_file(int file, std::uint64_t to, std::span<const std::byte> from) noexcept {
  const auto done = ::pwrite(file, from.data(), from.size(), static_cast<off_t>(to));
  return std::cmp_equal(done, from.size());
}

}  // namespace headway::rails::shm
