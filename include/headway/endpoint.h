/* End-points: messages between addresses, of which each thread may have its own, in buffers that
 * the program owns: it computes in the memory that the network sends from and receives into.
 * C11 and C++; link with `pkg-config --cflags --libs headway`. docs/endpoints.md explains the use.
 * Every function may be called by any thread. */
#ifndef HEADWAY_ENDPOINT_H
#define HEADWAY_ENDPOINT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef HEADWAY_PUBLIC
#if defined(__GNUC__)
#define HEADWAY_PUBLIC __attribute__((visibility("default")))
#else
#define HEADWAY_PUBLIC
#endif
#endif

/* What a call returns: negative if it failed, as in headway/progress.h. */
enum {
  HEADWAY_OK = 0,
  HEADWAY_AGAIN = 1,         /* the call would have to wait, but has HEADWAY_NO_WAIT */
  HEADWAY_TIMED_OUT = 2,     /* the limit passed */
  HEADWAY_NOT_FOUND = -3,    /* no end-point has this name */
  HEADWAY_TAKEN = -4,        /* another end-point has this name */
  HEADWAY_GONE = -5,         /* the end-point was closed, or its process ended */
  HEADWAY_NO_MEMORY = -6,    /* no buffer, number or descriptor is left */
  HEADWAY_MISUSE = -7,       /* of a buffer; headway_error_text says how */
  HEADWAY_BAD_ARGUMENT = -8, /* an argument is invalid; nothing was done */
  HEADWAY_NOT_JOINED = -9    /* the process could not join its job, or left it */
};
HEADWAY_PUBLIC const char* headway_status_text(int status);
/* The calling thread's last failure, in one line. HEADWAY_AGAIN and HEADWAY_TIMED_OUT are ordinary
 * answers and leave it as it was. */
HEADWAY_PUBLIC const char* headway_error_text(void);

/* Limits of time: nanoseconds, or one of these. HEADWAY_PROGRESS_FOREVER is the same bits. */
#define HEADWAY_NO_WAIT ((int64_t)0)
#define HEADWAY_FOREVER ((int64_t)-1)
#define HEADWAY_MILLISECONDS(n) ((int64_t)(n) * 1000000)

/* ---- The job ----------------------------------------------------------------------------------
 * A process joins its job by headway_join, or by its first other call, and leaves it by
 * headway_leave, or when it exits. Joining waits until every process of the job joins. In a program
 * that also uses MPI, both share one engine. After joining has failed, only headway_join tries
 * again. */
HEADWAY_PUBLIC int headway_join(void);
HEADWAY_PUBLIC int headway_leave(void);
HEADWAY_PUBLIC int headway_process(void);       /* 0 … n - 1; -1: not joined */
HEADWAY_PUBLIC int headway_process_count(void); /* n; 0: not joined */

/* ---- Buffers ----------------------------------------------------------------------------------
 * Messages are sent from buffers, and a received message lies in one. A buffer has one holder,
 * which releases it or gives it away by sending it. */
HEADWAY_PUBLIC int headway_buffer_request(size_t bytes, void** buffer);
/* How many bytes the buffer can hold; 0: not a buffer of this library. */
HEADWAY_PUBLIC size_t headway_buffer_capacity(const void* buffer);
HEADWAY_PUBLIC int headway_buffer_release(void* buffer);
/* After headway_endpoint_send_kept: `idle` is 1 if no send reads the buffer any more, so that it
 * may be written again, else 0. */
HEADWAY_PUBLIC int headway_buffer_probe(const void* buffer, int* idle);
/* Releases the buffer now, or when the last send that reads it has ended. */
HEADWAY_PUBLIC int headway_buffer_release_later(void* buffer);
/* Bytes that this process's buffers take, free ones included. */
HEADWAY_PUBLIC size_t headway_buffer_memory(void);

/* ---- End-points --------------------------------------------------------------------------- */
typedef uint32_t headway_endpoint; /* of this process; 0: none */

/* Identifies an end-point in the whole job; may be sent in messages. id 0: none. */
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

/* `name` (1 to 255 bytes) is unique in the job; NULL or "": no name, so no look-up. */
HEADWAY_PUBLIC int headway_endpoint_open(const char* name, headway_endpoint* made);
/* Drops the messages that wait there. Calls that wait there, and sends to it, return
 * HEADWAY_GONE. */
HEADWAY_PUBLIC int headway_endpoint_close(headway_endpoint endpoint);
HEADWAY_PUBLIC headway_address headway_endpoint_address(headway_endpoint endpoint);
/* Waits until an end-point of this name is open; HEADWAY_NO_WAIT: returns HEADWAY_NOT_FOUND if
 * there is none now. Addresses are cached. */
HEADWAY_PUBLIC int headway_endpoint_lookup(const char* name, int64_t limit, headway_address* found);

#define HEADWAY_ANY_TAG INT32_MIN

/* Sends `bytes` of `buffer` and gives the buffer away; if the call fails, the caller keeps it.
 * `from` may be 0. Waits while too many earlier messages have not been received yet. Messages from
 * one end-point to another arrive in order. */
HEADWAY_PUBLIC int headway_endpoint_send(headway_endpoint from, headway_address to, int32_t tag,
                                         void* buffer, size_t bytes, int64_t limit);
/* The same, but the caller keeps the buffer and may probe, send and release it. */
HEADWAY_PUBLIC int headway_endpoint_send_kept(headway_endpoint from, headway_address to,
                                              int32_t tag, void* buffer, size_t bytes,
                                              int64_t limit);
/* The same as headway_endpoint_send, by name. */
HEADWAY_PUBLIC int headway_endpoint_send_by_name(headway_endpoint from, const char* to, int32_t tag,
                                                 void* buffer, size_t bytes, int64_t limit);
/* Copies any memory into a buffer and sends the buffer. */
HEADWAY_PUBLIC int headway_endpoint_send_copy(headway_endpoint from, headway_address to,
                                              int32_t tag, const void* data, size_t bytes,
                                              int64_t limit);
/* Receives the oldest message with this tag (or HEADWAY_ANY_TAG) from `from` (NULL: from any). */
HEADWAY_PUBLIC int headway_endpoint_receive(headway_endpoint endpoint, int32_t tag,
                                            const headway_address* from, int64_t limit,
                                            headway_message* message);
/* Waits until one of the end-points has a message, or was closed (HEADWAY_GONE); `which` is its
 * index. */
HEADWAY_PUBLIC int headway_endpoint_wait_any(const headway_endpoint* endpoints, size_t count,
                                             int64_t limit, size_t* which);
/* A descriptor that poll(2) finds readable while a message waits. The end-point owns it: do not
 * read or close it. */
HEADWAY_PUBLIC int headway_endpoint_descriptor(headway_endpoint endpoint, int* descriptor);

/* ---- Dispatching -------------------------------------------------------------------------- */
/* The handler is called for every message of the end-point, one at a time, in a thread that
 * dispatches, and becomes the holder of its buffer. It may send (with HEADWAY_NO_WAIT) and must not
 * wait. NULL: messages wait for receives again; a handler that is running still ends. */
typedef void (*headway_handler)(void* argument, const headway_message* message);
HEADWAY_PUBLIC int headway_endpoint_handle(headway_endpoint endpoint, headway_handler handler,
                                           void* argument);
/* Polls `rounds` times for messages and runs the handlers that are ready, so that a computing
 * thread can take part. Returns how many messages were handled. */
HEADWAY_PUBLIC size_t headway_endpoint_dispatch(unsigned rounds);
enum {
  HEADWAY_DISPATCH_AUTO = 0,
  HEADWAY_DISPATCH_PAUSE = 1,
  HEADWAY_DISPATCH_YIELD = 2,
  HEADWAY_DISPATCH_LOOP = 3,
  HEADWAY_DISPATCH_EVENT = 4
};
/* Which threads poll for messages while no thread waits for one; at run time
 * what HEADWAY_DISPATCH sets at the start. */
HEADWAY_PUBLIC int headway_endpoint_dispatch_policy(int policy);

#ifdef __cplusplus
}
#endif

#endif
