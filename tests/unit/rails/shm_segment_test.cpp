#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "rails/shm/host.hpp"
#include "rails/shm/pieces.hpp"
#include "rails/shm/segment.hpp"
#include "rails/shm/shm_driver.hpp"
#include "rails/shm/transfer_table.hpp"
#include "shm_folder.hpp"
#include "shm_victim.hpp"
#include "tests/no_descriptors.hpp"

namespace headway::rails::shm {
namespace {

TEST(shm_address, comes_out_of_its_bytes_as_it_went_in) {
  address a = this_process();
  a.path = "/dev/shm/headway-x-0";
  a.proof = random_token();
  const auto back = address::parse(a.packed());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->path, a.path);
  EXPECT_EQ(back->proof, a.proof);
  EXPECT_EQ(back->boot_id, a.boot_id);
  EXPECT_EQ(back->pid, static_cast<std::uint32_t>(getpid()));
}

TEST(shm_address, cut_short_or_lengthened_is_refused) {
  address a = this_process();
  a.path = "/dev/shm/headway-x-0";
  auto bytes = a.packed();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(address::parse(std::span(bytes).first(size)));
  bytes.push_back({});
  EXPECT_FALSE(address::parse(bytes));
}

TEST(shm_connect, another_machine_or_another_segment_is_unsupported) {
  const folder where;
  shm_driver one(config_in(where, 0)), two(config_in(where, 1));
  const auto bytes = two.open();
  ASSERT_TRUE(one.open() && bytes);
  auto elsewhere = address::parse(*bytes).value();
  elsewhere.boot_id[0] = elsewhere.boot_id[0] == 'x' ? 'y' : 'x';
  auto impostor = address::parse(*bytes).value();
  impostor.proof[3] ^= std::byte{1};
  auto nowhere = address::parse(*bytes).value();
  nowhere.path += "-not";
  for (const address& a : {elsewhere, impostor, nowhere}) {
    const auto answer = one.connect(peer_id{1}, a.packed());
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, base::fault_kind::unsupported) << answer.error().text;
  }
  EXPECT_TRUE(one.connect(peer_id{1}, *bytes)) << "and no harm was done";
}

TEST(shm_files, are_gone_after_close) {
  const folder where;
  {
    shm_driver d(config_in(where, 0));
    ASSERT_TRUE(d.open());
    EXPECT_EQ(where.files(), 2u) << "segment and bell";
    d.close();
    EXPECT_EQ(where.files(), 0u);
  }
}

TEST(shm_files, keep_their_names_while_open_so_that_a_peer_may_come_at_any_time) {
  const folder where;
  shm_driver one(config_in(where, 0, 3)), two(config_in(where, 1, 3)), late(config_in(where, 2, 3));
  const auto to_one = one.open(), to_two = two.open();
  ASSERT_TRUE(to_one && to_two);
  ASSERT_TRUE(one.connect(peer_id{1}, *to_two) && two.connect(peer_id{0}, *to_one));
  EXPECT_EQ(where.files(), 4u);
  ASSERT_TRUE(late.open());
  EXPECT_TRUE(late.connect(peer_id{0}, *to_one));
}

TEST(shm_connect, a_peer_that_died_and_was_swept_is_received_and_then_lost) {
  const folder where;
  shm_driver here(config_in(where, 0));
  const auto to_here = here.open();
  ASSERT_TRUE(to_here);
  std::array<int, 2> line{};
  ASSERT_EQ(pipe(line.data()), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    shm_driver dying(config_in(where, 1));
    const auto own = dying.open();
    const bool well =
        own && dying.connect(peer_id{0}, *to_here) &&
        dying.send(peer_id{0}, {.header = std::as_bytes(std::span("last", 4))}) == post::done &&
        write(line[1], own->data(), own->size()) == static_cast<ssize_t>(own->size());
    _exit(well ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  std::array<std::byte, 1024> address{};
  const auto got = read(line[0], address.data(), address.size());
  close(line[0]);
  close(line[1]);
  ASSERT_GT(got, 0);
  sweep(where.path, "");
  ASSERT_TRUE(here.connect(peer_id{1}, std::span(address).first(static_cast<std::size_t>(got))));
  std::vector<event_kind> order;
  std::array<event, 4> events;
  for (int i = 0; i < 10; ++i) {
    const std::size_t count = here.reap(events);
    for (const event& e : std::span(events).first(count)) {
      order.push_back(e.kind);
      if (e.kind == event_kind::received) here.release(e);
    }
  }
  EXPECT_EQ(order, (std::vector{event_kind::received, event_kind::lost}));
}

TEST(shm_files, of_the_dead_are_swept_and_of_the_living_are_not) {
  const folder where;
  shm_driver living(config_in(where, 0));
  ASSERT_TRUE(living.open());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    shm_driver dying(config_in(where, 1));
    _exit(dying.open() ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(where.files(), 4u) << "it died without closing";
  sweep(where.path, "headway-job-");
  EXPECT_EQ(where.files(), 4u) << "of the same job";
  sweep(where.path, "");
  EXPECT_EQ(where.files(), 2u);
}

TEST(shm_files, that_say_what_another_job_has_said_stay_for_a_day) {
  const folder where;
  const auto mark = where.path + "/headway-hw-1-2-said-3";
  close(open(mark.c_str(), O_CREAT | O_RDONLY | O_CLOEXEC, 0600));
  sweep(where.path, "");
  EXPECT_EQ(where.files(), 1u);
  const timespec long_ago[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, mark.c_str(), long_ago, 0), 0);
  sweep(where.path, "");
  EXPECT_EQ(where.files(), 0u);
}

TEST(shm_files, of_one_rank_have_another_name_each_time) {
  const folder where;
  shm_driver first(config_in(where, 0)), again(config_in(where, 0));
  const auto here = first.open(), there = again.open();
  ASSERT_TRUE(here && there);
  EXPECT_NE(address::parse(*here)->path, address::parse(*there)->path)
      << "a sweeper that looked at the first would remove the second";
}

TEST(shm_files, belong_to_their_user_alone) {
  const folder where;
  shm_driver d(config_in(where, 0));
  ASSERT_TRUE(d.open());
  for (const auto& e : std::filesystem::directory_iterator(where.path)) {
    struct stat about{};
    ASSERT_EQ(stat(e.path().c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600u);
  }
}

TEST(shm_memory, a_file_system_without_room_is_an_error_of_open_instead_of_a_signal) {
  const folder where;
  if (mount("tmpfs", where.path.c_str(), "tmpfs", 0, "size=200k") != 0)
    GTEST_SKIP() << "mounting a small tmpfs needs root";
  {
    shm_driver one(config_in(where, 0)), two(config_in(where, 1));
    const auto to_one = one.open(), to_two = two.open();
    EXPECT_FALSE(to_one && to_two) << "it has room for one of them at most";
    for (const auto* opened : {&to_one, &to_two}) {
      if (*opened) continue;
      EXPECT_EQ(opened->error().kind, base::fault_kind::no_memory) << opened->error().text;
      EXPECT_NE(opened->error().text.find("HEADWAY_SHM_"), std::string::npos)
          << opened->error().text << ": no setting is named";
    }
  }
  umount2(where.path.c_str(), MNT_DETACH);
}

TEST(shm_slots, of_a_number_that_no_slot_has_are_a_bug_of_the_caller) {
  folder where;
  shm_driver driver(config_in(where, 0));
  ASSERT_TRUE(driver.open());
  auto& slots = *driver.slots();
  constexpr auto last = shm_slots::slots - 1;
  EXPECT_NE(slots.lines_of(peer_id{0}, last), nullptr);
  EXPECT_NE(slots.bank_of(peer_id{0}, last), nullptr);
  EXPECT_DEATH(static_cast<void>(slots.lines_of(peer_id{0}, last + 1)), "slot < slots");
  EXPECT_DEATH(static_cast<void>(slots.bank_of(peer_id{0}, last + 1)), "slot < slots");
  EXPECT_DEATH(static_cast<void>(slots.reserve_bank(last + 1)), "slot < slots");
  EXPECT_DEATH(static_cast<void>(slots.reserve_passed(last + 1, 1)), "slot < slots");
  EXPECT_DEATH(slots.use(last + 1), "slot < slots");
}

TEST(shm_records, full_of_nothing_to_report_do_not_hold_the_reader) {
  victim_of_peer victim;
  ASSERT_TRUE(victim.way);
  // Every cell of the ring is a put into what is not exposed: dropped, and no event.
  const put_prefix nowhere{.id = 99, .offset = 0};
  const std::uint64_t word = record_word({.kind = record_kind::put, .bytes = sizeof nowhere});
  static_assert(cells_of(sizeof nowhere) == 1);
  for (std::size_t at = 0; at < victim.way->shape().ring_bytes; at += cell_bytes) {
    std::memcpy(victim.way->slot().ring + at, &word, sizeof word);
    std::memcpy(victim.way->slot().ring + at + sizeof word, &nowhere, sizeof nowhere);
  }
  victim.begin();
  std::array<event, 4> events;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(victim.driver.reap(events), 0u);
}

TEST(shm_records, that_skip_no_cells_or_more_than_there_are_end_the_connection) {
  for (const bool all : {false, true}) {
    victim_of_peer victim;
    ASSERT_TRUE(victim.way);
    const auto cells = all ? victim.way->shape().ring_bytes / cell_bytes : 0;
    const std::uint64_t word = record_word({.kind = record_kind::skip, .bytes = cells});
    std::memcpy(victim.way->slot().ring, &word, sizeof word);
    victim.begin();
    std::array<event, 4> events;
    std::size_t count = 0;
    for (int i = 0; i < 100 && count == 0; ++i) count = victim.driver.reap(events);
    ASSERT_EQ(count, 1u);
    EXPECT_EQ(events[0].kind, event_kind::lost);
  }
}

/// A payload that its sender has announced. The sender copies nothing by itself.
struct announced_payload {
  base::atomic<std::uint64_t> now_ns{1'000'000};
  victim_of_peer victim{base::clock(now_ns)};
  std::size_t piece_bytes = victim.way->shape().piece_bytes;
  std::vector<std::byte> payload = std::vector(4 * piece_bytes, std::byte{3});
  std::vector<std::byte> target = std::vector(payload.size(), std::byte{});
  std::vector<std::byte> sent;
  std::size_t arrived = 0;

  explicit announced_payload(std::uint32_t pieces_of_sender) {
    const auto exposed = victim.driver.memory()->expose({.bytes = target}).value();
    const transfer_notice notice{.number = 0,
                                 .lends = lending::none,
                                 .attends = 1,
                                 .id = exposed.id,
                                 .offset = 0,
                                 .bytes = payload.size(),
                                 .address = reinterpret_cast<std::uint64_t>(payload.data())};
    const std::uint64_t word = record_word({.kind = record_kind::transfer, .bytes = sizeof notice});
    slot().control->transfers[0].claim.store(pieces_of_sender);
    std::memcpy(slot().ring, &word, sizeof word);
    std::memcpy(slot().ring + sizeof word, &notice, sizeof notice);
    victim.begin();
    reap_at(0);
  }
  /// To the peer, which empties none of the buffers: more than they hold.
  void sends_a_payload() {
    const auto& shape = victim.way->shape();
    sent.resize(std::size_t{shape.piece_bytes} * (shape.piece_count + 1));
    EXPECT_EQ(victim.driver.memory()->put(
                  peer_id{1}, {.exposed = {.id = 1ULL << 63, .bytes = sent.size()}}, sent, 0),
              post::posted);
  }
  [[nodiscard]] const slot_view& slot() const { return victim.way->slot(); }
  /// So long after the announcement was taken.
  void reap_at(std::uint64_t ns) {
    now_ns.store(1'000'000 + ns, std::memory_order_relaxed);
    std::array<event, 4> events;
    for (int i = 0; i < 8; ++i)
      for (const auto& e : std::span(events).first(victim.driver.reap(events)))
        if (e.kind == event_kind::landed) arrived += e.count;
  }
};

TEST(shm_pieces, are_read_after_4_us_if_the_sender_has_taken_none) {
  announced_payload p(0);
  p.reap_at(3'999);
  EXPECT_EQ(p.arrived, 0u);
  p.reap_at(4'000);
  EXPECT_EQ(p.arrived, p.payload.size());
  EXPECT_EQ(p.target, p.payload);
}

TEST(shm_pieces, are_read_after_20_us_if_the_sender_has_taken_one) {
  announced_payload p(1);
  p.reap_at(19'999);
  EXPECT_EQ(p.arrived, 0u) << "the sender copies";
  p.reap_at(20'000);
  EXPECT_EQ(p.arrived, p.payload.size() - p.piece_bytes) << "all but the piece of the sender";
  // The sender has copied it.
  std::memcpy(p.slot().pieces, p.payload.data(), p.piece_bytes);
  piece_line& line = p.slot().control->pieces[0];
  line.bytes = static_cast<std::uint32_t>(p.piece_bytes);
  fill_piece(line.turn, 0);
  p.reap_at(20'000);
  EXPECT_EQ(p.arrived, p.payload.size());
  EXPECT_EQ(p.target, p.payload);
}

TEST(shm_pieces, are_read_after_20_us_if_payloads_are_under_way_to_the_sender) {
  announced_payload p(0);
  p.sends_a_payload();
  p.reap_at(19'999);
  EXPECT_EQ(p.arrived, 0u) << "the sender may be emptying buffers of this process";
  p.reap_at(20'000);
  EXPECT_EQ(p.arrived, p.payload.size());
}

TEST(shm_pieces, in_a_buffer_that_does_not_exist_end_the_connection) {
  announced_payload p(1);
  piece_line& line = p.slot().control->pieces[0];
  line.bytes = static_cast<std::uint32_t>(p.piece_bytes);
  line.buffer = 1 + 2 * (pieces_max + spare_pieces_max);
  fill_piece(line.turn, 0);
  std::array<event, 4> events;
  ASSERT_EQ(p.victim.driver.reap(events), 1u);
  EXPECT_EQ(events[0].kind, event_kind::lost);
}

TEST(shm_transfers, try_to_place_once_each_buffer_was_used_and_no_payload_comes) {
  victim_of_peer victim;
  ASSERT_TRUE(victim.way);
  const auto& shape = victim.way->shape();
  const std::vector<std::byte> payload(256 * 1024);
  transfer_table table(victim.way.get(), true, getpid());
  std::array<event, 1> events;
  const auto places = [&](bool crosses = false) {
    const auto notice = table.begin({}, payload, 0, crosses);
    table.began();
    table.entry(notice.number).pushed = payload.size();
    EXPECT_EQ(table.report(peer_id{0}, false, events), 1u);
    return notice.lends == lending::always;
  };
  const std::size_t buffers = std::size_t{shape.piece_bytes} * shape.piece_count;
  for (std::size_t used = 0; used < buffers; used += payload.size()) EXPECT_FALSE(places());
  for (std::uint32_t i = 0; i < way_choice::trials; ++i) EXPECT_FALSE(places(true));
  std::uint32_t placed = 0;
  for (std::uint32_t i = 0; i < way_choice::trials; ++i) placed += places();
  EXPECT_GE(placed, way_choice::trials_least / 2);
}

TEST(shm_records, of_one_cell_and_of_more_follow_each_other_in_any_order) {
  const folder where;
  shm_driver here(config_in(where, 0)), there(config_in(where, 1));
  const auto to_here = here.open(), to_there = there.open();
  ASSERT_TRUE(to_here && to_there && here.connect(peer_id{1}, *to_there) &&
              there.connect(peer_id{0}, *to_here));
  // Several times around the ring, with each length at each place in a line.
  constexpr std::array<std::size_t, 7> lengths{8, 100, 8, 8, 40, 24, 25};
  constexpr std::size_t count = 100'000;
  std::vector<std::byte> bytes(100);
  std::array<event, 8> events;
  std::size_t sent = 0, received = 0;
  for (std::size_t i = 0; i < 100 * count && received < count; ++i) {
    for (bool room = true; room && sent < count; sent += room) {
      const auto payload = std::span(bytes).first(lengths[sent % lengths.size()]);
      std::memcpy(payload.data(), &sent, sizeof sent);
      room = there.send(peer_id{0}, {.payload = payload}) == post::done;
    }
    for (const auto& e : std::span(events).first(here.reap(events))) {
      std::size_t number = 0;
      ASSERT_EQ(e.bytes.size(), lengths[received % lengths.size()]);
      std::memcpy(&number, e.bytes.data(), sizeof number);
      ASSERT_EQ(number, received++);
      here.release(e);
    }
  }
  EXPECT_EQ(received, count);
}

TEST(shm_attach, a_peer_is_not_lost_because_this_process_may_open_no_descriptor) {
  const folder where;
  shm_driver here(config_in(where, 0)), there(config_in(where, 1));
  const auto to_here = here.open(), to_there = there.open();
  ASSERT_TRUE(to_here && to_there && here.connect(peer_id{1}, *to_there));
  {
    const headway::testing::no_descriptors now;
    here.tick(base::machine_now_ns());
  }
  std::array<event, 8> events;
  EXPECT_EQ(here.reap(events), 0u);
  EXPECT_EQ(here.send(peer_id{1}, {}), post::done);
}

TEST(shm_attach, without_a_descriptor_says_so_and_can_be_replaced_by_admitting_the_peer) {
  const folder where;
  shm_driver here(config_in(where, 0)), there(config_in(where, 1));
  const auto to_here = here.open(), to_there = there.open();
  ASSERT_TRUE(to_here && to_there && there.connect(peer_id{0}, *to_here));
  {
    const headway::testing::no_descriptors now;
    const auto refused = here.connect(peer_id{1}, *to_there);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, base::fault_kind::no_memory);
    EXPECT_NE(refused.error().text.find("Too many open files"), std::string::npos);
    ASSERT_TRUE(here.admit(peer_id{1}, *to_there));
  }
  EXPECT_EQ(here.send(peer_id{1}, {}), post::down);
  EXPECT_FALSE(here.memory()->limits_to(peer_id{1}).put);
  // More than the ring holds, so that the sender waits for room.
  constexpr std::uint32_t count = 50'000;
  std::uint32_t sent = 0, received = 0;
  bool right = true;
  std::array<event, 8> events;
  for (int i = 0; i < 10'000'000 && received < count; ++i) {
    const std::array numbers{sent, sent, sent, sent};
    if (sent < count &&
        there.send(peer_id{0}, {.header = std::as_bytes(std::span(numbers))}) == post::done)
      ++sent;
    for (const event& e : std::span(events).first(here.reap(events))) {
      if (e.kind != event_kind::received) continue;
      std::uint32_t number = 0;
      std::memcpy(&number, e.bytes.data(), sizeof number);
      right = right && number == received++;
      here.release(e);
    }
  }
  EXPECT_EQ(received, count);
  EXPECT_TRUE(right);
}

TEST(shm_attach, to_a_process_that_runs_and_whose_segment_is_not_seen_here_leaves_the_next_rail) {
  const folder where;
  shm_driver here(config_in(where, 0)), there(config_in(where, 1));
  const auto to_here = here.open(), to_there = there.open();
  ASSERT_TRUE(to_here && to_there && there.connect(peer_id{0}, *to_here));
  const std::array<std::byte, 8> some{};
  ASSERT_EQ(there.send(peer_id{0}, {.header = some}), post::done);
  auto hidden = address::parse(*to_there).value();
  hidden.path += ".elsewhere";
  const auto refused = here.connect(peer_id{1}, hidden.packed());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, base::fault_kind::unsupported);
}

TEST(shm_shape, shrinks_as_processes_get_more) {
  EXPECT_EQ(shm_driver::shape_for(2).ring_bytes, 2048u * 1024);
  EXPECT_EQ(shm_driver::shape_for(16).ring_bytes, 256u * 1024);
  EXPECT_EQ(shm_driver::shape_for(64).ring_bytes, 64u * 1024);
  EXPECT_EQ(shm_driver::shape_for(100'000).slot_count, slots_max);
  for (const std::uint32_t n : {1u, 2u, 8u, 9u, 33u, 5000u})
    EXPECT_TRUE(shm_driver::shape_for(n).sane());
}

TEST(shm_shape, fits_into_a_small_file_system) {
  const auto small = shm_driver::shape_for(2, {}, 600 * 1024);
  EXPECT_EQ(small.ring_bytes, 64u * 1024);
  EXPECT_EQ(small.piece_bytes, 16u * 1024);
  EXPECT_EQ(shm_driver::shape_for(2, {}, 64 << 20), shm_driver::shape_for(2));
  const settings chosen{.ring_bytes = 1 << 20};
  EXPECT_EQ(shm_driver::shape_for(2, chosen, 600 * 1024).ring_bytes, 1u << 20);
}

TEST(shm_shape, a_ring_holds_several_of_its_longest_packets) {
  for (const std::uint32_t bytes : {16u * 1024, 128u * 1024, 2048u * 1024, 1u << 24}) {
    const auto shape = shm_driver::shape_for(2, {.ring_bytes = bytes});
    EXPECT_GE(shape.ring_bytes, 8 * shape.eager_bytes());
    EXPECT_LE(shape.eager_bytes(), 128u * 1024);
    EXPECT_LE(shape.small_put_bytes(), shape.eager_bytes());
  }
}

}  // namespace
}  // namespace headway::rails::shm
