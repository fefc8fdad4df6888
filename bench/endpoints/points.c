/* Latency and rate of messages between two threads, by end-points, ZeroMQ or NNG.
 *
 *   points --library zmq|nng --place thread|machine|tcp        forks where it needs to
 *   points --library queue                                     threads, without any library
 *   points --library socket --place tcp                        processes, likewise, never asleep
 *   mpiexec -n 1|2 points --library headway                    the place is the launcher's
 *
 *   [--sizes 64,4096,…] [--seconds S] [--csv FILE]
 *
 * Every library builds its message in its own memory (a buffer, zmq_msg_t, nng_msg), and the other
 * side returns what it received, so none copies more than it must. Latency: half a round trip,
 * median of batches. Rate: messages in one direction, an answer every few megabytes. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <headway/endpoint.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

/* The functions of one library. A message is made, then sent; or got, then sent back or dropped. */
struct library {
  const char* name;
  void (*open)(int side);
  void* (*make)(size_t bytes);
  void (*send)(void);
  void* (*get)(size_t* bytes);
  void (*back)(void);
  void (*drop)(void);
};

static const char* where = ""; /* ZeroMQ's and NNG's address */
static void* zmq_world;

static void die(const char* what) {
  fprintf(stderr, "points: %s: %s\n", what, headway_error_text());
  exit(1);
}

/* ---- end-points ---- */

static _Thread_local headway_endpoint own;
static _Thread_local headway_address other;
static _Thread_local headway_message held;

static void headway_open(int side) {
  headway_join();
  if (headway_endpoint_open(side ? "points/1" : "points/0", &own)) die("open");
  if (headway_endpoint_lookup(side ? "points/0" : "points/1", HEADWAY_FOREVER, &other))
    die("lookup");
}
static void* headway_make(size_t bytes) {
  held.bytes = bytes;
  if (headway_buffer_request(bytes, &held.data)) die("request");
  return held.data;
}
static void headway_send(void) {
  if (headway_endpoint_send(own, other, 0, held.data, held.bytes, HEADWAY_FOREVER)) die("send");
}
static void* headway_get(size_t* bytes) {
  if (headway_endpoint_receive(own, HEADWAY_ANY_TAG, NULL, HEADWAY_FOREVER, &held)) die("receive");
  *bytes = held.bytes;
  return held.data;
}
static void headway_drop(void) { headway_buffer_release(held.data); }

/* ---- ZeroMQ ---- */

static _Thread_local void* zmq_own;
static _Thread_local zmq_msg_t zmq_held;

static void points_zmq_open(int side) {
  if (!zmq_world) zmq_world = zmq_ctx_new();
  zmq_own = zmq_socket(zmq_world, ZMQ_PAIR);
  if (side == 0 ? zmq_bind(zmq_own, where) : zmq_connect(zmq_own, where)) die(zmq_strerror(errno));
}
static void* points_zmq_make(size_t bytes) {
  zmq_msg_init_size(&zmq_held, bytes);
  return zmq_msg_data(&zmq_held);
}
static void points_zmq_send(void) {
  if (zmq_msg_send(&zmq_held, zmq_own, 0) < 0) die("zmq_msg_send");
}
static void* points_zmq_get(size_t* bytes) {
  zmq_msg_init(&zmq_held);
  if (zmq_msg_recv(&zmq_held, zmq_own, 0) < 0) die("zmq_msg_recv");
  *bytes = zmq_msg_size(&zmq_held);
  return zmq_msg_data(&zmq_held);
}
static void points_zmq_drop(void) { zmq_msg_close(&zmq_held); }

/* ---- NNG ---- */

static _Thread_local nng_socket nng_own;
static _Thread_local nng_msg* nng_held;

static void points_nng_open(int side) {
  if (nng_pair0_open(&nng_own)) die("nng_pair0_open");
  int status = side == 0 ? nng_listen(nng_own, where, NULL, 0) : NNG_ECONNREFUSED;
  for (int i = 0; side == 1 && status != 0 && i < 200; ++i) {
    status = nng_dial(nng_own, where, NULL, 0);
    if (status) usleep(10000);
  }
  if (status) die(nng_strerror(status));
}
static void* points_nng_make(size_t bytes) {
  if (nng_msg_alloc(&nng_held, bytes)) die("nng_msg_alloc");
  return nng_msg_body(nng_held);
}
static void points_nng_send(void) {
  if (nng_sendmsg(nng_own, nng_held, 0)) die("nng_sendmsg");
}
static void* points_nng_get(size_t* bytes) {
  if (nng_recvmsg(nng_own, &nng_held, 0)) die("nng_recvmsg");
  *bytes = nng_msg_len(nng_held);
  return nng_msg_body(nng_held);
}
static void points_nng_drop(void) { nng_msg_free(nng_held); }

/* ---- a pointer through a queue: the lower bound between threads, both awake ---- */

enum { queue_slots = 16, queue_buffers = 4 * queue_slots };

struct entry {
  void* data;
  size_t bytes;
};
struct queue {
  _Alignas(128) atomic_size_t put; /* release: the entry is whole -> acquire: it is read */
  _Alignas(128) atomic_size_t got; /* release: it was read -> acquire: it is written again */
  _Alignas(128) struct entry entries[queue_slots];
};
static struct queue queues[2];
static _Thread_local struct entry queue_held;
static _Thread_local struct queue *queue_in, *queue_out;
static _Thread_local char* queue_memory;
static _Thread_local size_t queue_next;

static void queue_open(int side) {
  queue_in = &queues[side];
  queue_out = &queues[1 - side];
  queue_memory = aligned_alloc(4096, (size_t)queue_buffers << 20);
  if (!queue_memory) die("memory");
}
static void* queue_make(size_t bytes) {
  if (bytes > 1 << 20) die("at most a MiB");
  queue_held.bytes = bytes;
  queue_held.data = queue_memory + ((queue_next++ % queue_buffers) << 20);
  return queue_held.data;
}
static void queue_send(void) {
  struct queue* q = queue_out;
  const size_t at = atomic_load_explicit(&q->put, memory_order_relaxed);
  while (at - atomic_load_explicit(&q->got, memory_order_acquire) == queue_slots) sched_yield();
  q->entries[at % queue_slots] = queue_held;
  atomic_store_explicit(&q->put, at + 1, memory_order_release);
}
static void* queue_get(size_t* bytes) {
  struct queue* q = queue_in;
  const size_t at = atomic_load_explicit(&q->got, memory_order_relaxed);
  for (unsigned looks = 1; atomic_load_explicit(&q->put, memory_order_acquire) == at; ++looks)
    if (looks % 4096 == 0) sched_yield();
  queue_held = q->entries[at % queue_slots];
  atomic_store_explicit(&q->got, at + 1, memory_order_release);
  *bytes = queue_held.bytes;
  return queue_held.data;
}
static void queue_drop(void) {} /* the sender uses the entry again */

/* ---- a TCP socket: the lower bound between processes by TCP, both awake ---- */

enum { socket_bytes_max = 1 << 20 };
struct socket_message {
  uint64_t bytes;
  char data[socket_bytes_max];
};
static int socket_own = -1;
static struct socket_message* socket_held;

static void socket_open(int side) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  at.sin_port = htons((uint16_t)atoi(strrchr(where, ':') + 1));
  const int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (side == 0) {
    if (bind(fd, (struct sockaddr*)&at, sizeof at) || listen(fd, 1)) die(strerror(errno));
    socket_own = accept(fd, NULL, NULL);
    close(fd);
  } else {
    socket_own = fd;
    for (int i = 0; connect(fd, (struct sockaddr*)&at, sizeof at); ++i)
      if (i == 200) die(strerror(errno));
      else usleep(10000);
  }
  setsockopt(socket_own, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  socket_held = malloc(sizeof *socket_held);
  if (!socket_held) die("memory");
}
static void* socket_make(size_t bytes) {
  if (bytes > socket_bytes_max) die("at most a MiB");
  socket_held->bytes = bytes;
  return socket_held->data;
}
static void socket_send(void) {
  const char* from = (const char*)socket_held;
  size_t left = offsetof(struct socket_message, data) + socket_held->bytes;
  while (left > 0) {
    const ssize_t sent = send(socket_own, from, left, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) die(strerror(errno));
    if (sent > 0) from += sent, left -= (size_t)sent;
  }
}
static void socket_read(void* to, size_t bytes) {
  for (size_t got = 0; got < bytes;) {
    const ssize_t more = recv(socket_own, (char*)to + got, bytes - got, MSG_DONTWAIT);
    if (more == 0 || (more < 0 && errno != EAGAIN)) die("the other side has ended");
    if (more > 0) got += (size_t)more;
  }
}
static void* socket_get(size_t* bytes) {
  socket_read(&socket_held->bytes, sizeof socket_held->bytes);
  socket_read(socket_held->data, socket_held->bytes);
  *bytes = socket_held->bytes;
  return socket_held->data;
}
static void socket_drop(void) {} /* the one buffer is used again */

static const struct library libraries[] = {
    {"headway", headway_open, headway_make, headway_send, headway_get, headway_send, headway_drop},
    {"zmq", points_zmq_open, points_zmq_make, points_zmq_send, points_zmq_get, points_zmq_send,
     points_zmq_drop},
    {"nng", points_nng_open, points_nng_make, points_nng_send, points_nng_get, points_nng_send,
     points_nng_drop},
    {"queue", queue_open, queue_make, queue_send, queue_get, queue_send, queue_drop},
    {"socket", socket_open, socket_make, socket_send, socket_get, socket_send, socket_drop},
};
enum { library_count = sizeof libraries / sizeof *libraries };
static const struct library* lib = &libraries[0];

/* ---- the measurement ---- */

struct order {
  uint64_t count;
  uint64_t echo; /* 1: every message is sent back; 0: one answer at the end */
};
enum { batches = 21, order_bytes = sizeof(struct order) };
static double seconds = 0.3;
static size_t sizes[16] = {64, 1024, 16384, 1 << 20};
static int size_count = 4;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Binds each side to a separate processor, after the library was started with all of them. */
static void pin(int side) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(side % (int)sysconf(_SC_NPROCESSORS_ONLN), &one);
  sched_setaffinity(0, sizeof one, &one);
}

static void serve(void) {
  lib->open(1);
  pin(1);
  for (;;) {
    size_t bytes;
    struct order what;
    memcpy(&what, lib->get(&bytes), order_bytes);
    lib->drop();
    if (what.count == 0) return;
    for (uint64_t i = 0; i < what.count; ++i) {
      lib->get(&bytes);
      if (what.echo) lib->back();
      else lib->drop();
    }
    if (!what.echo) {
      memset(lib->make(order_bytes), 0, order_bytes);
      lib->send();
    }
  }
}

static double batch(size_t bytes, uint64_t count, int echo) {
  const struct order what = {count, (uint64_t)echo};
  size_t got;
  memcpy(lib->make(order_bytes), &what, order_bytes);
  lib->send();
  if (count == 0) return 0;
  const double began = now();
  for (uint64_t i = 0; i < count; ++i) {
    memcpy(lib->make(bytes), &i, sizeof i);
    lib->send();
    if (!echo) continue;
    lib->get(&got);
    lib->drop();
  }
  if (!echo) {
    lib->get(&got);
    lib->drop();
  }
  return (now() - began) / (double)count;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Seconds a message, median of batches that together take about as long as asked. */
static double measure(size_t bytes, int echo) {
  uint64_t count = 16;
  double each = batch(bytes, count, echo);
  each = batch(bytes, count, echo); /* the first was to warm up */
  count = (uint64_t)(seconds / batches / each) + 1;
  if (!echo && count * bytes > 64 << 20) count = (64 << 20) / bytes;
  double all[batches];
  for (int i = 0; i < batches; ++i) all[i] = batch(bytes, count, echo);
  qsort(all, batches, sizeof *all, by_value);
  return all[batches / 2];
}

static void measure_all(const char* csv) {
  lib->open(0);
  pin(0);
  FILE* file = csv ? fopen(csv, "w") : NULL;
  if (file) fprintf(file, "bytes,latency_us,rate\n");
  for (int i = 0; i < size_count; ++i) {
    const double one_way = measure(sizes[i], 1) / 2, each = measure(sizes[i], 0);
    printf("%8zu bytes  %10.3f us  %12.0f messages/s  %9.1f MB/s\n", sizes[i], one_way * 1e6,
           1 / each, (double)sizes[i] / each / 1e6);
    fflush(stdout);
    if (file) fprintf(file, "%zu,%.4f,%.1f\n", sizes[i], one_way * 1e6, 1 / each);
  }
  if (file) fclose(file);
  batch(0, 0, 0);
}

static void* serve_thread(void* unused) {
  serve();
  return unused;
}

int main(int argc, char** argv) {
  const char *csv = NULL, *place = "thread";
  char address[64];
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--csv") == 0) csv = argv[i + 1];
    if (strcmp(argv[i], "--seconds") == 0) seconds = atof(argv[i + 1]);
    if (strcmp(argv[i], "--place") == 0) place = argv[i + 1];
    if (strcmp(argv[i], "--library") == 0)
      for (int l = 0; l < library_count; ++l)
        if (strcmp(argv[i + 1], libraries[l].name) == 0) lib = &libraries[l];
    if (strcmp(argv[i], "--sizes") == 0) {
      size_count = 0;
      for (char* word = strtok(argv[i + 1], ","); word && size_count < 16; word = strtok(NULL, ","))
        sizes[size_count++] = (size_t)strtoull(word, NULL, 10);
    }
  }
  int processes = strcmp(place, "thread") == 0 ? 1 : 2, me = 0;
  if (lib == &libraries[0]) {
    if (headway_join()) die("join");
    processes = headway_process_count();
    me = headway_process();
  } else {
    const char* kind = processes == 1 ? "inproc://points" : "ipc:///tmp/points.%d";
    snprintf(address, sizeof address, strcmp(place, "tcp") == 0 ? "tcp://127.0.0.1:%d" : kind,
             strcmp(place, "tcp") == 0 ? 20000 + (int)getpid() % 20000 : (int)getpid());
    where = address;
    if (processes == 2) me = fork() == 0;
  }
  if (processes == 1) {
    pthread_t server;
    if (lib == &libraries[1]) zmq_world = zmq_ctx_new();
    pthread_create(&server, NULL, serve_thread, NULL);
    measure_all(csv);
    pthread_join(server, NULL);
    return 0;
  }
  if (me == 1) {
    serve();
    usleep(100000); /* until the last message has arrived */
    return 0;
  }
  measure_all(csv);
  if (lib != &libraries[0]) wait(NULL);
  return 0;
}
