"""What the kernel may answer: for each system call the errnos that its manual page (man-pages 6.03,
section ERRORS) names. Left out are those that only a wrong argument of the caller gets: EBADF,
EFAULT, ENOTSOCK, EDESTADDRREQ, and EINVAL where no older or smaller kernel gives it to a right one.
ENOSYS and EPERM stand where containers' filters or older kernels give them. Left out is also what
libraries below this one answer by abort(): a `getrandom` that was there and is no longer
(libsodium), and a socket of `getifaddrs` that is not connected (glibc); connections that were made
give neither ENOTCONN nor ECONNREFUSED to their reader; ENOEXEC, by which a program is told to be a
shell script, and is run as one."""

import errno
import re

FILES = "EACCES ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR"
MADE = FILES + " EDQUOT EEXIST ENOSPC EPERM EROFS"
OPEN = (MADE + " EBUSY EFBIG EINTR EINVAL EISDIR EMFILE ENFILE ENODEV ENXIO EOPNOTSUPP EOVERFLOW"
        " ETXTBSY EWOULDBLOCK")  # fmt: skip
REMOVED = FILES + " EBUSY EIO EISDIR EPERM EROFS"
DESCRIPTOR = "EMFILE ENFILE ENOMEM"
SENT = "EAGAIN EACCES ECONNRESET EINTR EMSGSIZE ENOBUFS ENOMEM ENOTCONN EPIPE"
RECEIVED = "EAGAIN EINTR ENOMEM ECONNRESET"
SCHEDULED = "EINVAL EPERM ESRCH"
CLONED = "EAGAIN ENOMEM EPERM ENOSPC"

ERRNOS = {
    "accept4": "EMFILE EAGAIN ECONNABORTED EINTR ENFILE ENOBUFS ENOMEM EPERM EPROTO ETIMEDOUT",
    "access": FILES + " EIO EROFS ETXTBSY EPERM",
    "bind": "EADDRINUSE EACCES EADDRNOTAVAIL EINVAL",
    "brk": "ENOMEM",
    "chdir": FILES + " EIO",
    "clock_nanosleep": "EINTR",
    "clone": CLONED,
    "clone3": CLONED + " ENOSYS",
    "close_range": "",
    "close": "EIO EINTR ENOSPC EDQUOT",
    "connect": "EADDRNOTAVAIL EACCES EADDRINUSE EAGAIN ECONNREFUSED EINTR ENETUNREACH EPERM"
               " ETIMEDOUT",
    "dup": "EMFILE",
    "dup2": "EMFILE EBUSY EINTR",
    "dup3": "EMFILE EBUSY EINTR",
    "epoll_create1": DESCRIPTOR + " EINVAL",
    "epoll_ctl": "ENOSPC ENOMEM EPERM EEXIST ENOENT ELOOP",
    "epoll_pwait": "EINTR EINVAL",
    "epoll_pwait2": "EINTR EINVAL ENOSYS EPERM",
    "epoll_wait": "EINTR EINVAL",
    "eventfd2": DESCRIPTOR + " EINVAL ENODEV",
    "execve": FILES + " EAGAIN E2BIG EIO EMFILE ENFILE EPERM ETXTBSY",
    "fallocate": "ENOSPC EFBIG EINTR EIO ENODEV ENOSYS EOPNOTSUPP EPERM",
    "faccessat2": FILES + " EIO EROFS EPERM",
    "fchmod": "EIO EPERM EROFS",
    "fcntl": "EAGAIN EACCES EINTR EMFILE ENOLCK EPERM",
    "fdatasync": "EIO EINTR ENOSPC EROFS",
    "fork": "EAGAIN ENOMEM",
    "flock": "ENOLCK EINTR EWOULDBLOCK",
    "fstat": "ENOMEM EOVERFLOW",
    "fsync": "EIO EINTR ENOSPC EROFS",
    "ftruncate": "ENOSPC EFBIG EINTR EIO EPERM",
    "futex": "EAGAIN EINTR",
    "getcwd": "EACCES ENOENT ENOMEM",
    "getdents64": "ENOENT",
    "getpriority": "EACCES EPERM ESRCH",
    "getrandom": "EAGAIN EINTR",
    "getsockname": "ENOBUFS",
    "getpeername": "ENOBUFS ENOTCONN",
    "getsockopt": "ENOPROTOOPT",
    "ioctl": "ENOTTY EINVAL",
    "kill": "EPERM ESRCH",
    "linkat": MADE + " EIO EMLINK EXDEV",
    "listen": "EADDRINUSE EOPNOTSUPP",
    "lseek": "ESPIPE EINVAL EOVERFLOW",
    "lstat": FILES + " EOVERFLOW",
    "madvise": "EAGAIN ENOMEM EINVAL EIO EPERM",
    "mbind": "EINVAL EIO ENOMEM EPERM",
    "membarrier": "EINVAL ENOSYS EPERM",
    "memfd_create": DESCRIPTOR + " EINVAL ENOSYS",
    "mkdir": MADE + " EMLINK",
    "mkdirat": MADE + " EMLINK",
    "mknodat": MADE,
    "mlock": "ENOMEM EAGAIN EPERM",
    "mmap": "ENOMEM EACCES EAGAIN EINVAL ENFILE ENODEV EOVERFLOW EPERM ETXTBSY",
    "mprotect": "ENOMEM EACCES EINVAL",
    "mremap": "ENOMEM EAGAIN EINVAL",
    "munmap": "ENOMEM EINVAL",
    "newfstatat": FILES + " EOVERFLOW",
    "openat": OPEN,
    "pidfd_open": DESCRIPTOR + " ENODEV ESRCH ENOSYS EPERM",
    "pidfd_send_signal": "EPERM ESRCH EINVAL ENOSYS",
    "pipe2": "EMFILE ENFILE",
    "poll": "EINTR ENOMEM EINVAL",
    "ppoll": "EINTR ENOMEM EINVAL",
    "prctl": "EINVAL EPERM EBUSY ENOMEM",
    "pread64": "EAGAIN EINTR EINVAL EIO",
    "prlimit64": "EPERM ESRCH",
    "process_vm_readv": "EPERM ENOMEM ESRCH EINVAL ENOSYS",
    "process_vm_writev": "EPERM ENOMEM ESRCH EINVAL ENOSYS",
    "pwrite64": "ENOSPC EAGAIN EDQUOT EFBIG EINTR EIO EPERM EPIPE",
    "read": "EAGAIN EINTR EINVAL EIO",
    "readlink": FILES + " EINVAL EIO",
    "readlinkat": FILES + " EINVAL EIO",
    "readv": "EAGAIN EINTR EINVAL EIO",
    "recvfrom": RECEIVED,
    "recvmsg": RECEIVED,
    "rename": REMOVED + " EDQUOT EMLINK ENOSPC ENOTEMPTY EXDEV",
    "rmdir": REMOVED + " ENOTEMPTY",
    "rseq": "EINVAL ENOSYS EPERM",
    "rt_sigaction": "EINVAL",
    "rt_sigtimedwait": "EAGAIN EINTR",
    "sched_getaffinity": "EPERM EINVAL ESRCH",
    "sched_getattr": SCHEDULED + " E2BIG",
    "sched_setaffinity": SCHEDULED,
    "sched_setattr": SCHEDULED + " E2BIG EBUSY",
    "sched_setscheduler": SCHEDULED,
    "sendmsg": SENT,
    "sendto": SENT,
    "setpgid": "EACCES EPERM ESRCH",
    "setpriority": "EACCES EPERM ESRCH",
    "setsockopt": "ENOPROTOOPT ENOBUFS EPERM",
    "shutdown": "ENOTCONN",
    "sigaltstack": "ENOMEM EPERM",
    "signalfd4": DESCRIPTOR + " ENODEV EINVAL",
    "socket": "EMFILE EACCES EAFNOSUPPORT EINVAL ENFILE ENOBUFS ENOMEM EPROTONOSUPPORT",
    "socketpair": "EMFILE EAFNOSUPPORT ENFILE EOPNOTSUPP EPROTONOSUPPORT",
    "stat": FILES + " EOVERFLOW",
    "statfs": FILES + " EINTR EIO ENOSYS EOVERFLOW",
    "timerfd_create": DESCRIPTOR + " EINVAL ENODEV EPERM",
    "timerfd_settime": "ECANCELED EINVAL",
    "tgkill": "EAGAIN EPERM ESRCH",
    "uname": "",
    "unlink": REMOVED,
    "vfork": "EAGAIN ENOMEM",
    "unlinkat": REMOVED,
    "wait4": "ECHILD EINTR",
    "waitid": "ECHILD EINTR",
    "write": "ENOSPC EAGAIN EDQUOT EFBIG EINTR EIO EPERM EPIPE",
    "writev": "ENOSPC EAGAIN EDQUOT EFBIG EINTR EIO EPERM EPIPE",
}

# These have no ERRORS beside wrong arguments, or cannot fail.
NEVER = """arch_prctl clock_getres clock_gettime getegid geteuid getgid getpgrp getpid getppid
getsid gettid getuid rt_sigpending rt_sigprocmask sched_get_priority_max
sched_get_priority_min sched_yield set_robust_list set_tid_address sysinfo umask uname""".split()

WAITS = (0, 9)  # of a futex: wait, and wait for one of some bits; to wake others is not refused


def is_refusable(call, operation, outside):
    """`outside`: how many functions of other libraries are between the library and the kernel."""
    if call == "futex":
        return operation & 127 in WAITS
    if call == "munmap":  # of a thread's stack: glibc calls abort()
        return outside == 1
    return call not in NEVER


NAME_OF = {number: name for name, number in vars(errno).items() if name.startswith("E")}


def errnos(call):
    return [getattr(errno, name) for name in dict.fromkeys(ERRNOS[call].split())]


# These mean that the other end has gone.
LOST = (errno.ECONNRESET, errno.EPIPE)


def names():
    """The kernel's numbers of its calls, and their names."""
    with open("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", encoding="ascii") as header:
        found = re.findall(r"#define __NR_(\w+) (\d+)", header.read())
    return {int(number): name for name, number in found}
