/* Goal:   a message of any derived datatype arrives as MPI_Unpack would have placed its packed
 *         form, and no byte beside it is written, whatever the types at both ends, the size, the
 *         kind of call, and the way that the message takes.
 * Method: all ranks draw the same random types and messages from a seed. A rank sends to the next
 *         one; the receiver knows what was sent, and makes the memory that must result with
 *         MPI_Pack and MPI_Unpack, which the unit tests compare with the standard's type map.
 *         The tests of this program in CMakeLists.txt force each way. */
#include <stdint.h>

#include "check_all.h"

enum { margin = 64, rounds_default = 400, tag = 5 };

static uint64_t state = 1;

/* The same on all ranks. */
static int draw(int below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)((state >> 33) % (uint64_t)below);
}

/* Blocks of any length. */
static MPI_Datatype random_blocks(int bytes) {
  const int count = 1 + draw(bytes < 300 ? bytes : 300);
  int* const lengths = calloc((size_t)count, sizeof(int));
  int* const places = calloc((size_t)count, sizeof(int));
  int left = bytes, at = draw(5);
  for (int i = 0; i < count; ++i) {
    const int most = left / (count - i);
    lengths[i] = i == count - 1 ? left : draw(2 * most + 1);
    if (lengths[i] > left) lengths[i] = left;
    left -= lengths[i];
    places[i] = at;
    at += lengths[i] + draw(9);
  }
  MPI_Datatype made;
  MPI_Type_indexed(count, lengths, places, MPI_BYTE, &made);
  free(lengths);
  free(places);
  return made;
}

/* A type of exactly `bytes` bytes of data, which do not overlap. */
static MPI_Datatype random_type(int bytes, int depth) {
  MPI_Datatype made, part, other;
  const int block = 1 + draw(draw(3) == 0 ? 200 : 20);
  switch (depth == 0 || bytes < 2 ? 0 : draw(6)) {
    case 0: /* one block */
      MPI_Type_contiguous(bytes, MPI_BYTE, &made);
      return made;
    case 1: { /* equal blocks, forwards or backwards, and a rest of a struct */
      const int count = bytes / block;
      const MPI_Aint stride = (draw(4) == 0 ? -1 : 1) * (block + 1 + draw(2 * block));
      if (count == 0) return random_type(bytes, 0);
      MPI_Type_create_hvector(count, block, stride, MPI_BYTE, &part);
      other = random_type(bytes - count * block, depth - 1);
      break;
    }
    case 2:
      return random_blocks(bytes);
    case 3: { /* many small structs */
      const int lengths[] = {2, 1, 3};
      const MPI_Aint places[] = {0, 5, 9};
      const MPI_Datatype kinds[] = {MPI_BYTE, MPI_BYTE, MPI_BYTE};
      MPI_Datatype members, one;
      MPI_Type_create_struct(3, lengths, places, kinds, &members);
      MPI_Type_create_resized(members, -2, 17, &one);
      MPI_Type_contiguous(bytes / 6, one, &part);
      other = random_type(bytes % 6, 0);
      MPI_Type_free(&members);
      MPI_Type_free(&one);
      break;
    }
    case 4: { /* a random type several times */
      const int times = 1 + draw(5);
      MPI_Aint low, extent;
      MPI_Datatype one = random_type(bytes / times, depth - 1);
      MPI_Type_get_true_extent(one, &low, &extent);
      MPI_Type_create_hvector(times, 1, extent + draw(50), one, &part);
      MPI_Type_free(&one);
      other = random_type(bytes - bytes / times * times, 0);
      break;
    }
    default: /* two random types */
      part = random_type(bytes / 3, depth - 1);
      other = random_type(bytes - bytes / 3, depth - 1);
  }
  /* The other one lies behind the part, wherever their bytes are. */
  MPI_Aint low, extent, other_low, other_extent;
  MPI_Type_get_true_extent(part, &low, &extent);
  MPI_Type_get_true_extent(other, &other_low, &other_extent);
  const int ones[] = {1, 1};
  const MPI_Aint places[] = {0, low + extent + draw(30) - other_low};
  const MPI_Datatype both[] = {part, other};
  MPI_Type_create_struct(2, ones, places, both, &made);
  MPI_Type_free(&part);
  MPI_Type_free(&other);
  return made;
}

/* One end of a message: `count` elements of `type`, in memory with a margin. */
struct end {
  MPI_Datatype type;
  int count, bytes;
  char *memory, *buffer;
  size_t size;
};

/* `bytes` of data at least, in elements of equal size. */
static struct end make_end(int bytes) {
  struct end e = {.count = 1 + draw(3)};
  MPI_Datatype one = random_type((bytes + e.count - 1) / e.count, draw(4));
  MPI_Aint low, extent;
  MPI_Type_get_true_extent(one, &low, &extent);
  const MPI_Aint step = draw(5) == 0 ? -extent - 3 : extent + draw(40);
  MPI_Type_create_resized(one, draw(9) - 4, step, &e.type);
  MPI_Type_commit(&e.type);
  MPI_Type_free(&one);
  MPI_Type_size(e.type, &e.bytes);
  e.bytes *= e.count;
  const MPI_Aint way = (e.count - 1) * step;
  e.size = (size_t)(extent + (way < 0 ? -way : way) + 2 * margin);
  e.memory = malloc(e.size);
  e.buffer = e.memory + margin - low + (way < 0 ? -way : 0);
  return e;
}

static void free_end(struct end* e) {
  MPI_Type_free(&e->type);
  free(e->memory);
}

static char* packed_of(int bytes, int round, int rank) {
  char* const made = malloc((size_t)bytes + 1);
  for (int i = 0; i < bytes; ++i) made[i] = (char)(i * 31 + i / 253 + round + rank * 7);
  return made;
}

/* Writes the first `bytes` of the packed form: whole elements by MPI_Unpack, the rest through an
 * element that holds what is there now. */
static void place(struct end* e, const char* packed, int bytes) {
  char* const all = malloc((size_t)e->bytes + 1);
  int position = 0;
  MPI_Pack(e->buffer, e->count, e->type, all, e->bytes, &position, MPI_COMM_SELF);
  memcpy(all, packed, (size_t)bytes);
  position = 0;
  MPI_Unpack(all, e->bytes, &position, e->buffer, e->count, e->type, MPI_COMM_SELF);
  free(all);
}

enum call { blocking, non_blocking, synchronous, persistent, both_at_once, probed, calls };

static int pass(struct end* out, struct end* in, enum call how, MPI_Status* status) {
  const int next = (check_rank + 1) % check_size, last = (check_rank + check_size - 1) % check_size;
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Request sent, received;
  MPI_Message message;
  int code = MPI_SUCCESS;
  switch (how) {
    case blocking: /* the receive is posted late */
      MPI_Isend(out->buffer, out->count, out->type, next, tag, comm, &sent);
      code = MPI_Recv(in->buffer, in->count, in->type, last, tag, comm, status);
      CHECK_OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
      return code;
    case non_blocking:
      MPI_Irecv(in->buffer, in->count, in->type, last, tag, comm, &received);
      CHECK_OK(MPI_Send(out->buffer, out->count, out->type, next, tag, comm));
      return MPI_Wait(&received, status);
    case synchronous:
      MPI_Irecv(in->buffer, in->count, in->type, MPI_ANY_SOURCE, tag, comm, &received);
      CHECK_OK(MPI_Ssend(out->buffer, out->count, out->type, next, tag, comm));
      return MPI_Wait(&received, status);
    case persistent:
      MPI_Recv_init(in->buffer, in->count, in->type, last, tag, comm, &received);
      MPI_Send_init(out->buffer, out->count, out->type, next, tag, comm, &sent);
      for (int twice = 0; twice < 2; ++twice) {
        MPI_Start(&received);
        MPI_Start(&sent);
        CHECK_OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
        code = MPI_Wait(&received, status);
      }
      MPI_Request_free(&received);
      MPI_Request_free(&sent);
      return code;
    case both_at_once:
      return MPI_Sendrecv(out->buffer, out->count, out->type, next, tag, in->buffer, in->count,
                          in->type, last, tag, comm, status);
    default:
      MPI_Isend(out->buffer, out->count, out->type, next, tag, comm, &sent);
      MPI_Mprobe(last, tag, comm, &message, status);
      code = MPI_Mrecv(in->buffer, in->count, in->type, &message, status);
      CHECK_OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
      return code;
  }
}

static void round_trip(int round) {
  static const int around[] = {40, 2048, 8192, 16384, 65536, 300000};
  const int middle = around[draw(draw(4) == 0 ? 6 : 5)];
  const int bytes = draw(2) ? draw(middle) : middle - 3 + draw(6);
  const enum call how = (enum call)draw(calls);
  /* Too short, too long, or just right. */
  const int kind = draw(4);
  struct end out = make_end(bytes);
  struct end in = make_end(kind == 0 ? bytes / 2 : kind == 1 ? bytes + 1 + draw(99) : out.bytes);
  const int last = (check_rank + check_size - 1) % check_size;
  const int fits = in.bytes < out.bytes ? in.bytes : out.bytes;
  const int expected_class = in.bytes < out.bytes ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  memset(out.memory, 0x55, out.size);
  memset(in.memory, 0x66, in.size);
  char* const mine = packed_of(out.bytes, round, check_rank);
  char* const theirs = packed_of(out.bytes, round, last);
  place(&out, mine, out.bytes);
  char* const before = in.memory;
  const size_t shift = (size_t)(in.buffer - in.memory);
  in.memory = malloc(in.size);
  memcpy(in.memory, before, in.size);
  in.buffer = in.memory + shift;
  struct end expected = in;
  expected.memory = before;
  expected.buffer = before + shift;
  place(&expected, theirs, fits);

  MPI_Status status;
  const int code = pass(&out, &in, how, &status);
  int error_class = MPI_SUCCESS, got = -1;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  CHECK(error_class == expected_class, "round %d: class %d of call %d", round, error_class, how);
  MPI_Get_count(&status, MPI_BYTE, &got);
  CHECK(got == fits, "round %d: %d of %d bytes", round, got, fits);
  CHECK(memcmp(in.memory, before, in.size) == 0, "round %d, call %d: %d bytes to %d", round, how,
        out.bytes, in.bytes);
  free(before);
  free(mine);
  free(theirs);
  free_end(&out);
  free_end(&in);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (argc > 1) state = strtoull(argv[1], NULL, 10);
  const int rounds = argc > 2 ? atoi(argv[2]) : rounds_default;
  for (int i = 0; i < rounds && check_failures == 0; ++i) round_trip(i);
  return check_end("scattered");
}
