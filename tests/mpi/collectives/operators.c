/* Goal: every reduction, with every predefined operator on every predefined type that it is defined
 * on, in place and not, in all three forms, gives what a serial fold gives; on other types it is
 * refused.
 * Method: what a rank contributes follows from its rank, so that each rank computes the result
 * alone. The numbers are small enough for every order of operations to be exact. Lengths and roots
 * are random, the same on all ranks, from a fixed seed. */
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

#include "check_all.h"

enum operator_number { max, min, sum, prod, land, lor, lxor, band, bor, bxor, maxloc, minloc };
enum { operator_count = minloc + 1, largest_count = 3000, size_max = 9, element_max = 32 };
static MPI_Op operators[operator_count];
static const char* const operator_names[] = {"max",  "min",  "sum", "prod", "land",   "lor",
                                             "lxor", "band", "bor", "bxor", "maxloc", "minloc"};
enum {
  arithmetic = 1 << max | 1 << min | 1 << sum | 1 << prod,
  logical = 1 << land | 1 << lor | 1 << lxor,
  bitwise = 1 << band | 1 << bor | 1 << bxor,
  located = 1 << maxloc | 1 << minloc
};

static uint64_t mixed(uint64_t a, uint64_t b) {
  uint64_t x = (a + 1) * 0x9e3779b97f4a7c15u ^ (b + 1) * 0xbf58476d1ce4e5b9u;
  x ^= x >> 29;
  x *= 0x94d049bb133111ebu;
  return x ^ x >> 32;
}

/* The same sequence on all ranks. */
static uint64_t drawn;
static int draw(int below) { return (int)(mixed(drawn++, 7) % (uint64_t)below); }

/* Of nine ranks, the sum is at most 63 and the product at most 64. */
static int small(int rank, int i, int op) {
  const uint64_t x = mixed((uint64_t)rank, (uint64_t)i);
  if (op == prod) return rank < 6 ? 1 + (int)(x % 2) : 1;
  return (int)(x % (op == sum ? 8 : op >= land && op <= lxor ? 2 : 100));
}

#define FUNCTIONS(name, ctype, ELEMENT, JOIN)                                \
  static void set_##name(void* at, int count, int rank, int op) {            \
    ctype* v = at;                                                           \
    for (int i = 0; i < count; ++i) ELEMENT(ctype, v[i], rank, i, op);       \
  }                                                                          \
  static void join_##name(void* into, const void* next, int count, int op) { \
    ctype* a = into;                                                         \
    const ctype* b = next;                                                   \
    for (int i = 0; i < count; ++i) JOIN(ctype, a[i], b[i], op);             \
  }
#define EQUALITY(name, ctype)                                              \
  static bool same_##name(const void* one, const void* other, int count) { \
    const ctype *a = one, *b = other;                                      \
    for (int i = 0; i < count; ++i)                                        \
      if (a[i] != b[i]) return false;                                      \
    return true;                                                           \
  }

#define INTEGER_ELEMENT(ctype, v, rank, i, op) \
  v = op >= band ? (ctype)mixed((uint64_t)rank, (uint64_t)i) : (ctype)small(rank, i, op)
#define INTEGER_JOIN(ctype, a, b, op)  \
  a = op == max    ? (a > b ? a : b)   \
      : op == min  ? (a < b ? a : b)   \
      : op == sum  ? (ctype)(a + b)    \
      : op == prod ? (ctype)(a * b)    \
      : op == land ? (ctype)(a && b)   \
      : op == lor  ? (ctype)(a || b)   \
      : op == lxor ? (ctype)(!a != !b) \
      : op == band ? (ctype)(a & b)    \
      : op == bor  ? (ctype)(a | b)    \
                   : (ctype)(a ^ b)
#define TRUTH_ELEMENT(ctype, v, rank, i, op) v = small(rank, i, op) != 0
#define TRUTH_JOIN(ctype, a, b, op) a = op == land ? a && b : op == lor ? a || b : a != b
#define REAL_ELEMENT(ctype, v, rank, i, op) \
  v = op == prod ? (ctype)small(rank, i, op) : (ctype)small(rank, i, op) / 4 - 3
#define REAL_JOIN(ctype, a, b, op) \
  a = op == max ? (a > b ? a : b) : op == min ? (a < b ? a : b) : op == sum ? a + b : a * b
/* Factors are 1 and i. */
#define COMPLEX_ELEMENT(ctype, v, rank, i, op)                     \
  v = op == prod ? (small(rank, i, max) % 2 ? (ctype)I : (ctype)1) \
                 : (ctype)(small(rank, i, sum) + small(rank, i + 1, sum) * I)
#define COMPLEX_JOIN(ctype, a, b, op) a = op == sum ? a + b : a * b
#define PAIR_ELEMENT(ctype, v, rank, i, op) \
  memset(&v, 0, sizeof v), v.value = small(rank, i, op) % 5, v.index = (rank * 5 + i) % 7
#define PAIR_JOIN(ctype, a, b, op)                                                 \
  if (a.value == b.value ? b.index < a.index                                       \
                         : (op == maxloc ? b.value > a.value : b.value < a.value)) \
  a = b
#define INTEGER(name, ctype) \
  FUNCTIONS(name, ctype, INTEGER_ELEMENT, INTEGER_JOIN) EQUALITY(name, ctype)
#define REAL(name, ctype) FUNCTIONS(name, ctype, REAL_ELEMENT, REAL_JOIN) EQUALITY(name, ctype)
#define COMPLEX(name, ctype) \
  FUNCTIONS(name, ctype, COMPLEX_ELEMENT, COMPLEX_JOIN) EQUALITY(name, ctype)
#define PAIR(name, ctype, itype)                                              \
  struct name {                                                               \
    ctype value;                                                              \
    itype index;                                                              \
  };                                                                          \
  FUNCTIONS(name, struct name, PAIR_ELEMENT, PAIR_JOIN)                       \
  static bool same_##name(const void* one, const void* other, int count) {    \
    const struct name *a = one, *b = other;                                   \
    for (int i = 0; i < count; ++i)                                           \
      if (a[i].value != b[i].value || a[i].index != b[i].index) return false; \
    return true;                                                              \
  }

INTEGER(schar, signed char)
INTEGER(uchar, unsigned char)
INTEGER(short, short)
INTEGER(ushort, unsigned short)
INTEGER(int, int)
INTEGER(uint, unsigned)
INTEGER(long, long)
INTEGER(ulong, unsigned long)
INTEGER(llong, long long)
INTEGER(ullong, unsigned long long)
FUNCTIONS(truth, bool, TRUTH_ELEMENT, TRUTH_JOIN)
EQUALITY(truth, bool)
REAL(float, float)
REAL(double, double)
REAL(ldouble, long double)
COMPLEX(cfloat, float _Complex)
COMPLEX(cdouble, double _Complex)
COMPLEX(cldouble, long double _Complex)
PAIR(float_int, float, int)
PAIR(double_int, double, int)
PAIR(long_int, long, int)
PAIR(short_int, short, int)
PAIR(int_int, int, int)
PAIR(ldouble_int, long double, int)
PAIR(float_float, float, float)
PAIR(double_double, double, double)
INTEGER(int128, __int128)
REAL(quad, __float128)
typedef _Complex float __attribute__((mode(TC))) quad_complex;
COMPLEX(cquad, quad_complex)

static struct number {
  const char* name;
  MPI_Datatype type;
  int allowed; /* operators */
  size_t bytes;
  void (*set)(void* at, int count, int rank, int op);
  void (*join)(void* into, const void* next, int count, int op);
  bool (*same)(const void* one, const void* other, int count);
} numbers[80];
static int number_count;

#define ADD_NAMED(text, mpi, name, ctype, operators_of_it)                          \
  numbers[number_count++] = (struct number) {                                       \
    text, mpi, operators_of_it, sizeof(ctype), set_##name, join_##name, same_##name \
  }
#define ADD(mpi, name, ctype, operators_of_it) ADD_NAMED(#mpi, mpi, name, ctype, operators_of_it)
#define ADD_INTEGER(mpi, name, ctype) \
  ADD_NAMED(#mpi, mpi, name, ctype, arithmetic | logical | bitwise)

static void add_integers(void) {
  ADD_INTEGER(MPI_SIGNED_CHAR, schar, signed char);
  ADD_INTEGER(MPI_UNSIGNED_CHAR, uchar, unsigned char);
  ADD_INTEGER(MPI_SHORT, short, short);
  ADD_INTEGER(MPI_UNSIGNED_SHORT, ushort, unsigned short);
  ADD_INTEGER(MPI_INT, int, int);
  ADD_INTEGER(MPI_UNSIGNED, uint, unsigned);
  ADD_INTEGER(MPI_LONG, long, long);
  ADD_INTEGER(MPI_UNSIGNED_LONG, ulong, unsigned long);
  ADD_INTEGER(MPI_LONG_LONG, llong, long long);
  ADD_INTEGER(MPI_UNSIGNED_LONG_LONG, ullong, unsigned long long);
  ADD_INTEGER(MPI_INT8_T, schar, signed char);
  ADD_INTEGER(MPI_INT16_T, short, short);
  ADD_INTEGER(MPI_INT32_T, int, int);
  ADD_INTEGER(MPI_INT64_T, llong, long long);
  ADD_INTEGER(MPI_UINT8_T, uchar, unsigned char);
  ADD_INTEGER(MPI_UINT16_T, ushort, unsigned short);
  ADD_INTEGER(MPI_UINT32_T, uint, unsigned);
  ADD_INTEGER(MPI_UINT64_T, ullong, unsigned long long);
  ADD_INTEGER(MPI_AINT, long, MPI_Aint);
  ADD_INTEGER(MPI_OFFSET, llong, MPI_Offset);
  ADD_INTEGER(MPI_COUNT, llong, MPI_Count);
  ADD_INTEGER(MPI_INTEGER, int, int);
  ADD_INTEGER(MPI_INTEGER1, schar, signed char);
  ADD_INTEGER(MPI_INTEGER2, short, short);
  ADD_INTEGER(MPI_INTEGER4, int, int);
  ADD_INTEGER(MPI_INTEGER8, llong, long long);
  ADD_INTEGER(MPI_INTEGER16, int128, __int128);
  ADD_INTEGER(MPI_LONG_LONG_INT, llong, long long);
  ADD_INTEGER(MPI_CHAR, schar, signed char);
  ADD_INTEGER(MPI_CHARACTER, schar, signed char);
  ADD(MPI_BYTE, uchar, unsigned char, bitwise);
  ADD(MPI_C_BOOL, truth, bool, logical);
  ADD(MPI_CXX_BOOL, truth, bool, logical);
  ADD(MPI_LOGICAL, int, int, logical);
  ADD(MPI_LOGICAL1, schar, signed char, logical);
  ADD(MPI_LOGICAL2, short, short, logical);
  ADD(MPI_LOGICAL4, int, int, logical);
  ADD(MPI_LOGICAL8, llong, long long, logical);
  ADD(MPI_LOGICAL16, int128, __int128, logical);
}

static void add_others(void) {
  ADD(MPI_FLOAT, float, float, arithmetic);
  ADD(MPI_DOUBLE, double, double, arithmetic);
  ADD(MPI_LONG_DOUBLE, ldouble, long double, arithmetic);
  ADD(MPI_REAL, float, float, arithmetic);
  ADD(MPI_REAL4, float, float, arithmetic);
  ADD(MPI_REAL8, double, double, arithmetic);
  ADD(MPI_REAL16, quad, __float128, arithmetic);
  ADD(MPI_DOUBLE_PRECISION, double, double, arithmetic);
  ADD(MPI_C_FLOAT_COMPLEX, cfloat, float _Complex, 1 << sum | 1 << prod);
  ADD(MPI_C_DOUBLE_COMPLEX, cdouble, double _Complex, 1 << sum | 1 << prod);
  ADD(MPI_C_LONG_DOUBLE_COMPLEX, cldouble, long double _Complex, 1 << sum | 1 << prod);
  ADD(MPI_COMPLEX, cfloat, float _Complex, 1 << sum | 1 << prod);
  ADD(MPI_DOUBLE_COMPLEX, cdouble, double _Complex, 1 << sum | 1 << prod);
  ADD(MPI_COMPLEX8, cfloat, float _Complex, 1 << sum | 1 << prod);
  ADD(MPI_COMPLEX16, cdouble, double _Complex, 1 << sum | 1 << prod);
  ADD(MPI_COMPLEX32, cquad, quad_complex, 1 << sum | 1 << prod);
  ADD(MPI_CXX_FLOAT_COMPLEX, cfloat, float _Complex, 1 << sum | 1 << prod);
  ADD(MPI_CXX_DOUBLE_COMPLEX, cdouble, double _Complex, 1 << sum | 1 << prod);
  ADD(MPI_CXX_LONG_DOUBLE_COMPLEX, cldouble, long double _Complex, 1 << sum | 1 << prod);
  ADD(MPI_FLOAT_INT, float_int, struct float_int, located);
  ADD(MPI_DOUBLE_INT, double_int, struct double_int, located);
  ADD(MPI_LONG_INT, long_int, struct long_int, located);
  ADD(MPI_SHORT_INT, short_int, struct short_int, located);
  ADD(MPI_2INT, int_int, struct int_int, located);
  ADD(MPI_LONG_DOUBLE_INT, ldouble_int, struct ldouble_int, located);
  ADD(MPI_2INTEGER, int_int, struct int_int, located);
  ADD(MPI_2REAL, float_float, struct float_float, located);
  ADD(MPI_2DOUBLE_PRECISION, double_double, struct double_double, located);
}

enum function { allreduce, reduce, scan, exscan, scatter_block, scatter, function_count };
static const char* const function_names[] = {
    "allreduce", "reduce", "scan", "exscan", "reduce_scatter_block", "reduce_scatter"};

struct call {
  const struct number* of;
  int op, function, form; /* blocking, non-blocking, persistent */
  int count, root;
  bool in_place;
};

/* Room for what one rank gives to all. */
static char own[largest_count * size_max * element_max], result[sizeof own], wanted[sizeof own],
    next[sizeof own];

/* Calls MPI_upper, MPI_Ilower or MPI_upper_init; the persistent one is started twice. */
#define CALL(upper, lower, ...)                                          \
  if (c->form == 0) return MPI_##upper(__VA_ARGS__, MPI_COMM_WORLD);     \
  if (c->form == 1) return MPI_I##lower(__VA_ARGS__, MPI_COMM_WORLD, r); \
  return MPI_##upper##_init(__VA_ARGS__, MPI_COMM_WORLD, MPI_INFO_NULL, r)

static int begin(const struct call* c, const void* from, const int* counts, MPI_Request* r) {
  const MPI_Datatype type = c->of->type;
  const MPI_Op op = operators[c->op];
  switch (c->function) {
    case allreduce:
      CALL(Allreduce, allreduce, from, result, c->count, type, op);
    case reduce:
      CALL(Reduce, reduce, from, result, c->count, type, op, c->root);
    case scan:
      CALL(Scan, scan, from, result, c->count, type, op);
    case exscan:
      CALL(Exscan, exscan, from, result, c->count, type, op);
    case scatter_block:
      CALL(Reduce_scatter_block, reduce_scatter_block, from, result, c->count, type, op);
    default:
      CALL(Reduce_scatter, reduce_scatter, from, result, counts, type, op);
  }
}

static void run(const struct call* c, const void* from, const int* counts) {
  MPI_Request r = MPI_REQUEST_NULL;
  CHECK_OK(begin(c, from, counts, &r));
  if (c->form == 2) CHECK_OK(MPI_Start(&r));
  if (c->form != 0) CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
  if (c->form == 2) CHECK_OK(MPI_Request_free(&r));
}

/* The serial fold of ranks 0 … `last`. */
static void fold(const struct call* c, int count, int last) {
  c->of->set(wanted, count, 0, c->op);
  for (int rank = 1; rank <= last; ++rank) {
    c->of->set(next, count, rank, c->op);
    c->of->join(wanted, next, count, c->op);
  }
}

static void try(struct call* c) {
  int counts[size_max], all = c->count, first = 0, mine = c->count;
  const bool scatters = c->function == scatter_block || c->function == scatter;
  for (int i = 0; i < check_size; ++i)
    counts[i] = c->function == scatter ? (int)(mixed(drawn, (uint64_t)i) % (unsigned)(c->count + 1))
                                       : c->count;
  if (scatters) {
    all = 0;
    for (int i = 0; i < check_size; ++i) {
      if (i == check_rank) first = all;
      all += counts[i];
    }
    mine = counts[check_rank];
  }
  c->of->set(own, all, check_rank, c->op);
  const bool in_place = c->in_place && (c->function != reduce || check_rank == c->root);
  if (in_place) c->of->set(result, all, check_rank, c->op);
  run(c, in_place ? MPI_IN_PLACE : own, counts);
  if (c->function == reduce && check_rank != c->root) return;
  if (c->function == exscan && check_rank == 0) return;
  const int last = c->function == scan     ? check_rank
                   : c->function == exscan ? check_rank - 1
                                           : check_size - 1;
  fold(c, all, last);
  CHECK(c->of->same(result, wanted + (size_t)first * c->of->bytes, mine),
        "%s of %d %s, %s, form %d%s", function_names[c->function], c->count, c->of->name,
        operator_names[c->op], c->form, c->in_place ? ", in place" : "");
}

static void every_operator_on_every_type(void) {
  for (int n = 0; n < number_count; ++n)
    for (int op = 0; op < operator_count; ++op)
      for (int f = 0; (numbers[n].allowed >> op & 1) && f < function_count; ++f)
        for (int form = 0; form < 3; ++form)
          for (int in_place = 0; in_place < 2; ++in_place) {
            struct call c = {.of = &numbers[n], .op = op, .function = f, .form = form};
            c.in_place = in_place;
            c.count = draw(20) == 0 ? draw(largest_count) : draw(40);
            c.root = draw(check_size);
            try(&c);
          }
}

/* MPI_Reduce_local: the contribution of rank 0 is combined into that of rank 1. */
static void local(const struct number* of, int op) {
  struct call c = {.of = of, .op = op, .count = draw(40)};
  of->set(own, c.count, 0, op);
  of->set(result, c.count, 1, op);
  CHECK_OK(MPI_Reduce_local(own, result, c.count, of->type, operators[op]));
  fold(&c, c.count, 1);
  CHECK(of->same(result, wanted, c.count), "reduce_local of %d %s, %s", c.count, of->name,
        operator_names[op]);
}

static void locally_and_where_it_is_refused(void) {
  const MPI_Datatype without_any[] = {MPI_WCHAR, MPI_PACKED};
  for (int op = 0; op < operator_count; ++op) {
    for (int n = 0; n < number_count; ++n) {
      if (numbers[n].allowed >> op & 1) local(&numbers[n], op);
      else
        CHECK_CLASS(MPI_Allreduce(own, result, 1, numbers[n].type, operators[op], MPI_COMM_WORLD),
                    MPI_ERR_OP);
    }
    for (int n = 0; n < 2; ++n)
      CHECK_CLASS(MPI_Allreduce(own, result, 1, without_any[n], operators[op], MPI_COMM_WORLD),
                  MPI_ERR_OP);
  }
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const MPI_Op all[] = {MPI_MAX,  MPI_MIN,  MPI_SUM, MPI_PROD, MPI_LAND,   MPI_LOR,
                        MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
  memcpy(operators, all, sizeof all);
  add_integers();
  add_others();
  CHECK(check_size <= size_max, "at most %d ranks", size_max);
  every_operator_on_every_type();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  locally_and_where_it_is_refused();
  return check_end("operators");
}
