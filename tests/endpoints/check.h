/* For programs that test themselves. */
#ifndef HEADWAY_TESTS_ENDPOINTS_CHECK_H
#define HEADWAY_TESTS_ENDPOINTS_CHECK_H

#include <headway/endpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      fprintf(stderr, "%s:%d: process %d: not so: %s (%s)\n", __FILE__, __LINE__, \
              headway_process(), #condition, headway_error_text());               \
      exit(1);                                                                    \
    }                                                                             \
  } while (0)

#define WELL(call)                                                                               \
  do {                                                                                           \
    const int well_status = (call);                                                              \
    if (well_status != HEADWAY_OK) {                                                             \
      fprintf(stderr, "%s:%d: process %d: %s: %s (%s)\n", __FILE__, __LINE__, headway_process(), \
              #call, headway_status_text(well_status), headway_error_text());                    \
      exit(1);                                                                                   \
    }                                                                                            \
  } while (0)

#define LONG_ENOUGH HEADWAY_MILLISECONDS(30000)

static inline void* buffer_of(size_t bytes) {
  void* made = NULL;
  WELL(headway_buffer_request(bytes, &made));
  return made;
}

/* The end-point of this name in that process. */
static inline headway_address look_up(const char* kind, int process) {
  char name[64];
  headway_address found;
  snprintf(name, sizeof name, "%s/%d", kind, process);
  WELL(headway_endpoint_lookup(name, LONG_ENOUGH, &found));
  return found;
}

static inline headway_endpoint open_own(const char* kind) {
  char name[64];
  headway_endpoint made;
  snprintf(name, sizeof name, "%s/%d", kind, headway_process());
  WELL(headway_endpoint_open(name, &made));
  return made;
}

static inline headway_message receive_from(headway_endpoint at, int32_t tag) {
  headway_message got;
  WELL(headway_endpoint_receive(at, tag, NULL, LONG_ENOUGH, &got));
  return got;
}

/* A barrier of all processes, by messages. */
static inline void meet(headway_endpoint at, const char* kind, int32_t tag) {
  const int n = headway_process_count(), me = headway_process();
  for (int p = 0; p < n; ++p)
    if (p != me) WELL(headway_endpoint_send(at, look_up(kind, p), tag, NULL, 0, LONG_ENOUGH));
  for (int p = 1; p < n; ++p) receive_from(at, tag);
}

static inline void fill(unsigned char* data, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; ++i) data[i] = (unsigned char)(i * 31 + i / 251 + seed);
}
static inline int is_filled(const unsigned char* data, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; ++i)
    if (data[i] != (unsigned char)(i * 31 + i / 251 + seed)) return 0;
  return 1;
}

#endif
