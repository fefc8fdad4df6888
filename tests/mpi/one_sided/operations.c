/* Random operations of every kind, on every kind of window and every type, against a model: all
 * ranks draw the same random numbers, and so know what every window must hold. */
#include "kinds.h"
#include "windows.h"

enum { WINDOW_BYTES = 192 * 1024 };

static unsigned long long state = 88172645463325252ull;
static unsigned draw(unsigned below) { /* xorshift64 */
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (unsigned)((state >> 16) % below);
}

static char** model; /* the windows of all ranks */
static struct test_window window;

/* Where the elements of an operand lie: in a row, or at strides, or in a random order. */
struct shape {
  MPI_Datatype type;
  int count;    /* of the type */
  int elements; /* basic ones */
  int* index;   /* of each: its position in units of the extent */
  int span;     /* positions */
  int origin;   /* the position of the address that the type is used with */
};
static struct shape draw_shape(int elements) {
  struct shape s = {kind.type, elements, elements, malloc(sizeof(int) * (size_t)elements), 0, 0};
  switch (draw(5)) {
    case 0: {
      const int stride = 1 + (int)draw(3);
      MPI_Type_vector(elements, 1, stride, kind.type, &s.type);
      for (int i = 0; i < elements; ++i) s.index[i] = i * stride;
      s.count = 1;
      break;
    }
    case 1: {
      int* lengths = malloc(sizeof(int) * (size_t)elements);
      for (int i = 0; i < elements; ++i) {
        lengths[i] = 1;
        s.index[i] = i ^ 1; /* neighbours change places */
      }
      MPI_Type_indexed(elements, lengths, s.index, kind.type, &s.type);
      free(lengths);
      s.count = 1;
      break;
    }
    case 2: /* backwards, so that the lower bound is negative */
      s.origin = elements - 1;
      MPI_Type_create_hvector(elements, 1, -kind.extent, kind.type, &s.type);
      for (int i = 0; i < elements; ++i) s.index[i] = elements - 1 - i;
      s.count = 1;
      break;
    default:
      for (int i = 0; i < elements; ++i) s.index[i] = i;
  }
  for (int i = 0; i < elements; ++i)
    if (s.index[i] >= s.span) s.span = s.index[i] + 1;
  if (s.type != kind.type) MPI_Type_commit(&s.type);
  return s;
}
static void free_shape(struct shape* s) {
  if (s->type != kind.type) MPI_Type_free(&s->type);
  free(s->index);
}

static MPI_Op op_for(void) {
  static const MPI_Op all[] = {MPI_SUM,    MPI_PROD,   MPI_MIN,    MPI_MAX, MPI_BAND,
                               MPI_BOR,    MPI_BXOR,   MPI_LAND,   MPI_LOR, MPI_LXOR,
                               MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE};
  const int count = sizeof all / sizeof *all;
  for (;;) {
    const MPI_Op op = all[draw((unsigned)count)];
    if (op == MPI_REPLACE) return op;
    if (op == MPI_PROD && draw(4)) continue;
    char in[64] = {0}, out[64] = {0};
    set_element(in, 1);
    set_element(out, 1);
    if (MPI_Reduce_local(in, out, 1, kind.type, op) == MPI_SUCCESS) return op;
  }
}

/* How an origin synchronises. The targets of active epochs do their part. */
enum epoch { LOCK, LOCK_ALL, FENCE, STARTED, EPOCHS };
static void begin_epoch(enum epoch e, int origin, int target) {
  MPI_Group all, one;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  const int am_origin = check_rank == origin, shared = (int)draw(2);
  switch (e) {
    case LOCK:
      if (am_origin)
        CHECK_OK(
            MPI_Win_lock(shared ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, window.win));
      break;
    case LOCK_ALL:
      if (am_origin) CHECK_OK(MPI_Win_lock_all(0, window.win));
      break;
    case FENCE:
      CHECK_OK(MPI_Win_fence(0, window.win));
      break;
    default:
      if (check_rank == target) {
        MPI_Group_incl(all, 1, &origin, &one);
        CHECK_OK(MPI_Win_post(one, 0, window.win));
        MPI_Group_free(&one);
      }
      if (am_origin) {
        MPI_Group_incl(all, 1, &target, &one);
        CHECK_OK(MPI_Win_start(one, 0, window.win));
        MPI_Group_free(&one);
      }
  }
  MPI_Group_free(&all);
}
static void end_epoch(enum epoch e, int origin, int target) {
  const int am_origin = check_rank == origin;
  switch (e) {
    case LOCK:
      if (am_origin) CHECK_OK(MPI_Win_unlock(target, window.win));
      break;
    case LOCK_ALL:
      if (am_origin) CHECK_OK(MPI_Win_unlock_all(window.win));
      break;
    case FENCE:
      CHECK_OK(MPI_Win_fence(0, window.win));
      break;
    default:
      if (am_origin) CHECK_OK(MPI_Win_complete(window.win));
      if (check_rank == target) CHECK_OK(MPI_Win_wait(window.win));
  }
}

/* What the operation leaves, in the model: result gets what was there. */
static void apply(char* base, const struct shape* t, const char* operand, const struct shape* o,
                  MPI_Op op, char* result, const struct shape* r) {
  for (int i = 0; i < t->elements; ++i) {
    char* at = base + t->index[i] * kind.extent;
    if (result) memcpy(result + r->index[i] * kind.extent, at, (size_t)kind.extent);
    if (op == MPI_NO_OP) continue;
    const char* from = operand + o->index[i] * kind.extent;
    if (op == MPI_REPLACE) {
      memcpy(at, from, (size_t)kind.extent);
    } else {
      MPI_Reduce_local(from, at, 1, kind.type, op);
    }
  }
}

enum action { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH_AND_OP, COMPARE_AND_SWAP, ACTIONS };
static const char* const action_names[] = {
    "put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap"};

static int swaps(void) {
  char a[64] = {0}, b[64] = {0};
  return !kind.is_pair && MPI_Reduce_local(a, b, 1, kind.type, MPI_BXOR) == MPI_SUCCESS;
}

/* Three times as many fit into a window. */
static unsigned elements_max(void) {
  const unsigned fit = (unsigned)(WINDOW_BYTES / kind.extent / 4);
  return fit < 6000 ? fit : 6000;
}

static MPI_Aint draw_offset(int span, int target) {
  const int places = (int)(WINDOW_BYTES / kind.extent) - span;
  const MPI_Aint offset = (MPI_Aint)draw((unsigned)places) * kind.extent;
  return offset / window.units[target] * window.units[target]; /* units divide the extent */
}

/* The arguments of an operation, with the shapes of target, origin and result; `operand` and
 * `result` are used with their types. */
struct call {
  enum action action;
  int target;
  MPI_Aint displacement;
  const struct shape *t, *o, *r;
  const char *operand, *compare;
  char* result;
  MPI_Op op;
  MPI_Request* request; /* null: the form without one, if there are two */
};
static void issue(const struct call* c) {
  const struct shape *t = c->t, *o = c->o, *r = c->r;
  const int to = c->target;
  const MPI_Aint d = c->displacement;
  const MPI_Win w = window.win;
  switch (c->action) {
    case PUT:
      if (c->request)
        CHECK_OK(MPI_Rput(c->operand, o->count, o->type, to, d, t->count, t->type, w, c->request));
      else CHECK_OK(MPI_Put(c->operand, o->count, o->type, to, d, t->count, t->type, w));
      break;
    case GET:
      if (c->request)
        CHECK_OK(MPI_Rget(c->result, r->count, r->type, to, d, t->count, t->type, w, c->request));
      else CHECK_OK(MPI_Get(c->result, r->count, r->type, to, d, t->count, t->type, w));
      break;
    case ACCUMULATE:
      if (c->request)
        CHECK_OK(MPI_Raccumulate(c->operand, o->count, o->type, to, d, t->count, t->type, c->op, w,
                                 c->request));
      else
        CHECK_OK(MPI_Accumulate(c->operand, o->count, o->type, to, d, t->count, t->type, c->op, w));
      break;
    case GET_ACCUMULATE:
      if (c->request)
        CHECK_OK(MPI_Rget_accumulate(c->operand, o->count, o->type, c->result, r->count, r->type,
                                     to, d, t->count, t->type, c->op, w, c->request));
      else if (c->op == MPI_NO_OP) /* what the origin has does not matter */
        CHECK_OK(MPI_Get_accumulate(NULL, -1, MPI_DATATYPE_NULL, c->result, r->count, r->type, to,
                                    d, t->count, t->type, c->op, w));
      else
        CHECK_OK(MPI_Get_accumulate(c->operand, o->count, o->type, c->result, r->count, r->type, to,
                                    d, t->count, t->type, c->op, w));
      break;
    case FETCH_AND_OP:
      CHECK_OK(MPI_Fetch_and_op(c->operand, c->result, kind.type, to, d, c->op, w));
      break;
    default:
      CHECK_OK(MPI_Compare_and_swap(c->operand, c->compare, c->result, kind.type, to, d, w));
  }
}

static void one_operation(int origin, int target, enum epoch e, enum action a, int elements) {
  const int single = a == FETCH_AND_OP || a == COMPARE_AND_SWAP;
  if (single) elements = 1;
  struct shape t = draw_shape(elements), o = draw_shape(elements), r = draw_shape(elements);
  const MPI_Aint offset = single ? draw_offset(4, target) : draw_offset(t.span, target);
  const unsigned seed = draw(1000);
  const int only_fetches = a == GET || (a != ACCUMULATE && !draw(6));
  const MPI_Op op = a == PUT ? MPI_REPLACE : only_fetches ? MPI_NO_OP : op_for();
  const int with_request = e <= LOCK_ALL && draw(3) == 0, flushes = (int)draw(2);
  char* operand = malloc((size_t)(o.span * kind.extent));
  char* result = malloc((size_t)(r.span * kind.extent));
  char* expected = malloc((size_t)(r.span * kind.extent));
  fill(operand, o.span, seed);
  fill(result, r.span, seed + 1);
  fill(expected, r.span, seed + 1);
  char* at = model[target] + offset;
  char compare[64] = {0};
  const int matches = (int)draw(2);
  if (single) {
    free_shape(&t), free_shape(&o), free_shape(&r);
    static int zero;
    t = o = r = (struct shape){kind.type, 1, 1, &zero, 1, 0};
  }

  begin_epoch(e, origin, target);
  if (a == COMPARE_AND_SWAP) {
    if (matches) memcpy(compare, at, (size_t)kind.extent);
    else fill(compare, 1, seed + 5);
    memcpy(expected, at, (size_t)kind.extent);
    if (memcmp(compare, at, (size_t)kind.extent) == 0) memcpy(at, operand, (size_t)kind.extent);
  } else {
    const int fetches = a == GET || a == GET_ACCUMULATE || a == FETCH_AND_OP;
    apply(at, &t, operand, &o, op, fetches ? expected : NULL, &r);
  }
  if (check_rank == origin) {
    MPI_Request request = MPI_REQUEST_NULL;
    const MPI_Aint at_target = displacement(&window, target, offset + t.origin * kind.extent);
    const struct call call = {a,
                              target,
                              at_target,
                              &t,
                              &o,
                              &r,
                              operand + o.origin * kind.extent,
                              compare,
                              result + r.origin * kind.extent,
                              op,
                              with_request ? &request : NULL};
    issue(&call);
    if (request != MPI_REQUEST_NULL) {
      CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      if (a == GET || a == GET_ACCUMULATE)
        CHECK(differs(result, expected, r.span) < 0, "%s: at the end of the request of a %s",
              kind.name, action_names[a]);
      memset(operand, 0x55, (size_t)(o.span * kind.extent)); /* it is the program's again */
    }
    if (e == LOCK && flushes) CHECK_OK(MPI_Win_flush(target, window.win));
  }
  end_epoch(e, origin, target);
  MPI_Barrier(MPI_COMM_WORLD); /* the next one may have another origin */
  if (check_rank == origin) {
    const int place = differs(result, expected, r.span);
    CHECK(place < 0, "%s, %s, %s of %d elements: byte %d of the result",
          flavor_names[window.flavor], kind.name, action_names[a], elements, place);
  }
  free(operand), free(result), free(expected);
  if (!single) free_shape(&t), free_shape(&o), free_shape(&r);
}

static void check_windows(const char* after) {
  MPI_Barrier(MPI_COMM_WORLD);
  begin_own_accesses(&window);
  const int place = differs(window.base, model[check_rank], (int)(WINDOW_BYTES / kind.extent));
  CHECK(place < 0, "%s, %s: byte %d of the window after %s", flavor_names[window.flavor], kind.name,
        place, after);
  end_own_accesses(&window);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Accumulates of one origin, without a flush in between, have their effect in their order. */
static void ordered_accumulates(void) {
  const int origin = (int)draw((unsigned)check_size), target = (int)draw((unsigned)check_size);
  if (check_rank == origin) CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.win));
  for (int i = 0; i < 6; ++i) {
    const int elements = 1 + (int)draw(draw(3) ? 40 : elements_max() / 4);
    struct shape t = draw_shape(elements), o = draw_shape(elements);
    const MPI_Aint offset = draw_offset(t.span, target) % (64 * kind.extent) /
                            window.units[target] * window.units[target];
    char* operand = malloc((size_t)(o.span * kind.extent));
    fill(operand, o.span, draw(1000));
    const MPI_Op op = op_for();
    apply(model[target] + offset, &t, operand, &o, op, NULL, NULL);
    if (check_rank == origin)
      CHECK_OK(MPI_Accumulate(operand + o.origin * kind.extent, o.count, o.type, target,
                              displacement(&window, target, offset + t.origin * kind.extent),
                              t.count, t.type, op, window.win));
    if (check_rank == origin) CHECK_OK(MPI_Win_flush_local(target, window.win));
    free(operand);
    free_shape(&t), free_shape(&o);
  }
  if (check_rank == origin) CHECK_OK(MPI_Win_unlock(target, window.win));
  check_windows("accumulates in order");
}

/* Accumulates of all origins at once, over one another. */
static void concurrent_accumulates(void) {
  MPI_Op op = op_for();
  for (int tries = 0; op == MPI_REPLACE || op == MPI_PROD; ++tries) { /* depend on the order */
    if (tries == 100) return; /* a type that has no other, such as MPI_WCHAR */
    op = op_for();
  }
  enum { turns = 5 };
  char* own[turns]; /* they must stay until the fence */
  char* of_others = malloc((size_t)(200 * kind.extent));
  for (int i = 0; i < turns; ++i) own[i] = malloc((size_t)(200 * kind.extent));
  const int started = (int)draw(2);
  if (started) CHECK_OK(MPI_Win_lock_all(0, window.win));
  else CHECK_OK(MPI_Win_fence(0, window.win));
  for (int i = 0; i < turns; ++i) {
    for (int origin = 0; origin < check_size; ++origin) {
      const int target = (int)draw((unsigned)check_size), count = 1 + (int)draw(200);
      const MPI_Aint offset = draw_offset(200, target) % (100 * kind.extent) /
                              window.units[target] * window.units[target];
      int index[200];
      for (int k = 0; k < 200; ++k) index[k] = k;
      const struct shape row = {kind.type, count, count, index, count, 0};
      char* const operand = check_rank == origin ? own[i] : of_others;
      fill(operand, count, draw(1000));
      apply(model[target] + offset, &row, operand, &row, op, NULL, NULL);
      if (check_rank == origin)
        CHECK_OK(MPI_Accumulate(operand, count, kind.type, target,
                                displacement(&window, target, offset), count, kind.type, op,
                                window.win));
      if (check_rank == origin && started) CHECK_OK(MPI_Win_flush_local_all(window.win));
    }
  }
  if (started) CHECK_OK(MPI_Win_unlock_all(window.win));
  else CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win));
  for (int i = 0; i < turns; ++i) free(own[i]);
  free(of_others);
  check_windows("accumulates of all at once");
}

static void test_kind(enum flavor flavor, const char* name, MPI_Datatype type, int is_pair) {
  MPI_Aint lb;
  kind = (struct kind){name, type, is_pair, 0, 0};
  MPI_Type_size(type, &kind.size);
  MPI_Type_get_extent(type, &lb, &kind.extent);
  const int choices[] = {1, (int)kind.extent, kind.extent % 2 ? 1 : (int)kind.extent / 2};
  const int first = (int)draw(3);
  window = open_window(flavor, WINDOW_BYTES, choices[(first + check_rank) % 3]);
  model = malloc(sizeof(char*) * (size_t)check_size);
  for (int i = 0; i < check_size; ++i) {
    model[i] = malloc(WINDOW_BYTES);
    memset(model[i], 0, WINDOW_BYTES);
    fill(model[i], (int)(WINDOW_BYTES / kind.extent), (unsigned)i);
  }
  begin_own_accesses(&window);
  memcpy(window.base, model[check_rank], WINDOW_BYTES);
  end_own_accesses(&window);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 24; ++i) {
    const int origin = (int)draw((unsigned)check_size), target = (int)draw((unsigned)check_size);
    enum action a = (enum action)draw(ACTIONS);
    if (a == COMPARE_AND_SWAP && !swaps()) a = FETCH_AND_OP;
    one_operation(origin, target, (enum epoch)draw(EPOCHS), a,
                  1 + (int)draw(draw(3) ? 30 : elements_max()));
    if (i % 4 == 3) check_windows("single operations");
  }
  ordered_accumulates();
  concurrent_accumulates();
  for (int i = 0; i < check_size; ++i) free(model[i]);
  free(model);
  close_window(&window);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (int f = 0; f < FLAVORS; ++f) {
#define TEST_ELEMENT(type, c) test_kind((enum flavor)f, #type, type, 0);
#define TEST_PAIR(type, c) test_kind((enum flavor)f, #type, type, 1);
    EACH_KIND(TEST_ELEMENT, TEST_ELEMENT, TEST_PAIR)
#undef TEST_ELEMENT
#undef TEST_PAIR
  }
  return check_end("one_sided operations");
}
