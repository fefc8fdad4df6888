/* Downloads with libcurl while it computes: libheadway_progress drives libcurl's multi interface.
 *
 *   curl_progress URL FILES [TURNS]     downloads URL/0 … URL/FILES-1, four at a time
 *
 * libcurl is one of many libraries that need to be called again and again until their requests are
 * done. One ltask calls it. The same program runs in turns without background progression (libcurl
 * is only called while the program waits) and with it. `serve` beside this file is a server to try.
 */
#include <curl/curl.h>
#include <headway/progress.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { connections = 4, events_max = 8 };

typedef struct download {
  headway_ltask task;
  CURLM* multi;
  int epoll; /* what libcurl waits for: its sockets and its timer. The ltask's descriptor */
  int timer;
  const char* url;
  int next, files, running, failed;
  long long bytes;
  uint64_t checksum; /* FNV-1a of each file, added up: the order does not matter */
} download;

typedef struct transfer {
  download* of;
  uint64_t hash;
} transfer;

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static size_t on_bytes(char* bytes, size_t one, size_t count, void* argument) {
  transfer* t = argument;
  for (size_t i = 0; i < count * one; ++i)
    t->hash = (t->hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
  t->of->bytes += (long long)(count * one);
  return count * one;
}

/* libcurl says which sockets it waits for, and until when. */
static int on_socket(CURL* easy, curl_socket_t fd, int what, void* argument, void* known) {
  download* d = argument;
  struct epoll_event e = {.data.fd = fd};
  (void)easy;
  if (what == CURL_POLL_REMOVE) return epoll_ctl(d->epoll, EPOLL_CTL_DEL, fd, NULL), 0;
  e.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
  epoll_ctl(d->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e);
  curl_multi_assign(d->multi, fd, d); /* `known` next time */
  return 0;
}
static int on_timer(CURLM* multi, long ms, void* argument) {
  download* d = argument;
  struct itimerspec when = {.it_value = {ms / 1000, ms % 1000 * 1000000}};
  (void)multi;
  if (ms == 0) when.it_value.tv_nsec = 1; /* 0 would stop it */
  if (ms < 0) when.it_value = (struct timespec){0, 0};
  return timerfd_settime(d->timer, 0, &when, NULL);
}

static void start_next(download* d, CURL* easy, transfer* t) {
  char url[1024];
  snprintf(url, sizeof url, "%s/%d", d->url, d->next++);
  *t = (transfer){d, UINT64_C(0xcbf29ce484222325)};
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
  curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
  curl_multi_add_handle(d->multi, easy);
  ++d->running;
}

static void take_the_finished(download* d) {
  int left;
  for (CURLMsg* m; (m = curl_multi_info_read(d->multi, &left)) != NULL;) {
    CURL* easy = m->easy_handle;
    transfer* t;
    d->failed += m->data.result != CURLE_OK;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char**)&t);
    d->checksum += t->hash;
    --d->running;
    curl_multi_remove_handle(d->multi, easy);
    if (d->next < d->files) {
      start_next(d, easy, t);
    } else {
      curl_easy_cleanup(easy);
      free(t);
    }
  }
}

/* The ltask: a thread that reaches a polling point calls libcurl for what is ready. */
static headway_ltask_result drive(headway_ltask* self, void* argument) {
  download* d = argument;
  struct epoll_event ready[events_max];
  const int count = epoll_wait(d->epoll, ready, events_max, 0);
  (void)self;
  for (int i = 0; i < count; ++i) {
    int running, fd = ready[i].data.fd;
    uint64_t expirations;
    int what = (ready[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR) ? CURL_CSELECT_IN : 0) |
               (ready[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0);
    if (fd == d->timer && read(fd, &expirations, sizeof expirations) > 0)
      fd = CURL_SOCKET_TIMEOUT, what = 0;
    curl_multi_socket_action(d->multi, fd, what, &running);
  }
  take_the_finished(d);
  if (d->running == 0) return HEADWAY_LTASK_DONE;
  return count > 0 ? HEADWAY_LTASK_ADVANCED : HEADWAY_LTASK_IDLE;
}

static void begin(download* d, const char* url, int files) {
  headway_ltask_attributes a = HEADWAY_LTASK_ATTRIBUTES;
  *d = (download){.url = url, .files = files, .multi = curl_multi_init()};
  d->epoll = epoll_create1(EPOLL_CLOEXEC);
  d->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  struct epoll_event e = {.events = EPOLLIN, .data.fd = d->timer};
  epoll_ctl(d->epoll, EPOLL_CTL_ADD, d->timer, &e);
  curl_multi_setopt(d->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(d->multi, CURLMOPT_SOCKETDATA, d);
  curl_multi_setopt(d->multi, CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(d->multi, CURLMOPT_TIMERDATA, d);
  for (int i = 0; i < connections && i < files; ++i)
    start_next(d, curl_easy_init(), malloc(sizeof(transfer)));
  a.name = "libcurl";
  a.run = drive;
  a.argument = d;
  a.descriptor = d->epoll;
  if (headway_ltask_init(&d->task, &a) || headway_ltask_submit(&d->task)) exit(2);
}

static volatile double sink;
static void compute(long steps) {
  double x = 0.5;
  for (long i = 0; i < steps; ++i) x = 3.7 * x * (1 - x);
  sink = x;
}

/* Download and compute; the milliseconds that it took. */
static double turn(download* d, const char* url, int files, long steps, int background) {
  headway_progress_turn(HEADWAY_PROGRESS_EVENT, background);
  const double began = now_ms();
  begin(d, url, files);
  compute(steps);
  headway_ltask_wait(&d->task);
  headway_ltask_destroy(&d->task);
  curl_multi_cleanup(d->multi);
  close(d->timer);
  close(d->epoll);
  return now_ms() - began;
}

int main(int argc, char** argv) {
  if (argc < 3) return fprintf(stderr, "usage: %s URL FILES [TURNS]\n", argv[0]), 2;
  const int files = atoi(argv[2]), turns = argc > 3 ? atoi(argv[3]) : 5;
  double without = 0, with = 0;
  download d;
  curl_global_init(CURL_GLOBAL_ALL);
  if (headway_progress_start(NULL)) return fprintf(stderr, "%s\n", headway_progress_error()), 2;
  /* As much computation as communication: where there is most to be gained. */
  turn(&d, argv[1], files, 0, 0);
  const double download_ms = turn(&d, argv[1], files, 0, 0), began = now_ms();
  compute(10000000);
  const long steps = (long)(1e7 * download_ms / (now_ms() - began));
  printf("download alone %.0f ms, as long as %ld steps of computation\n", download_ms, steps);
  for (int i = 0; i < turns; ++i) {
    without += turn(&d, argv[1], files, steps, 0) / turns;
    with += turn(&d, argv[1], files, steps, 1) / turns;
  }
  printf("time saved: %.0f %% (%d turns, %.0f ms without progression, %.0f with)\n",
         100 * (1 - with / without), turns, without, with);
  printf("last download: %lld bytes, checksum %016llx, %d failed\n", d.bytes,
         (unsigned long long)d.checksum, d.failed);
  headway_progress_stop();
  curl_global_cleanup();
  return d.failed ? 1 : 0;
}
