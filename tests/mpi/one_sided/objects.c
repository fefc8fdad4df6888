/* What a window has besides its memory: attributes, a name, hints, a group; and load and store. */
#include "windows.h"

static void* expected_base;
static int deleted;
static int on_delete(MPI_Win win, int key, void* value, void* state) {
  CHECK(win != MPI_WIN_NULL && key != MPI_KEYVAL_INVALID && value == &deleted && !state, "%d", key);
  ++deleted;
  return MPI_SUCCESS;
}

static void attributes(struct test_window* w) {
  static const int flavors[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE,
                                MPI_WIN_FLAVOR_SHARED, MPI_WIN_FLAVOR_DYNAMIC};
  int flag = 0, *number, key, zero = 0;
  MPI_Aint* size;
  void* base;
  expected_base = w->flavor == DYNAMIC ? MPI_BOTTOM : w->base;
  CHECK_OK(MPI_Win_get_attr(w->win, MPI_WIN_BASE, &base, &flag));
  CHECK(flag && base == expected_base, "%p", base);
  CHECK_OK(MPI_Win_get_attr(w->win, MPI_WIN_SIZE, &size, &flag));
  CHECK(flag && *size == (w->flavor == DYNAMIC ? 0 : w->bytes), "%ld", (long)*size);
  CHECK_OK(MPI_Win_get_attr(w->win, MPI_WIN_DISP_UNIT, &number, &flag));
  CHECK(flag && *number == w->unit, "%d", *number);
  CHECK_OK(MPI_Win_get_attr(w->win, MPI_WIN_CREATE_FLAVOR, &number, &flag));
  CHECK(flag && *number == flavors[w->flavor], "%d", *number);
  CHECK_OK(MPI_Win_get_attr(w->win, MPI_WIN_MODEL, &number, &flag));
  CHECK(flag && *number == MPI_WIN_UNIFIED, "%d", *number);
  CHECK_CLASS(MPI_Win_set_attr(w->win, MPI_WIN_SIZE, &zero), MPI_ERR_KEYVAL);

  CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, NULL));
  CHECK_OK(MPI_Win_get_attr(w->win, key, &base, &flag));
  CHECK(!flag, "an attribute that nobody set");
  CHECK_OK(MPI_Win_set_attr(w->win, key, &deleted));
  CHECK_OK(MPI_Win_get_attr(w->win, key, &base, &flag));
  CHECK(flag && base == &deleted, "%p", base);
  deleted = 0;
  CHECK_OK(MPI_Win_delete_attr(w->win, key));
  CHECK(deleted == 1, "%d", deleted);
  CHECK_OK(MPI_Win_set_attr(w->win, key, &deleted)); /* deleted with the window */
  CHECK_OK(MPI_Win_free_keyval(&key));
}

static void name_and_hints(struct test_window* w) {
  char name[MPI_MAX_OBJECT_NAME];
  int length = -1, flag = 0, size = sizeof name, result;
  MPI_Info info;
  MPI_Group mine, world;
  CHECK_OK(MPI_Win_get_name(w->win, name, &length));
  CHECK(length == 0 && name[0] == 0, "'%s'", name);
  CHECK_OK(MPI_Win_set_name(w->win, "a window"));
  CHECK_OK(MPI_Win_get_name(w->win, name, &length));
  CHECK(length == 8 && strcmp(name, "a window") == 0, "'%s'", name);
  CHECK_OK(MPI_Win_get_name(MPI_WIN_NULL, name, &length));
  CHECK(strcmp(name, "MPI_WIN_NULL") == 0, "'%s'", name);

  MPI_Info_create(&info);
  MPI_Info_set(info, "same_disp_unit", "true");
  MPI_Info_set(info, "unheard_of", "true");
  CHECK_OK(MPI_Win_set_info(w->win, info));
  MPI_Info_free(&info);
  CHECK_OK(MPI_Win_get_info(w->win, &info));
  MPI_Info_get_string(info, "same_disp_unit", &size, name, &flag);
  CHECK(flag && strcmp(name, "true") == 0, "'%s'", name);
  size = sizeof name;
  MPI_Info_get_string(info, "accumulate_ordering", &size, name, &flag);
  CHECK(flag && strcmp(name, "rar,raw,war,waw") == 0, "'%s'", name);
  MPI_Info_free(&info);

  CHECK_OK(MPI_Win_get_group(w->win, &mine));
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_compare(mine, world, &result);
  CHECK(result == MPI_IDENT, "%d", result);
  MPI_Group_free(&mine);
  MPI_Group_free(&world);
}

/* How this rank reaches the others, as MPI_Win_get_info says. */
static void ways(struct test_window* w) {
  const char* const best = getenv("HEADWAY_WINDOWS");
  const int is_mapped = w->flavor == ALLOCATED || w->flavor == SHARED;
  const char* all = NULL;
  if (w->flavor == DYNAMIC || strcmp(best, "wire") == 0) all = "wire";
  if (is_mapped && strcmp(best, "mapped") == 0) all = "mapped";
  char wanted[64] = "", found[MPI_MAX_INFO_VAL + 1] = "";
  int flag = 0, size = sizeof found;
  MPI_Info info;
  CHECK_OK(MPI_Win_get_info(w->win, &info));
  MPI_Info_get_string(info, "headway_ways", &size, found, &flag);
  MPI_Info_free(&info);
  if (check_size == 1) snprintf(wanted, sizeof wanted, "%s:0", all ? all : "");
  if (check_size > 1) snprintf(wanted, sizeof wanted, "%s:0-%d", all ? all : "", check_size - 1);
  CHECK(flag, "no headway_ways");
  if (all) CHECK(strcmp(found, wanted) == 0, "'%s' instead of '%s'", found, wanted);
  if (!all && strcmp(best, "mapped") == 0) { /* its own memory; the kernel may copy no other's */
    snprintf(wanted, sizeof wanted, "mapped:%d", check_rank);
    CHECK(strncmp(found, wanted, strlen(wanted)) == 0, "'%s'", found);
    CHECK(check_size == 1 || strstr(found, " nearby:") || strstr(found, " wire:"), "'%s'", found);
  }
}

static int handled;
static void on_error(MPI_Win* win, int* code, ...) {
  int class_;
  MPI_Error_class(*code, &class_);
  CHECK(*win != MPI_WIN_NULL && (class_ == MPI_ERR_RMA_SYNC || class_ == MPI_ERR_OTHER), "%d",
        class_);
  ++handled;
}
static void error_handlers(struct test_window* w) {
  MPI_Errhandler mine, found;
  CHECK_OK(MPI_Win_create_errhandler(on_error, &mine));
  CHECK_OK(MPI_Win_set_errhandler(w->win, mine));
  CHECK_OK(MPI_Win_get_errhandler(w->win, &found));
  CHECK(found == mine, "another handler");
  MPI_Errhandler_free(&found);
  MPI_Errhandler_free(&mine);
  handled = 0;
  CHECK_CLASS(MPI_Win_complete(w->win), MPI_ERR_RMA_SYNC);
  CHECK_OK(MPI_Win_call_errhandler(w->win, MPI_ERR_OTHER));
  CHECK(handled == 2, "%d", handled);
  MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
}

/* Ranks read each other's memory by loads. */
static void loads_and_stores(const char* gaps) {
  MPI_Win win;
  int *mine, *theirs, unit;
  MPI_Aint size;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", gaps);
  const MPI_Aint bytes = check_rank == 0 ? 0 : 24 * check_rank; /* none, in one */
  CHECK_OK(MPI_Win_allocate_shared(bytes, 8, info, MPI_COMM_WORLD, &mine, &win));
  MPI_Info_free(&info);
  CHECK_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
  for (int i = 0; i < (int)(bytes / 4); ++i) mine[i] = 1000 * check_rank + i;
  MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  for (int rank = 0; rank < check_size; ++rank) {
    CHECK_OK(MPI_Win_shared_query(win, rank, &size, &unit, &theirs));
    CHECK(size == 24 * rank && unit == 8, "%ld %d", (long)size, unit);
    for (int i = 0; i < (int)(size / 4); ++i)
      CHECK(theirs[i] == 1000 * rank + i, "%d of rank %d: %d", i, rank, theirs[i]);
  }
  if (check_size > 1) { /* the first that has memory; the others follow it */
    int* first;
    CHECK_OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &first));
    CHECK(size == 24 && first[0] == 1000, "%ld", (long)size);
    if (strcmp(gaps, "false") == 0 && check_rank == 2)
      CHECK((char*)mine == (char*)first + 24, "%p after %p", (void*)mine, (void*)first);
  }
  CHECK_OK(MPI_Win_unlock_all(win));
  CHECK_OK(MPI_Win_free(&win));
}

/* The hint of a window; "" if it has none. */
static const char* hint(MPI_Win win, const char* key) {
  static char value[MPI_MAX_INFO_VAL + 1];
  int flag = 0, size = sizeof value;
  MPI_Info info;
  CHECK_OK(MPI_Win_get_info(win, &info));
  MPI_Info_get_string(info, key, &size, value, &flag);
  MPI_Info_free(&info);
  return flag ? value : "";
}

/* Each part of an allocated window, and of a shared one with gaps; else the first part. */
static void memory_is_aligned_as_asked_for(long alignment) {
  const MPI_Aint bytes = 100 + check_rank;
  char text[32];
  void* base;
  MPI_Win win;
  MPI_Info info;
  snprintf(text, sizeof text, "%ld", alignment);
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_minimum_memory_alignment", text);
  MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", "mpi");
  CHECK_OK(MPI_Win_allocate(bytes, 1, info, MPI_COMM_WORLD, &base, &win));
  CHECK((MPI_Aint)base % alignment == 0, "%p for %ld", base, alignment);
  CHECK(strcmp(hint(win, "mpi_minimum_memory_alignment"), text) == 0, "not shown");
  CHECK(strcmp(hint(win, "mpi_assert_memory_alloc_kinds"), "mpi") == 0, "not shown");
  CHECK(strcmp(hint(win, "alloc_shared_noncontig"), "") == 0, "shown");
  memset(base, 1, (size_t)bytes);
  CHECK_OK(MPI_Win_free(&win));

  CHECK_OK(MPI_Win_allocate_shared(bytes, 1, info, MPI_COMM_WORLD, &base, &win));
  if (check_rank == 0) CHECK((MPI_Aint)base % alignment == 0, "%p for %ld", base, alignment);
  CHECK(strcmp(hint(win, "alloc_shared_noncontig"), "false") == 0, "not shown");
  CHECK_OK(MPI_Win_free(&win));
  MPI_Info_set(info, "alloc_shared_noncontig", "true");
  CHECK_OK(MPI_Win_allocate_shared(bytes, 1, info, MPI_COMM_WORLD, &base, &win));
  CHECK((MPI_Aint)base % alignment == 0, "%p for %ld", base, alignment);
  CHECK(strcmp(hint(win, "alloc_shared_noncontig"), "true") == 0, "not shown");
  CHECK_OK(MPI_Win_free(&win));

  CHECK_OK(MPI_Alloc_mem(bytes, info, &base));
  CHECK((MPI_Aint)base % alignment == 0, "%p for %ld", base, alignment);
  CHECK_OK(MPI_Free_mem(base));
  MPI_Info_free(&info);
}

static void an_alignment_that_makes_no_sense_is_ignored(void) {
  static const char* const texts[] = {"0", "-64", "100", "64 ", "many", "99999999999999999999"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    void* base;
    MPI_Win win;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", texts[i]);
    CHECK_OK(MPI_Win_allocate(8, 1, info, MPI_COMM_WORLD, &base, &win));
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Alloc_mem(8, info, &base));
    CHECK_OK(MPI_Free_mem(base));
    MPI_Info_free(&info);
  }
}

static void regions_come_and_go(void) {
  MPI_Win win;
  char memory[3][64];
  MPI_Aint at;
  int value = 5;
  CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  CHECK_OK(MPI_Win_attach(win, memory[2], 64));
  CHECK_OK(MPI_Win_attach(win, memory[0], 64));
  CHECK_OK(MPI_Win_attach(win, memory[0] + 32, 0)); /* nothing, which hides nothing */
  CHECK_CLASS(MPI_Win_attach(win, memory[0] + 8, 8), MPI_ERR_RMA_ATTACH);
  MPI_Get_address(memory[0] + 60, &at);
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win));
  CHECK_OK(MPI_Put(&value, 1, MPI_INT, check_rank, at, 1, MPI_INT, win));
  CHECK_OK(MPI_Win_flush(check_rank, win));
  CHECK(memcmp(memory[0] + 60, &value, 4) == 0, "not put");
  CHECK_OK(MPI_Put(&value, 1, MPI_INT, check_rank, at + 1, 1, MPI_INT, win));
  CHECK_CLASS(MPI_Win_flush(check_rank, win), MPI_ERR_RMA_RANGE);
  CHECK_OK(MPI_Win_detach(win, memory[0]));
  CHECK_CLASS(MPI_Win_detach(win, memory[0]), MPI_ERR_BASE);
  CHECK_OK(MPI_Put(&value, 1, MPI_INT, check_rank, at, 1, MPI_INT, win));
  CHECK_CLASS(MPI_Win_unlock(check_rank, win), MPI_ERR_RMA_RANGE);
  CHECK_OK(MPI_Win_detach(win, memory[0] + 32));
  CHECK_OK(MPI_Win_detach(win, memory[2]));
  CHECK_OK(MPI_Win_free(&win));
}

static void a_unit_that_no_int_holds_is_undefined(void) {
  char memory[8];
  const MPI_Aint unit = (MPI_Aint)1 << 40;
  MPI_Win win;
  MPI_Aint size;
  MPI_Count large = 0;
  int *attribute, narrow = 0, flag = 0;
  void* base;
  CHECK_OK(MPI_Win_create_c(memory, 8, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &attribute, &flag));
  CHECK(flag && *attribute == MPI_UNDEFINED, "%d", *attribute);
  CHECK_OK(MPI_Win_shared_query(win, check_rank, &size, &narrow, &base));
  CHECK(narrow == MPI_UNDEFINED, "%d", narrow);
  CHECK_OK(MPI_Win_shared_query_c(win, check_rank, &size, &large, &base));
  CHECK(large == unit, "%lld", (long long)large);
  CHECK_OK(MPI_Win_free(&win));
}

static void wrong_arguments(void) {
  MPI_Win win = MPI_WIN_NULL;
  char memory[8];
  void* base;
  CHECK_CLASS(MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_create(memory, 8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
  CHECK_CLASS(MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Win_create(NULL, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_BASE);
  CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_WIN);
  CHECK_OK(MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Win_attach(win, memory, 8), MPI_ERR_RMA_FLAVOR);
  const MPI_Win before = win;
  CHECK_OK(MPI_Win_free(&win));
  CHECK_CLASS(MPI_Win_fence(0, before), MPI_ERR_WIN);
  CHECK_CLASS(MPI_Win_allocate((MPI_Aint)1 << 60, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
              MPI_ERR_NO_MEM);
  CHECK_CLASS(
      MPI_Win_allocate_shared((MPI_Aint)1 << 60, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
      MPI_ERR_NO_MEM);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (int f = 0; f < FLAVORS; ++f) {
    struct test_window w = open_window((enum flavor)f, 4096, 4);
    attributes(&w);
    name_and_hints(&w);
    error_handlers(&w);
    ways(&w);
    deleted = 0;
    close_window(&w);
    CHECK(deleted == 1, "%d", deleted);
  }
  loads_and_stores("false");
  loads_and_stores("true");
  memory_is_aligned_as_asked_for(16);
  memory_is_aligned_as_asked_for(4096);
  memory_is_aligned_as_asked_for(1 << 20);
  an_alignment_that_makes_no_sense_is_ignored();
  a_unit_that_no_int_holds_is_undefined();
  regions_come_and_go();
  wrong_arguments();
  return check_end("one_sided objects");
}
