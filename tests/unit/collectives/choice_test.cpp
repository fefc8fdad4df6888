#include "collectives/choice.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string_view>

namespace headway::collectives {
namespace {

constexpr unsigned everything = any_order | two_buffers | node_banks | shared_slots | known_edges |
                                several_nodes | equal_nodes | power_of_two;

/// Calls `check` for questions of many sizes about a collective, without and with every feature.
template <class Check>
void for_all_questions(const Check& check) {
  for (std::size_t c = 0; c < collective_count; ++c)
    for (const std::int64_t bytes :
         {std::int64_t{0}, std::int64_t{1} << 20, std::numeric_limits<std::int64_t>::max()})
      for (const int ranks : {1, 2, 100000})
        for (const bool oversubscribed : {false, true})
          for (unsigned has = 0; has <= everything; ++has)
            check(question{static_cast<collective>(c), bytes, ranks, oversubscribed, has});
}

TEST(choice, has_an_answer_to_every_question) {
  for_all_questions(
      [](const question& q) { EXPECT_NE(choose(q), algorithm::automatic) << name_of(q.what); });
}

TEST(choice, has_no_name_and_no_rows_for_a_number_out_of_range) {
  EXPECT_STREQ(name_of(collective::intercomm_create), "intercomm_create");
  EXPECT_DEATH(static_cast<void>(name_of(collective::unknown)), "all_names");
  EXPECT_DEATH(static_cast<void>(name_of(static_cast<algorithm>(algorithm_count))),
               "algorithm_names");
  EXPECT_DEATH(static_cast<void>(rules(static_cast<collective>(collective_count))),
               "collective_count");
}

TEST(choice, takes_any_algorithm_of_the_table_that_the_user_names_if_it_serves_the_call) {
  for_all_questions([](const question& q) {
    for (const rule& r : rules(q.what)) {
      settings user;
      user.forced[static_cast<std::size_t>(q.what)] = r.use;
      const auto use = choose(q, user);
      if (r.serves(q)) {
        EXPECT_EQ(use, r.use) << name_of(q.what) << ":" << name_of(r.use);
      } else if (use != r.use) {  // another row of the same algorithm may serve it
        EXPECT_EQ(use, choose(q));
      }
    }
  });
}

TEST(choice, reads_what_the_user_names) {
  const auto user = settings::from_text("allreduce:ring,bcast:chain,barrier:slots");
  settings expected;
  expected.forced[static_cast<std::size_t>(collective::allreduce)] = algorithm::ring;
  expected.forced[static_cast<std::size_t>(collective::bcast)] = algorithm::chain;
  expected.forced[static_cast<std::size_t>(collective::barrier)] = algorithm::slots;
  EXPECT_EQ(user.forced, expected.forced);
  for (std::size_t c = 0; c < collective_count; ++c)
    for (const rule& r : rules(static_cast<collective>(c))) {
      const auto text = std::string(name_of(r.what)) + ":" + name_of(r.use);
      EXPECT_EQ(settings::from_text(text).forced[c], r.use) << text;
    }
}

TEST(choice, leaves_out_what_names_no_algorithm_of_its_collective) {
  for (const char* text : {"", "ring", "allreduce", "allreduce:", ":ring", "allreduce:rings",
                           "barrier:ring", "alreduce:ring", "gatherv:binomial"})
    EXPECT_EQ(settings::from_text(text).forced, settings{}.forced) << text;
  EXPECT_EQ(settings::from_text("barrier:ring,allreduce:ring").forced,
            settings::from_text("allreduce:ring").forced);
}

TEST(choice, never_reorders_an_operator_that_does_not_commute) {
  for (const auto what : {collective::reduce, collective::allreduce, collective::reduce_scatter}) {
    for (std::int64_t bytes = 1; bytes < std::int64_t{1} << 40; bytes *= 2) {
      for (const auto wanted : {algorithm::automatic, algorithm::ring, algorithm::pairwise}) {
        settings user;
        user.forced[static_cast<std::size_t>(what)] = wanted;
        const auto use = choose({.what = what, .bytes = bytes, .ranks = 4}, user);
        EXPECT_NE(use, algorithm::ring);
        EXPECT_NE(use, algorithm::pairwise);
      }
    }
  }
}

TEST(choice, touches_memory_only_where_it_may) {
  const question large{.what = collective::allreduce, .bytes = 1 << 20, .ranks = 2};
  EXPECT_NE(choose(large), algorithm::shared_parts);
  question permitted = large;
  permitted.has = node_banks | any_order;
  EXPECT_EQ(choose(permitted), algorithm::shared_parts);
  permitted.has = node_banks;
  EXPECT_EQ(choose(permitted), algorithm::doubling) << "the parts are combined as they arrive";
}

TEST(choice, takes_slots_for_blocking_calls_that_can_use_them) {
  for (const bool oversubscribed : {false, true}) {
    question q{.what = collective::barrier, .ranks = 8, .oversubscribed = oversubscribed};
    EXPECT_NE(choose(q), algorithm::slots);
    q.has = shared_slots;
    EXPECT_EQ(choose(q), algorithm::slots);
    q.what = collective::allreduce;
    q.bytes = 48;
    EXPECT_EQ(choose(q), algorithm::slots);
    EXPECT_EQ(choose(q, settings::from_text("allreduce:chain")), algorithm::chain);
  }
}

TEST(choice, takes_few_wake_ups_where_ranks_outnumber_processors) {
  EXPECT_EQ(
      choose({.what = collective::allreduce, .bytes = 8, .ranks = 16, .oversubscribed = true}),
      algorithm::flat);
  EXPECT_EQ(choose({.what = collective::allreduce, .bytes = 8, .ranks = 16}), algorithm::doubling);
}

TEST(choice, has_the_origin_of_every_rule) {
  for (std::size_t c = 0; c < collective_count; ++c)
    for (const rule& r : rules(static_cast<collective>(c)))
      EXPECT_GT(std::string_view(r.measured).size(), 5u);
}

}  // namespace
}  // namespace headway::collectives
