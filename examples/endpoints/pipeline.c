/* A pipeline over two processes: compresses every file under a folder with zstd, and checks it.
 *
 *   mpiexec -n 2 pipeline FOLDER [WORKERS]
 *
 *   process 0, reader      walks the folder, reads files into buffers, deals them out
 *   process 1, workers     checksum and compress: read in place, write into a buffer of their own
 *   process 0, collector   decompresses, compares the checksum, adds up
 *
 * Nothing is copied on the way: a buffer that the reader filled is what a worker compresses, also
 * where the two are different processes of a machine. A slow stage holds back the one before it.
 * With one process all stages are threads of it. */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <headway/endpoint.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { chunk_bytes = 1 << 18, workers_max = 64, tag_chunk = 1, tag_packed = 2, tag_end = 3 };

/* In front of the bytes, in the same buffer. */
struct chunk {
  uint64_t checksum;
  uint64_t plain_bytes;
};

static headway_address workers[workers_max];
static headway_endpoint reader;
static unsigned worker_count = 2, next_worker;
static const char* folder;

static void check(int status, const char* what) {
  if (status == HEADWAY_OK) return;
  fprintf(stderr, "pipeline: %s: %s\n", what, headway_error_text());
  exit(1);
}

static uint64_t checksum_of(const unsigned char* data, size_t bytes) {
  uint64_t sum = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes; ++i) sum = (sum ^ data[i]) * 0x100000001b3u;
  return sum;
}

/* ---- decode: from files to chunks ---- */

static int read_file(const char* path, const struct stat* about, int kind, struct FTW* where) {
  (void)where;
  if (kind != FTW_F || !S_ISREG(about->st_mode)) return 0;
  FILE* file = fopen(path, "rb");
  if (!file) return 0;
  for (;;) {
    struct chunk* c;
    check(headway_buffer_request(sizeof *c + chunk_bytes, (void**)&c), "request");
    c->plain_bytes = fread(c + 1, 1, chunk_bytes, file);
    if (c->plain_bytes == 0) {
      check(headway_buffer_release(c), "release");
      break;
    }
    check(headway_endpoint_send(reader, workers[next_worker++ % worker_count], tag_chunk, c,
                                sizeof *c + c->plain_bytes, HEADWAY_FOREVER),
          "send");
  }
  fclose(file);
  return 0;
}

static void* read_all(void* unused) {
  if (nftw(folder, read_file, 32, FTW_PHYS) != 0) perror(folder);
  for (unsigned i = 0; i < worker_count; ++i)
    check(headway_endpoint_send(reader, workers[i], tag_end, NULL, 0, HEADWAY_FOREVER), "end");
  return unused;
}

/* ---- transform: checksum and compress ---- */

static void* work(void* argument) {
  const headway_endpoint mine = *(headway_endpoint*)argument;
  headway_address collector;
  check(headway_endpoint_lookup("collect", HEADWAY_FOREVER, &collector), "lookup");
  ZSTD_CCtx* zstd = ZSTD_createCCtx();
  for (;;) {
    headway_message got;
    check(headway_endpoint_receive(mine, HEADWAY_ANY_TAG, NULL, HEADWAY_FOREVER, &got), "receive");
    if (got.tag == tag_end) break;
    const struct chunk* in = got.data;
    const size_t room = ZSTD_compressBound(in->plain_bytes);
    struct chunk* out;
    check(headway_buffer_request(sizeof *out + room, (void**)&out), "request");
    out->plain_bytes = in->plain_bytes;
    out->checksum = checksum_of((const unsigned char*)(in + 1), in->plain_bytes);
    const size_t packed = ZSTD_compressCCtx(zstd, out + 1, room, in + 1, in->plain_bytes, 3);
    if (ZSTD_isError(packed)) exit(1);
    check(headway_buffer_release(got.data), "release");
    check(headway_endpoint_send(mine, collector, tag_packed, out, sizeof *out + packed,
                                HEADWAY_FOREVER),
          "send");
  }
  ZSTD_freeCCtx(zstd);
  check(headway_endpoint_send(mine, collector, tag_end, NULL, 0, HEADWAY_FOREVER), "end");
  return NULL;
}

/* ---- collect ---- */

static void collect(headway_endpoint mine) {
  unsigned long long plain = 0, packed = 0, chunks = 0, sum = 0;
  unsigned char* room = malloc(chunk_bytes);
  for (unsigned ends = 0; ends < worker_count;) {
    headway_message got;
    check(headway_endpoint_receive(mine, HEADWAY_ANY_TAG, NULL, HEADWAY_FOREVER, &got), "receive");
    if (got.tag == tag_end) {
      ++ends;
      continue;
    }
    const struct chunk* c = got.data;
    const size_t bytes = ZSTD_decompress(room, chunk_bytes, c + 1, got.bytes - sizeof *c);
    if (ZSTD_isError(bytes) || bytes != c->plain_bytes || checksum_of(room, bytes) != c->checksum) {
      fprintf(stderr, "pipeline: a chunk is damaged\n");
      exit(1);
    }
    ++chunks;
    plain += c->plain_bytes;
    packed += got.bytes - sizeof *c;
    sum += c->checksum;
    check(headway_buffer_release(got.data), "release");
  }
  free(room);
  printf("%llu chunks, %llu bytes, packed %llu, checksum %016llx\n", chunks, plain, packed, sum);
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: pipeline FOLDER [WORKERS]\n");
    return 2;
  }
  folder = argv[1];
  if (argc > 2) worker_count = (unsigned)atoi(argv[2]);
  if (worker_count < 1 || worker_count > workers_max) worker_count = 2;
  check(headway_join(), "join");
  const int me = headway_process(), of_workers = headway_process_count() > 1 ? 1 : 0;

  headway_endpoint own[workers_max];
  pthread_t threads[workers_max], reading;
  for (unsigned i = 0; i < worker_count && me == of_workers; ++i) {
    char name[32];
    snprintf(name, sizeof name, "transform/%u", i);
    check(headway_endpoint_open(name, &own[i]), name);
    pthread_create(&threads[i], NULL, work, &own[i]);
  }
  if (me == 0) {
    headway_endpoint mine;
    check(headway_endpoint_open("collect", &mine), "collect");
    check(headway_endpoint_open(NULL, &reader), "reader");
    for (unsigned i = 0; i < worker_count; ++i) {
      char name[32];
      snprintf(name, sizeof name, "transform/%u", i);
      check(headway_endpoint_lookup(name, HEADWAY_FOREVER, &workers[i]), name);
    }
    pthread_create(&reading, NULL, read_all, NULL);
    collect(mine);
    pthread_join(reading, NULL);
  }
  for (unsigned i = 0; i < worker_count && me == of_workers; ++i) pthread_join(threads[i], NULL);
  return 0;
}
