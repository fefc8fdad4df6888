/* Sets of processes: operations in the order that the standard gives, ranks translated. */
#include "check.h"

static int size_of(MPI_Group group) {
  int size;
  MPI_Group_size(group, &size);
  return size;
}

int main(int argc, char** argv) {
  MPI_Group all, odd, rest, joined, reversed;
  int n, me, result, i, ranks[64], back[64], count = 0;
  int range[1][3];
  MPI_Init(&argc, &argv);
  return_errors();
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Group_rank(all, &me);
  CHECK(size_of(all) == n);
  for (i = 1; i < n; i += 2) ranks[count++] = i;
  MPI_Group_incl(all, count, ranks, &odd);
  MPI_Group_excl(all, count, ranks, &rest);
  CHECK(size_of(odd) == count && size_of(rest) == n - count);
  if (count == 0) CHECK(odd == MPI_GROUP_EMPTY);
  MPI_Group_rank(odd, &result);
  CHECK(result == (me % 2 ? me / 2 : MPI_UNDEFINED));
  MPI_Group_translate_ranks(odd, count, ranks + 0, all, back);
  for (i = 0; i < count && 2 * i + 1 < count; ++i) CHECK(back[i] == 2 * ranks[i] + 1);
  MPI_Group_union(odd, rest, &joined);
  MPI_Group_compare(joined, all, &result);
  CHECK(result == (n < 2 ? MPI_IDENT : MPI_SIMILAR));
  MPI_Group_free(&joined);
  MPI_Group_difference(all, odd, &joined);
  MPI_Group_compare(joined, rest, &result);
  CHECK(result == MPI_IDENT);
  MPI_Group_free(&joined);
  MPI_Group_intersection(odd, rest, &joined);
  CHECK(joined == MPI_GROUP_EMPTY);
  MPI_Group_free(&joined);
  range[0][0] = n - 1, range[0][1] = 0, range[0][2] = -1;
  MPI_Group_range_incl(all, 1, range, &reversed);
  for (i = 0; i < n; ++i) ranks[i] = i;
  MPI_Group_translate_ranks(all, n, ranks, reversed, back);
  for (i = 0; i < n; ++i) CHECK(back[i] == n - 1 - i);
  MPI_Group_range_excl(all, 1, range, &joined);
  CHECK(joined == MPI_GROUP_EMPTY);
  ranks[0] = MPI_PROC_NULL;
  MPI_Group_translate_ranks(all, 1, ranks, odd, back);
  CHECK(back[0] == MPI_PROC_NULL);
  range[0][2] = 0;
  REFUSED(MPI_Group_range_incl(all, 1, range, &joined), MPI_ERR_ARG, "stride 0");
  MPI_Group_free(&reversed);
  MPI_Group_free(&odd);
  MPI_Group_free(&rest);
  MPI_Group_free(&all);
  return finish();
}
