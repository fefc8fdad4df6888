/* End-points: every thread an address, and buffers that the program owns from the network's memory
 * to its own computation. C11 and C++; link with `pkg-config --cflags --libs headway`.
 * docs/endpoints.md teaches it. Every function may be called by any thread. */
#ifndef HEADWAY_ENDPOINT_H
#define HEADWAY_ENDPOINT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HEADWAY_PUBLIC __attribute__((visibility("default")))
#else
#define HEADWAY_PUBLIC
#endif

/* What a call answers. Negative would never be. */
enum {
  HEADWAY_OK = 0,
  HEADWAY_AGAIN = 1,        /* it would have to wait, and was told not to */
  HEADWAY_TIMED_OUT = 2,    /* the limit passed */
  HEADWAY_NOT_FOUND = 3,    /* no end-point has this name */
  HEADWAY_TAKEN = 4,        /* another end-point has this name */
  HEADWAY_GONE = 5,         /* the end-point was closed, or its process ended */
  HEADWAY_NO_MEMORY = 6,    /* no buffer, number or descriptor is left */
  HEADWAY_MISUSE = 7,       /* of a buffer: headway_error_text says which */
  HEADWAY_BAD_ARGUMENT = 8, /* nothing was done */
  HEADWAY_NOT_JOINED = 9    /* the job could not be joined, or was left */
};
HEADWAY_PUBLIC const char* headway_status_text(int status);
/* This thread's last failure, in one line. */
HEADWAY_PUBLIC const char* headway_error_text(void);

/* Limits of time: nanoseconds, or one of these. */
#define HEADWAY_NO_WAIT ((int64_t)0)
#define HEADWAY_FOREVER ((int64_t)-1)
#define HEADWAY_MILLISECONDS(n) ((int64_t)(n) * 1000000)

/* ---- The job ----------------------------------------------------------------------------------
 * A process joins its job with its first call, or here, and leaves it when it exits, or here. Every
 * process of a job must join it: joining waits for the others. With MPI in the same program both
 * share one engine. Where joining failed, only headway_join tries again. */
HEADWAY_PUBLIC int headway_join(void);
HEADWAY_PUBLIC int headway_leave(void);
HEADWAY_PUBLIC int headway_process(void);       /* 0 … n - 1; -1: not joined */
HEADWAY_PUBLIC int headway_process_count(void); /* n; 0: not joined */

/* ---- Buffers ----------------------------------------------------------------------------------
 * Messages are sent from buffers, and a received message is one. A buffer belongs to one holder,
 * who releases it, or gives it away by sending it. */
HEADWAY_PUBLIC int headway_buffer_request(size_t bytes, void** buffer);
/* How many bytes there is room for; 0: it is no buffer of ours. */
HEADWAY_PUBLIC size_t headway_buffer_capacity(const void* buffer);
HEADWAY_PUBLIC int headway_buffer_release(void* buffer);
/* After headway_endpoint_send_kept: is no send using it any more, may it be written? */
HEADWAY_PUBLIC int headway_buffer_probe(const void* buffer, int* idle);
/* Releases it now or when the last send that uses it has ended. */
HEADWAY_PUBLIC int headway_buffer_release_later(void* buffer);
/* Bytes that this process's buffers take, free ones included. */
HEADWAY_PUBLIC size_t headway_buffer_memory(void);

/* ---- End-points --------------------------------------------------------------------------- */
typedef uint32_t headway_endpoint; /* of this process; 0: none */

/* Names an end-point in every process of the job; may be sent in messages. id 0: none. */
typedef struct headway_address {
  uint32_t process;
  uint32_t id;
} headway_address;

typedef struct headway_message {
  void* data; /* a buffer, to be released; NULL if the message is empty */
  size_t bytes;
  int32_t tag;
  headway_address from; /* id 0: sent without an end-point */
} headway_message;

/* `name` (1 to 255 bytes) is the job's; NULL or "": nobody can look it up. */
HEADWAY_PUBLIC int headway_endpoint_open(const char* name, headway_endpoint* made);
/* What waits there is dropped; who waits there, or sends there, is told. */
HEADWAY_PUBLIC int headway_endpoint_close(headway_endpoint endpoint);
HEADWAY_PUBLIC headway_address headway_endpoint_address(headway_endpoint endpoint);
/* Waits for somebody to open it; HEADWAY_NO_WAIT: says whether there is one. Cached. */
HEADWAY_PUBLIC int headway_endpoint_lookup(const char* name, int64_t limit, headway_address* found);

#define HEADWAY_ANY_TAG INT32_MIN

/* Gives `buffer` away, unless the call fails. `from` may be 0. Waits while the receiver is too far
 * behind. Messages of one end-point to another arrive in order. */
HEADWAY_PUBLIC int headway_endpoint_send(headway_endpoint from, headway_address to, int32_t tag,
                                         void* buffer, size_t bytes, int64_t limit);
/* The buffer stays the caller's, to be probed, sent again and released. */
HEADWAY_PUBLIC int headway_endpoint_send_kept(headway_endpoint from, headway_address to,
                                              int32_t tag, void* buffer, size_t bytes,
                                              int64_t limit);
/* The same as headway_endpoint_send, by name. */
HEADWAY_PUBLIC int headway_endpoint_send_by_name(headway_endpoint from, const char* to, int32_t tag,
                                                 void* buffer, size_t bytes, int64_t limit);
/* Copies any memory into a buffer and sends that. */
HEADWAY_PUBLIC int headway_endpoint_send_copy(headway_endpoint from, headway_address to,
                                              int32_t tag, const void* data, size_t bytes,
                                              int64_t limit);
/* The oldest message with this tag (or HEADWAY_ANY_TAG) from there (or NULL). */
HEADWAY_PUBLIC int headway_endpoint_receive(headway_endpoint endpoint, int32_t tag,
                                            const headway_address* from, int64_t limit,
                                            headway_message* message);
/* Waits until one of them has a message, or was closed (HEADWAY_GONE), and says which. */
HEADWAY_PUBLIC int headway_endpoint_wait_any(const headway_endpoint* endpoints, size_t count,
                                             int64_t limit, size_t* which);
/* Readable for poll(2) while a message waits. It goes with the end-point: do not close or read. */
HEADWAY_PUBLIC int headway_endpoint_descriptor(headway_endpoint endpoint, int* descriptor);

/* ---- Dispatching -------------------------------------------------------------------------- */
/* Gets every message of the end-point, one at a time, in a thread that dispatches; owns its
 * buffer. It may send (with HEADWAY_NO_WAIT), not wait. NULL: messages wait for receivers again;
 * a call that is under way still ends. */
typedef void (*headway_handler)(void* argument, const headway_message* message);
HEADWAY_PUBLIC int headway_endpoint_handle(headway_endpoint endpoint, headway_handler handler,
                                           void* argument);
/* Looks `rounds` times for messages and runs the handlers that are ready: a working thread takes
 * part. How many messages were handled. */
HEADWAY_PUBLIC size_t headway_endpoint_dispatch(unsigned rounds);
enum {
  HEADWAY_DISPATCH_AUTO = 0,
  HEADWAY_DISPATCH_PAUSE = 1,
  HEADWAY_DISPATCH_YIELD = 2,
  HEADWAY_DISPATCH_LOOP = 3,
  HEADWAY_DISPATCH_EVENT = 4
};
/* Who looks for messages while no thread waits for one: as HEADWAY_DISPATCH, at run time. */
HEADWAY_PUBLIC int headway_endpoint_dispatch_policy(int policy);

#ifdef __cplusplus
}
#endif

#endif
