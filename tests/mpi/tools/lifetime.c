/* MPI_T before, during and after MPI: MPI_T_init_thread counts, settings can be written before
 * MPI_Init only, counters keep their last value, and every call is refused while the interface is
 * closed. */
#include "check.h"

static int num, len, index_of, count;
static MPI_Count when;
static char text[8];
static char value[4096];

static void every_call_is_refused(void) {
  MPI_T_enum no_enum = MPI_T_ENUM_NULL;
  MPI_T_cvar_handle cvar = MPI_T_CVAR_HANDLE_NULL;
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle pvar = MPI_T_PVAR_HANDLE_NULL;
  MPI_T_event_registration registration = NULL;
  MPI_T_event_instance instance = NULL;
  MPI_Info info;
  int indices[1];
  const int closed = MPI_T_ERR_NOT_INITIALIZED;
  CHECK(MPI_T_finalize() == closed);
  CHECK(MPI_T_enum_get_info(no_enum, &num, text, &len) == closed);
  CHECK(MPI_T_enum_get_item(no_enum, 0, &num, text, &len) == closed);
  CHECK(MPI_T_cvar_get_num(&num) == closed);
  CHECK(MPI_T_cvar_get_info(0, text, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == closed);
  CHECK(MPI_T_cvar_get_index("HEADWAY_LOG", &index_of) == closed);
  CHECK(MPI_T_cvar_handle_alloc(0, NULL, &cvar, &count) == closed);
  CHECK(MPI_T_cvar_handle_free(&cvar) == closed);
  CHECK(MPI_T_cvar_read(cvar, value) == closed);
  CHECK(MPI_T_cvar_write(cvar, value) == closed);
  CHECK(MPI_T_pvar_get_num(&num) == closed);
  CHECK(MPI_T_pvar_get_info(0, text, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                            NULL) == closed);
  CHECK(MPI_T_pvar_get_index("progress.sleeps", MPI_T_PVAR_CLASS_COUNTER, &index_of) == closed);
  CHECK(MPI_T_pvar_session_create(&session) == closed);
  CHECK(MPI_T_pvar_session_free(&session) == closed);
  CHECK(MPI_T_pvar_handle_alloc(session, 0, NULL, &pvar, &count) == closed);
  CHECK(MPI_T_pvar_handle_free(session, &pvar) == closed);
  CHECK(MPI_T_pvar_start(session, pvar) == closed);
  CHECK(MPI_T_pvar_stop(session, pvar) == closed);
  CHECK(MPI_T_pvar_read(session, pvar, value) == closed);
  CHECK(MPI_T_pvar_write(session, pvar, value) == closed);
  CHECK(MPI_T_pvar_reset(session, pvar) == closed);
  CHECK(MPI_T_pvar_readreset(session, pvar, value) == closed);
  CHECK(MPI_T_source_get_num(&num) == closed);
  CHECK(MPI_T_source_get_info(0, text, &len, NULL, NULL, NULL, NULL, NULL, NULL) == closed);
  CHECK(MPI_T_source_get_timestamp(0, &when) == closed);
  CHECK(MPI_T_event_get_num(&num) == closed);
  CHECK(MPI_T_event_get_info(0, text, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
        closed);
  CHECK(MPI_T_event_get_index("progress.wait_slept", &index_of) == closed);
  CHECK(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &registration) == closed);
  CHECK(MPI_T_event_handle_set_info(registration, MPI_INFO_NULL) == closed);
  CHECK(MPI_T_event_handle_get_info(registration, &info) == closed);
  CHECK(MPI_T_event_handle_free(registration, NULL, NULL) == closed);
  CHECK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL,
                                      NULL) == closed);
  CHECK(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL) ==
        closed);
  CHECK(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &info) == closed);
  CHECK(MPI_T_event_set_dropped_handler(registration, NULL) == closed);
  CHECK(MPI_T_event_read(instance, 0, value) == closed);
  CHECK(MPI_T_event_copy(instance, value) == closed);
  CHECK(MPI_T_event_get_timestamp(instance, &when) == closed);
  CHECK(MPI_T_event_get_source(instance, &num) == closed);
  CHECK(MPI_T_category_get_num(&num) == closed);
  CHECK(MPI_T_category_get_info(0, text, &len, NULL, NULL, NULL, NULL, NULL) == closed);
  CHECK(MPI_T_category_get_num_events(0, &num) == closed);
  CHECK(MPI_T_category_get_index("rails", &index_of) == closed);
  CHECK(MPI_T_category_get_cvars(0, 1, indices) == closed);
  CHECK(MPI_T_category_get_pvars(0, 1, indices) == closed);
  CHECK(MPI_T_category_get_events(0, 1, indices) == closed);
  CHECK(MPI_T_category_get_categories(0, 1, indices) == closed);
  CHECK(MPI_T_category_changed(&num) == closed);
}

static MPI_Count read_number(MPI_T_cvar_handle handle) {
  MPI_Count read = -1;
  CHECK(MPI_T_cvar_read(handle, &read) == MPI_SUCCESS);
  return read;
}

static unsigned long long read_counter(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  unsigned long long read = 0;
  CHECK(MPI_T_pvar_read(session, handle, &read) == MPI_SUCCESS);
  return read;
}

int main(int argc, char** argv) {
  every_call_is_refused();

  int provided = -1;
  CHECK(MPI_T_init_thread(-7, &provided) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
  CHECK(provided == MPI_THREAD_MULTIPLE);
  CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, NULL) == MPI_SUCCESS);
  CHECK(MPI_T_finalize() == MPI_SUCCESS); /* the first call still holds */
  CHECK(MPI_T_cvar_get_num(&num) == MPI_SUCCESS && num > 40);

  /* The environment's value, until the tool sets another one. */
  MPI_T_cvar_handle spin, wait;
  CHECK(MPI_T_cvar_get_index("HEADWAY_SPIN_US", &index_of) == MPI_SUCCESS);
  CHECK(MPI_T_cvar_handle_alloc(index_of, NULL, &spin, &count) == MPI_SUCCESS && count == 1);
  CHECK(read_number(spin) == 40);
  MPI_Count wanted = 70, impossible = -1;
  CHECK(MPI_T_cvar_write(spin, &impossible) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_cvar_write(spin, &wanted) == MPI_SUCCESS);
  CHECK(read_number(spin) == 70);
  CHECK(MPI_T_cvar_get_index("HEADWAY_WAIT", &index_of) == MPI_SUCCESS);
  CHECK(MPI_T_cvar_handle_alloc(index_of, NULL, &wait, &count) == MPI_SUCCESS);
  int block = 3;
  CHECK(MPI_T_cvar_write(wait, &block) == MPI_SUCCESS);

  MPI_T_pvar_session session;
  MPI_T_pvar_handle runs;
  CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_get_index("progress.runs", MPI_T_PVAR_CLASS_COUNTER, &index_of) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_handle_alloc(session, index_of, NULL, &runs, &count) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_start(session, runs) == MPI_SUCCESS);
  CHECK(read_counter(session, runs) == 0);

  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_T_cvar_write(spin, &wanted) == MPI_T_ERR_CVAR_SET_NOT_NOW);
  CHECK(read_number(spin) == 70);
  const unsigned long long during = read_counter(session, runs);
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(size == 1 || during > 0);
  MPI_Finalize();

  const unsigned long long after = read_counter(session, runs);
  CHECK(after >= during);
  CHECK(read_counter(session, runs) == after);
  CHECK(MPI_T_cvar_write(spin, &wanted) == MPI_T_ERR_CVAR_SET_NOT_NOW);
  CHECK(MPI_T_finalize() == MPI_SUCCESS);
  every_call_is_refused();
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
  CHECK(MPI_T_cvar_read(spin, value) == MPI_T_ERR_INVALID_HANDLE); /* freed by MPI_T_finalize */
  CHECK(MPI_T_pvar_read(session, runs, value) == MPI_T_ERR_INVALID_SESSION);
  CHECK(MPI_T_finalize() == MPI_SUCCESS);
  return failures == 0 ? 0 : 1;
}
