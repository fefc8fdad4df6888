/* Events: types and sources, registrations, and thread-safe callbacks, which are called at once. */
#include <stdatomic.h>

#include "check.h"

static int rank;

static int of_name(const char* name) {
  int index = -1;
  CHECK(MPI_T_event_get_index(name, &index) == MPI_SUCCESS);
  return index;
}

static void every_type_describes_itself(void) {
  int num = 0;
  CHECK(MPI_T_event_get_num(&num) == MPI_SUCCESS && num >= 6);
  for (int i = 0; i < num; ++i) {
    char name[64], desc[512];
    int name_len = sizeof name, desc_len = sizeof desc, verbosity, elements = 8, bind, items;
    MPI_Datatype types[8];
    MPI_Aint places[8];
    MPI_T_enum names;
    MPI_Info info;
    CHECK(MPI_T_event_get_info(i, name, &name_len, &verbosity, types, places, &elements, &names,
                               &info, desc, &desc_len, &bind) == MPI_SUCCESS);
    CHECK(of_name(name) == i && desc_len > 1 && bind == MPI_T_BIND_NO_OBJECT);
    CHECK(elements >= 1 && elements <= 4);
    for (int j = 0; j < elements; ++j)
      CHECK(types[j] == MPI_UNSIGNED_LONG_LONG && places[j] == 8 * j);
    CHECK(MPI_T_enum_get_info(names, &items, NULL, NULL) == MPI_SUCCESS && items == elements);
    MPI_Info_free(&info);
    elements = 0; /* asks for the number */
    CHECK(MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, &elements, NULL, NULL, NULL, NULL,
                               NULL) == MPI_SUCCESS);
    CHECK(elements == items);
  }
  CHECK(MPI_T_event_get_info(num, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                             NULL) == MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_event_get_num(NULL) == MPI_T_ERR_INVALID);
}

static void there_is_one_source(void) {
  int num = 0, name_len = 0, desc_len = 0;
  MPI_T_source_order order;
  MPI_Count per_second = 0, most = 0, first = 0, second = 0;
  MPI_Info info;
  CHECK(MPI_T_source_get_num(&num) == MPI_SUCCESS && num == 1);
  CHECK(MPI_T_source_get_info(0, NULL, &name_len, NULL, &desc_len, &order, &per_second, &most,
                              &info) == MPI_SUCCESS);
  CHECK(name_len > 1 && desc_len > 1 && order == MPI_T_SOURCE_UNORDERED);
  CHECK(per_second == 1000000000 && most > 0);
  MPI_Info_free(&info);
  CHECK(MPI_T_source_get_timestamp(0, &first) == MPI_SUCCESS);
  CHECK(MPI_T_source_get_timestamp(0, &second) == MPI_SUCCESS && second >= first);
  CHECK(MPI_T_source_get_num(NULL) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_source_get_info(1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
        MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_source_get_timestamp(-1, &first) == MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_source_get_timestamp(0, NULL) == MPI_T_ERR_INVALID);
}

enum { wanted_tag = 4711 };
static atomic_int unexpected, ended, full, wrong;

static void on_unexpected(MPI_T_event_instance event, MPI_T_event_registration registration,
                          MPI_T_cb_safety safety, void* user_data) {
  unsigned long long copy[4], tag = 0, one;
  MPI_Count when = 0, now = 0;
  int source = -1;
  if (MPI_T_event_read(event, 1, &tag) != MPI_SUCCESS || tag != wanted_tag) return;
  int good = MPI_T_event_copy(event, copy) == MPI_SUCCESS && copy[0] == 0 && copy[1] == tag &&
             copy[2] == 12 && safety == MPI_T_CB_REQUIRE_THREAD_SAFE && user_data == &unexpected &&
             registration != NULL;
  good = good && MPI_T_event_get_timestamp(event, &when) == MPI_SUCCESS;
  good = good && MPI_T_source_get_timestamp(0, &now) == MPI_SUCCESS && when > 0 && when <= now;
  good = good && MPI_T_event_get_source(event, &source) == MPI_SUCCESS && source == 0;
  good = good && MPI_T_event_read(event, 4, &one) == MPI_T_ERR_INVALID_INDEX;
  good = good && MPI_T_event_read(event, -1, &one) == MPI_T_ERR_INVALID_INDEX;
  good = good && MPI_T_event_read(event, 0, NULL) == MPI_T_ERR_INVALID;
  good = good && MPI_T_event_copy(event, NULL) == MPI_T_ERR_INVALID;
  atomic_fetch_add(&wrong, !good);
  atomic_fetch_add(&unexpected, 1);
}

static void on_full(MPI_T_event_instance event, MPI_T_event_registration registration,
                    MPI_T_cb_safety safety, void* user_data) {
  unsigned long long bytes = 0;
  (void)registration, (void)safety, (void)user_data;
  atomic_fetch_add(&wrong, MPI_T_event_read(event, 2, &bytes) != MPI_SUCCESS || bytes != 4000);
  atomic_fetch_add(&full, 1);
}

static void on_end(MPI_T_event_registration registration, MPI_T_cb_safety safety, void* user_data) {
  (void)registration, (void)safety;
  atomic_fetch_add(&wrong, user_data != &ended);
  atomic_fetch_add(&ended, 1);
}

static MPI_T_event_registration registered(const char* name, MPI_T_event_cb_function* callback,
                                           void* user_data) {
  MPI_T_event_registration made;
  CHECK(MPI_T_event_handle_alloc(of_name(name), NULL, MPI_INFO_NULL, &made) == MPI_SUCCESS);
  CHECK(MPI_T_event_register_callback(made, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, user_data,
                                      callback) == MPI_SUCCESS);
  return made;
}

/* Rank 0 sends `count` messages that rank 1 receives after it has seen the last one arrive. */
static void send_unexpected(int count) {
  int data[3] = {1, 2, 3};
  MPI_Barrier(MPI_COMM_WORLD); /* both have registered */
  if (rank == 0) {
    for (int i = 0; i < count; ++i) MPI_Send(data, 3, MPI_INT, 1, wanted_tag, MPI_COMM_WORLD);
    MPI_Send(data, 3, MPI_INT, 1, wanted_tag + 1, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(data, 3, MPI_INT, 0, wanted_tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; ++i)
      MPI_Recv(data, 3, MPI_INT, 0, wanted_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void unexpected_messages_are_seen_while_registered(void) {
  MPI_T_event_registration one = registered("messages.unexpected", on_unexpected, &unexpected);
  MPI_T_event_registration another = registered("messages.unexpected", on_unexpected, &unexpected);
  send_unexpected(3);
  CHECK(unexpected == (rank == 1 ? 6 : 0));
  CHECK(MPI_T_event_handle_free(another, &ended, on_end) == MPI_SUCCESS && ended == 1);
  send_unexpected(2);
  CHECK(unexpected == (rank == 1 ? 8 : 0));
  CHECK(MPI_T_event_register_callback(one, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL,
                                      NULL) == MPI_SUCCESS);
  send_unexpected(2);
  CHECK(unexpected == (rank == 1 ? 8 : 0)); /* without a callback */
  CHECK(MPI_T_event_handle_free(one, NULL, NULL) == MPI_SUCCESS);
  send_unexpected(2);
  CHECK(unexpected == (rank == 1 ? 8 : 0) && ended == 1);
}

/* More than the receiver has room for (HEADWAY_EAGER_PEER=64k). */
static void a_full_window_is_seen_by_the_sender(void) {
  enum { messages = 100 };
  static char data[messages][4000];
  MPI_Request requests[messages];
  MPI_T_event_registration one = registered("messages.eager_window_full", on_full, NULL);
  if (rank == 0) {
    for (int i = 0; i < messages; ++i)
      MPI_Isend(data[i], 4000, MPI_CHAR, 1, 3, MPI_COMM_WORLD, &requests[i]);
    MPI_Send(NULL, 0, MPI_CHAR, 1, 4, MPI_COMM_WORLD);
    MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
    CHECK(full > 0 && full < messages);
  } else if (rank == 1) {
    MPI_Recv(NULL, 0, MPI_CHAR, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < messages; ++i)
      MPI_Recv(data[i], 4000, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(full == 0);
  }
  CHECK(MPI_T_event_handle_free(one, NULL, NULL) == MPI_SUCCESS);
}

static void wrong_arguments_are_refused(void) {
  const int wrong_handle = MPI_T_ERR_INVALID_HANDLE;
  const MPI_T_cb_safety none = MPI_T_CB_REQUIRE_NONE, safe = MPI_T_CB_REQUIRE_THREAD_SAFE;
  int index;
  unsigned long long value;
  MPI_Count when;
  MPI_Info info = MPI_INFO_NULL;
  MPI_T_event_registration one, null = NULL;
  CHECK(MPI_T_event_get_index(NULL, &index) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_event_get_index("no such", &index) == MPI_T_ERR_INVALID_NAME);
  CHECK(MPI_T_event_handle_alloc(-1, NULL, MPI_INFO_NULL, &one) == MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, NULL) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &one) == MPI_SUCCESS);
  CHECK(MPI_T_event_handle_set_info(one, MPI_INFO_NULL) == MPI_SUCCESS);
  CHECK(MPI_T_event_handle_set_info(null, MPI_INFO_NULL) == wrong_handle);
  CHECK(MPI_T_event_handle_get_info(one, &info) == MPI_SUCCESS && info != MPI_INFO_NULL);
  MPI_Info_free(&info);
  CHECK(MPI_T_event_handle_get_info(one, NULL) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_event_handle_get_info(null, &info) == wrong_handle);
  CHECK(MPI_T_event_register_callback(null, none, MPI_INFO_NULL, NULL, on_full) == wrong_handle);
  CHECK(MPI_T_event_register_callback(one, (MPI_T_cb_safety)5, MPI_INFO_NULL, NULL, on_full) ==
        MPI_T_ERR_INVALID);
  /* The hints of a callback that is not there. */
  CHECK(MPI_T_event_callback_set_info(one, safe, MPI_INFO_NULL) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_event_callback_get_info(one, safe, &info) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_event_register_callback(one, safe, MPI_INFO_NULL, NULL, on_full) == MPI_SUCCESS);
  CHECK(MPI_T_event_callback_set_info(one, safe, MPI_INFO_NULL) == MPI_SUCCESS);
  CHECK(MPI_T_event_callback_get_info(one, safe, &info) == MPI_SUCCESS);
  MPI_Info_free(&info);
  CHECK(MPI_T_event_callback_set_info(null, safe, MPI_INFO_NULL) == wrong_handle);
  CHECK(MPI_T_event_callback_get_info(null, safe, &info) == wrong_handle);
  CHECK(MPI_T_event_set_dropped_handler(null, NULL) == wrong_handle);
  CHECK(MPI_T_event_set_dropped_handler(one, NULL) == MPI_SUCCESS);
  /* Outside of a callback there is no event. */
  CHECK(MPI_T_event_read(NULL, 0, &value) == wrong_handle);
  CHECK(MPI_T_event_copy(NULL, &value) == wrong_handle);
  CHECK(MPI_T_event_get_timestamp(NULL, &when) == wrong_handle);
  CHECK(MPI_T_event_get_source(NULL, &index) == wrong_handle);
  CHECK(MPI_T_event_handle_free(one, NULL, NULL) == MPI_SUCCESS);
  CHECK(MPI_T_event_handle_free(one, NULL, NULL) == wrong_handle);
}

int main(int argc, char** argv) {
  CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &(int){0}) == MPI_SUCCESS);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  every_type_describes_itself();
  there_is_one_source();
  unexpected_messages_are_seen_while_registered();
  a_full_window_is_seen_by_the_sender();
  wrong_arguments_are_refused();
  CHECK(wrong == 0);
  MPI_Finalize();
  CHECK(MPI_T_finalize() == MPI_SUCCESS);
  return failures == 0 ? 0 : 1;
}
