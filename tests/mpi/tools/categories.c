/* Categories: a tree, in which every setting, counter and event is in exactly one place. */
#include "check.h"

enum { most = 1024 };
static int seen_cvar[most], seen_pvar[most], seen_event[most], seen_category[most];

static void look_at(int category) {
  char name[64], desc[256];
  int name_len = sizeof name, desc_len = sizeof desc, cvars, pvars, events, categories, index = -1;
  int indices[most];
  CHECK(MPI_T_category_get_info(category, name, &name_len, desc, &desc_len, &cvars, &pvars,
                                &categories) == MPI_SUCCESS);
  CHECK(name_len > 1 && desc_len > 1);
  CHECK(MPI_T_category_get_index(name, &index) == MPI_SUCCESS && index == category);
  CHECK(MPI_T_category_get_num_events(category, &events) == MPI_SUCCESS);
  CHECK(MPI_T_category_get_cvars(category, most, indices) == MPI_SUCCESS);
  for (int i = 0; i < cvars; ++i) ++seen_cvar[indices[i]];
  CHECK(MPI_T_category_get_pvars(category, most, indices) == MPI_SUCCESS);
  for (int i = 0; i < pvars; ++i) ++seen_pvar[indices[i]];
  CHECK(MPI_T_category_get_events(category, most, indices) == MPI_SUCCESS);
  for (int i = 0; i < events; ++i) ++seen_event[indices[i]];
  CHECK(MPI_T_category_get_categories(category, most, indices) == MPI_SUCCESS);
  for (int i = 0; i < categories; ++i) ++seen_category[indices[i]];
  /* The root holds categories only: what is in it itself belongs nowhere. */
  if (strcmp(name, "headway") == 0) CHECK(cvars + pvars + events == 0 && categories > 5);
  if (strcmp(name, "tcp") == 0) CHECK(cvars > 5);
  if (strcmp(name, "progress") == 0) CHECK(cvars > 5 && pvars > 15 && events == 1);
}

static void only_what_fits_is_written(void) {
  int index = -1, indices[2] = {-7, -7};
  CHECK(MPI_T_category_get_index("progress", &index) == MPI_SUCCESS);
  CHECK(MPI_T_category_get_cvars(index, 1, indices) == MPI_SUCCESS);
  CHECK(indices[0] >= 0 && indices[1] == -7);
  CHECK(MPI_T_category_get_cvars(index, 0, NULL) == MPI_SUCCESS);
  CHECK(MPI_T_category_get_cvars(index, 1, NULL) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_category_get_pvars(index, -1, indices) == MPI_T_ERR_INVALID);
}

static void wrong_arguments_are_refused(int num) {
  const int wrong = MPI_T_ERR_INVALID_INDEX;
  int index, indices[1];
  for (int i = 0; i < 2; ++i) {
    const int none = i == 0 ? -1 : num;
    CHECK(MPI_T_category_get_info(none, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == wrong);
    CHECK(MPI_T_category_get_num_events(none, &index) == wrong);
    CHECK(MPI_T_category_get_cvars(none, 1, indices) == wrong);
    CHECK(MPI_T_category_get_pvars(none, 1, indices) == wrong);
    CHECK(MPI_T_category_get_events(none, 1, indices) == wrong);
    CHECK(MPI_T_category_get_categories(none, 1, indices) == wrong);
  }
  CHECK(MPI_T_category_get_num(NULL) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_category_get_num_events(0, NULL) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_category_changed(NULL) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_category_get_index(NULL, &index) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_category_get_index("no such", &index) == MPI_T_ERR_INVALID_NAME);
}

int main(int argc, char** argv) {
  int num = 0, cvars = 0, pvars = 0, events = 0, roots = 0, first = 0, second = 0;
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &(int){0}) == MPI_SUCCESS);
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_T_category_get_num(&num) == MPI_SUCCESS && num > 5);
  CHECK(MPI_T_category_changed(&first) == MPI_SUCCESS);
  for (int i = 0; i < num; ++i) look_at(i);
  CHECK(MPI_T_category_changed(&second) == MPI_SUCCESS);
  MPI_T_cvar_get_num(&cvars);
  MPI_T_pvar_get_num(&pvars);
  MPI_T_event_get_num(&events);
  for (int i = 0; i < cvars; ++i) CHECK(seen_cvar[i] == 1);
  if (first == second) /* no counter has come meanwhile */
    for (int i = 0; i < pvars; ++i) CHECK(seen_pvar[i] == 1);
  for (int i = 0; i < events; ++i) CHECK(seen_event[i] == 1);
  for (int i = 0; i < num; ++i) roots += seen_category[i] == 0;
  CHECK(roots == 1);
  only_what_fits_is_written();
  wrong_arguments_are_refused(num);
  MPI_Finalize();
  CHECK(MPI_T_finalize() == MPI_SUCCESS);
  return failures == 0 ? 0 : 1;
}
