/* Goes in front of the C library (LD_PRELOAD) and refuses calls, as the kernel may when it has too
 * little of something.
 *
 *   REFUSE=function:number:errno   The call with this number, counted from 1, fails with this
 *                                  errno; with a negative number that one and all after it; with 0
 *                                  none.
 *   REFUSE_RANK=r                  Only in the process whose PMI_RANK is r.
 *   REFUSE_PATH=part               Of `open` only calls with this in the path count.
 *   REFUSE_BYTES=least             Of `malloc` only calls for so many bytes and up to 511 more
 *                                  count; without it none.
 *   REFUSE_COUNT=file              Gets a byte for each call, so that the calls can be counted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

static bool is_counted(const char* function) {
  const char* const plan = getenv("REFUSE");
  const char* const rank = getenv("REFUSE_RANK");
  const char* const own = getenv("PMI_RANK");
  const size_t length = strlen(function);
  return plan && rank && own && strcmp(rank, own) == 0 && strncmp(plan, function, length) == 0 &&
         plan[length] == ':';
}

static bool refused(const char* function) {
  static atomic_long calls;
  if (!is_counted(function)) return false;
  const char* const record = getenv("REFUSE_COUNT");
  if (record) {
    const int file =
        (int)syscall(SYS_openat, AT_FDCWD, record, O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (write(file, "x", 1) != 1) abort();
    close(file);
  }
  char* end = NULL;
  const long number = strtol(strchr(getenv("REFUSE"), ':') + 1, &end, 10);
  const long now = atomic_fetch_add(&calls, 1) + 1;
  if (number == 0 || (number > 0 ? now != number : now < -number)) return false;
  errno = atoi(end + 1);
  return true;
}

#define REFUSABLE(type, name, parameters, arguments, failure)      \
  type name parameters {                                           \
    static type(*next) parameters;                                 \
    if (!next) next = (type(*) parameters)dlsym(RTLD_NEXT, #name); \
    return refused(#name) ? (failure) : next arguments;            \
  }

REFUSABLE(void*, mmap, (void* at, size_t bytes, int rights, int flags, int fd, off_t from),
          (at, bytes, rights, flags, fd, from), MAP_FAILED)
REFUSABLE(int, ftruncate, (int fd, off_t bytes), (fd, bytes), -1)
REFUSABLE(int, fallocate, (int fd, int how, off_t from, off_t bytes), (fd, how, from, bytes), -1)
REFUSABLE(int, posix_fallocate, (int fd, off_t from, off_t bytes), (fd, from, bytes), errno)
REFUSABLE(int, flock, (int fd, int how), (fd, how), -1)
REFUSABLE(int, socket, (int family, int type, int protocol), (family, type, protocol), -1)
REFUSABLE(int, bind, (int fd, const struct sockaddr* at, socklen_t bytes), (fd, at, bytes), -1)
REFUSABLE(int, listen, (int fd, int most), (fd, most), -1)
REFUSABLE(int, accept4, (int fd, struct sockaddr* from, socklen_t* bytes, int flags),
          (fd, from, bytes, flags), -1)
REFUSABLE(int, connect, (int fd, const struct sockaddr* to, socklen_t bytes), (fd, to, bytes), -1)
REFUSABLE(int, getsockname, (int fd, struct sockaddr* of, socklen_t* bytes), (fd, of, bytes), -1)
REFUSABLE(int, setsockopt, (int fd, int level, int name, const void* value, socklen_t bytes),
          (fd, level, name, value, bytes), -1)
REFUSABLE(int, epoll_create1, (int flags), (flags), -1)
REFUSABLE(int, eventfd, (unsigned count, int flags), (count, flags), -1)
REFUSABLE(int, timerfd_create, (int clock, int flags), (clock, flags), -1)
REFUSABLE(int, sched_getaffinity, (pid_t of, size_t bytes, cpu_set_t* set), (of, bytes, set), -1)
REFUSABLE(int, sched_setaffinity, (pid_t of, size_t bytes, const cpu_set_t* set), (of, bytes, set),
          -1)
REFUSABLE(int, pthread_create,
          (pthread_t * made, const pthread_attr_t* how, void* (*run)(void*), void* with),
          (made, how, run, with), errno)
REFUSABLE(ssize_t, process_vm_readv,
          (pid_t of, const struct iovec* to, unsigned long tos, const struct iovec* from,
           unsigned long froms, unsigned long flags),
          (of, to, tos, from, froms, flags), -1)
REFUSABLE(ssize_t, process_vm_writev,
          (pid_t of, const struct iovec* from, unsigned long froms, const struct iovec* to,
           unsigned long tos, unsigned long flags),
          (of, from, froms, to, tos, flags), -1)

/* Not by dlsym, which allocates. */
void* __libc_malloc(size_t bytes);

void* malloc(size_t bytes) {
  const char* const least = getenv("REFUSE_BYTES");
  const size_t above = least ? bytes - strtoul(least, NULL, 10) : SIZE_MAX;
  return above < 512 && refused("malloc") ? NULL : __libc_malloc(bytes);
}

/* Only what adds a descriptor takes memory of the kernel. */
int epoll_ctl(int set, int what, int fd, struct epoll_event* event) {
  static int (*next)(int, int, int, struct epoll_event*);
  if (!next) next = (int (*)(int, int, int, struct epoll_event*))dlsym(RTLD_NEXT, "epoll_ctl");
  return what == EPOLL_CTL_ADD && refused("epoll_ctl") ? -1 : next(set, what, fd, event);
}

int open(const char* path, int flags, ...) {
  static int (*next)(const char*, int, ...);
  if (!next) next = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, "open");
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  const char* const part = getenv("REFUSE_PATH");
  const bool counts = !part || strstr(path, part) != NULL;
  return counts && refused("open") ? -1 : next(path, flags, mode);
}
