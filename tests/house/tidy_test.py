#!/usr/bin/env python3
"""Each rule of tools/tidy.py finds an example of bad code, and accepts a similar good one."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import tidy  # noqa: E402

TABLE = tidy.parse_layers("base:\nprogress: base\nrails: base\nruntime: base progress rails\n")
NESTED = tidy.parse_layers("base:\nprogress: base\nc_api/progress: base progress\nmpi: base\n")


def breaches(rule, text, path="src/progress/engine.cpp", *more):
    return [str(b) for b in rule(tidy.File(path, text), *more)]


class Layers(unittest.TestCase):
    def check(self, text, path="src/progress/engine.cpp"):
        return breaches(tidy.check_layers, text, path, TABLE)

    def test_a_module_may_not_include_a_module_above_it(self):
        found = self.check('#include "base/clock.hpp"\n#include "runtime/runtime.hpp"\n')
        self.assertEqual(
            found, ["src/progress/engine.cpp:2: module 'progress' may not include module 'runtime'"]
        )

    def test_a_module_may_include_itself_and_what_its_line_names(self):
        self.assertEqual(self.check('#include "base/a.hpp"\n#include "progress/b.hpp"\n'), [])

    def test_a_module_may_not_name_a_type_of_another_one_that_it_sees_through_a_third(self):
        bad = "base::clock a;\nheadway::rails::post b;\nrails::post c;\nusing rails::post;\n"
        found = self.check(bad + "namespace headway::rails {\nclass driver;\n}\n")
        self.assertEqual([line.split(":")[1] for line in found], ["2", "3", "4", "5"])
        self.assertIn("may not name a type or function of module 'rails'", found[0])
        good = "// rails::post\nauto d = one.rails::x + my::rails::y + of_rails::z;\n"
        self.assertEqual(self.check(good + "progress::engine e;\n"), [])

    def test_a_module_may_not_name_what_lies_in_a_namespace_of_another_name(self):
        found = breaches(tidy.check_layers, "progress_api::task t;\n", "src/mpi/a.cpp", NESTED)
        self.assertEqual(len(found), 1)

    def test_a_module_without_a_line_in_the_table_is_refused(self):
        self.assertEqual(len(self.check("", "src/attic/x.cpp")), 1)

    def test_a_folder_in_a_module_belongs_to_it(self):
        line = '#include "runtime/runtime.hpp"\n'
        self.assertEqual(len(self.check(line, "src/progress/core/engine.cpp")), 1)
        self.assertEqual(self.check('#include "base/os/a.hpp"\n', "src/progress/core/e.cpp"), [])

    def test_the_longest_name_in_the_table_is_the_module(self):
        def check(include, path):
            return breaches(tidy.check_layers, f'#include "{include}"\n', path, NESTED)

        above = "c_api/progress/library.hpp"
        self.assertEqual(
            check(above, "src/mpi/environment/start.cpp"),
            [
                "src/mpi/environment/start.cpp:1: "
                "module 'mpi' may not include module 'c_api/progress'"
            ],
        )
        self.assertEqual(len(check(above, "src/progress/core/engine.cpp")), 1)
        self.assertEqual(check(above, "src/c_api/progress/calls.cpp"), [])
        self.assertEqual(check("progress/core/engine.hpp", "src/c_api/progress/calls.cpp"), [])
        self.assertEqual(len(check("mpi/x.hpp", "src/c_api/progress/calls.cpp")), 1)

    def test_a_file_beside_nested_modules_belongs_to_none_and_is_refused(self):
        found = breaches(tidy.check_layers, "", "src/c_api/x.cpp", NESTED)
        self.assertEqual(len(found), 1)
        found = breaches(tidy.check_layers, '#include "c_api/x.hpp"\n', "src/mpi/a.cpp", NESTED)
        self.assertEqual(len(found), 1)

    def test_an_include_in_a_comment_does_not_count(self):
        self.assertEqual(self.check('// #include "runtime/runtime.hpp"\n'), [])

    def test_a_driver_is_named_only_in_its_folder_and_by_the_runtime(self):
        line = '#include "rails/tcp/tcp.hpp"\n'
        self.assertEqual(len(self.check(line, "src/rails/shm/ring.cpp")), 1)
        self.assertEqual(len(self.check(line, "src/rails/any.cpp")), 1)
        self.assertEqual(self.check(line, "src/rails/tcp/frame.cpp"), [])
        self.assertEqual(self.check(line, "src/runtime/builtin.cpp"), [])

    def test_an_include_that_is_not_rooted_is_refused(self):
        def check(text):
            return breaches(tidy.check_rooted_includes, text, "src/base/log.cpp", TABLE)

        self.assertEqual(len(check('#include "log.hpp"\n')), 1)
        self.assertEqual(len(check('#include "../base/log.hpp"\n')), 1)
        self.assertEqual(check('#include "base/log.hpp"\n'), [])

    def test_a_test_or_a_tool_may_include_a_file_beside_it(self):
        for path in ("tests/drivers/world.cpp", "tools/mpiexec/main.cpp"):
            include = '#include "world.hpp"\n'
            self.assertEqual(breaches(tidy.check_rooted_includes, include, path, TABLE), [])
            include = '#include "../world.hpp"\n'
            self.assertEqual(len(breaches(tidy.check_rooted_includes, include, path, TABLE)), 1)


class Sizes(unittest.TestCase):
    def test_a_line_of_more_columns_than_allowed(self):
        self.assertEqual(breaches(tidy.check_sizes, "x" * 100), [])
        self.assertEqual(len(breaches(tidy.check_sizes, "x" * 101)), 1)

    def test_columns_are_characters_and_not_bytes(self):
        self.assertEqual(breaches(tidy.check_sizes, "…" * 100), [])

    def test_a_file_of_more_lines_than_allowed(self):
        self.assertEqual(breaches(tidy.check_sizes, "x\n" * 500), [])
        self.assertEqual(len(breaches(tidy.check_sizes, "x\n" * 501)), 1)

    def test_documents_have_no_limit_of_columns(self):
        self.assertEqual(breaches(tidy.check_sizes, "x" * 300, "README.md"), [])

    def test_blanks_at_the_end_of_a_line_and_a_missing_newline(self):
        self.assertEqual(len(breaches(tidy.check_blanks, "int a; \nint b;")), 2)
        self.assertEqual(breaches(tidy.check_blanks, "int a;\nint b;\n"), [])


class Functions(unittest.TestCase):
    def lengths(self, text):
        return [length for _, length in tidy.cxx_functions(text)]

    def test_a_long_function_is_caught_with_the_line_where_it_starts(self):
        body = "  step();\n" * 69
        text = f"namespace a {{\n\nint f(int x) {{\n{body}}}\n}}\n"
        self.assertEqual(
            breaches(tidy.check_functions, text),
            ["src/progress/engine.cpp:3: function of 71 lines, at most 70"],
        )

    def test_a_long_member_constructor_or_lambda_holder_is_a_function_too(self):
        body = "  step();\n" * 80
        for head in ("void f() noexcept", "a::a(int b)\n    : b_(b)", "auto f() -> int"):
            self.assertTrue(max(self.lengths(f"{head} {{\n{body}}}\n")) > 80, head)
            member = self.lengths(f"class a final : public b {{\n{head} {{\n{body}}}\n}};\n")
            self.assertTrue(max(member) > 80, head)

    def test_a_class_a_namespace_and_a_table_are_no_functions(self):
        members = "  int x(int);\n" * 80
        rows = '  {"a", f(1)},\n' * 80
        self.assertEqual(self.lengths(f"class a : public b<int (*)(int)> {{\n{members}}};\n"), [])
        self.assertEqual(self.lengths(f"namespace a {{\n{members}}}\n"), [])
        self.assertEqual(self.lengths(f"const row rows[] = {{\n{rows}}};\n"), [])
        template = "template <class T, int (*f)(int)>\nclass a"
        self.assertEqual(self.lengths(f"{template} {{\n{members}}};\n"), [])

    def test_braces_in_strings_and_comments_do_not_count(self):
        text = 'void f() {\n  g("{{{"); // {\n  h(\'{\');\n}\nvoid k() { }\n'
        self.assertEqual(self.lengths(text), [4, 1])

    def test_a_long_python_function_is_caught(self):
        text = "def f():\n" + "    g()\n" * 70
        self.assertEqual(len(breaches(tidy.check_functions, text, "tools/x.py")), 1)


class Words(unittest.TestCase):
    def test_marks_of_unfinished_work(self):
        for mark in ("TODO", "FIXME", "XXX"):
            self.assertEqual(len(breaches(tidy.check_words, f"// {mark}: later\n")), 1, mark)
        self.assertEqual(breaches(tidy.check_words, 'mkstemp("nameXXXXXX");\n'), [])

    def test_paths_of_one_machine(self):
        for path in ("/work/main", '"/root"', "/home/me/x", "see /Users/me"):
            self.assertEqual(len(breaches(tidy.check_words, path + "\n")), 1, path)
        for path in ("docs/work/x", "${prefix}/home/x", "a/root/b", "unit/*/root/"):
            self.assertEqual(breaches(tidy.check_words, path + "\n"), [], path)

    def test_hosts_of_registries(self):
        self.assertEqual(len(breaches(tidy.check_words, "https://pypi.org/simple\n")), 1)


class Environment(unittest.TestCase):
    LINE = 'auto* x = std::getenv("HEADWAY_X");\n'

    def test_getenv_outside_the_tunables(self):
        self.assertEqual(len(breaches(tidy.check_getenv, self.LINE)), 1)
        self.assertEqual(len(breaches(tidy.check_getenv, "extern char** environ;\n")), 1)

    def test_getenv_where_the_table_allows_it(self):
        for path in tidy.GETENV_ALLOWED:
            path += "x.cpp" if path.endswith("/") else ""
            self.assertEqual(breaches(tidy.check_getenv, self.LINE, path), [])


class Clock(unittest.TestCase):
    LINE = "const auto now = base::machine_now_ns();\n"

    def test_the_machines_time_outside_the_table(self):
        for line in (self.LINE, "clock_gettime(CLOCK_MONOTONIC, &now);\n"):
            found = breaches(tidy.check_clock, line, "src/packets/x.cpp")
            self.assertEqual(len(found), 1)

    def test_the_machines_time_where_the_table_allows_it(self):
        for path in (*tidy.MACHINE_TIME_ALLOWED, "tests/x.cpp", "tools/x/a.cpp"):
            path += "x.cpp" if path.endswith(("/", ".")) else ""
            self.assertEqual(breaches(tidy.check_clock, self.LINE, path), [])

    def test_an_engines_time_is_allowed_everywhere(self):
        self.assertEqual(breaches(tidy.check_clock, "engine_.clock().now_ns();\n"), [])


class Settings(unittest.TestCase):
    READ = "const auto how = progress::settings::from_environment();\n"
    INCLUDE = '#include "base/tunable.hpp"\n'

    def test_the_environment_is_read_by_compositions(self):
        self.assertEqual(len(breaches(tidy.check_settings, self.READ, "src/x/a.cpp")), 1)
        for path in (*tidy.COMPOSITIONS, "src/x/tunables.cpp", "tools/x/a.cpp"):
            self.assertEqual(breaches(tidy.check_settings, self.READ, path), [])

    def test_a_declaration_reads_nothing(self):
        text = "[[nodiscard]] static settings from_environment();\n"
        self.assertEqual(breaches(tidy.check_settings, text, "src/x/settings.hpp"), [])

    def test_tunables_stand_in_tunables_cpp(self):
        self.assertEqual(len(breaches(tidy.check_settings, self.INCLUDE, "src/x/a.hpp")), 1)
        self.assertEqual(breaches(tidy.check_settings, self.INCLUDE, "src/x/tunables.cpp"), [])


class Atomics(unittest.TestCase):
    def test_every_access_names_its_order(self):
        for call in ("x.load()", "x->load( )", "x.store(1)", "x.exchange(2)", "x.fetch_add(f(1))"):
            self.assertEqual(len(breaches(tidy.check_atomics, f"a({call});\n")), 1, call)
        cas = "x.compare_exchange_weak(seen, next);\n"
        self.assertEqual(len(breaches(tidy.check_atomics, cas)), 1)

    def test_an_order_on_the_next_line_counts(self):
        text = "x.store(f(g(1)),\n        std::memory_order_release);\n"
        self.assertEqual(breaches(tidy.check_atomics, text), [])
        for named in ("order", "relaxed"):
            self.assertEqual(breaches(tidy.check_atomics, f"x.load({named});\n"), [])

    def test_operators_on_an_atomic_hide_its_order(self):
        declared = "std::atomic<int> count_{0};\n"
        for use in ("++count_;", "count_++;", "count_ += 2;", "count_ = 1;"):
            self.assertEqual(len(breaches(tidy.check_atomics, f"{declared}{use}\n")), 1, use)
        for use in ("if (count_ == 1) {}", "other_count_ = 1;", "// ++count_"):
            self.assertEqual(breaches(tidy.check_atomics, f"{declared}{use}\n"), [], use)

    def test_the_exchange_of_a_job_is_not_an_atomic(self):
        self.assertEqual(breaches(tidy.check_atomics, "job.exchange();\n"), [])


class Headers(unittest.TestCase):
    def test_a_header_without_its_guard(self):
        check = tidy.check_header_habits
        self.assertEqual(len(breaches(check, "int f();\n", "src/base/f.hpp")), 1)
        self.assertEqual(breaches(check, "#pragma once\nint f();\n", "src/base/f.hpp"), [])

    def test_a_source_that_does_not_include_its_own_header_first(self):
        check = tidy.check_header_habits
        late = '#include "base/a.hpp"\n#include "base/f.hpp"\n'
        self.assertEqual(len(breaches(check, late, "src/base/f.cpp")), 1)
        first = '#include "base/f.hpp"\n#include "base/a.hpp"\n'
        self.assertEqual(breaches(check, first, "src/base/f.cpp"), [])
        self.assertEqual(breaches(check, '#include "base/a.hpp"\n', "src/base/f.cpp"), [])


class Docstrings(unittest.TestCase):
    def test_a_table_whose_text_is_not_indented_or_whose_labels_share_a_line(self):
        check = tidy.check_docstrings
        torn = "/// Shape:    two queues\n/// of slots.\n/// Errors:   none.\nclass a;\n"
        self.assertEqual(len(breaches(check, torn)), 1)
        merged = "/// Shape:    two queues. Errors:   none.\nclass a;\n"
        self.assertEqual(len(breaches(check, merged)), 1)

    def test_a_table_in_order(self):
        text = """/// Holds things.
/// Shape:    two queues
///           of slots.
/// Errors:   none.
///
/// More words, which follow an empty line.
class a;
/// Another sentence.
"""
        self.assertEqual(breaches(tidy.check_docstrings, text), [])


class Language(unittest.TestCase):
    def words(self, text, path="src/progress/waiting.cpp"):
        return [what for _, what in tidy.language.replaced_words(path, text)]

    def test_an_identifier_that_was_replaced_is_found_with_its_line(self):
        text = "int a;\nreception_desk d;\n"
        found = list(tidy.language.replaced_words("src/launch/a.cpp", text))
        self.assertEqual(found, [(2, "'reception_desk' is called: rendezvous_server")])

    def test_every_replaced_identifier_of_the_table_is_found(self):
        for name in (
            "meeting_socket notice_board kept_weight giving_way memory_nearby grumble crowd "
            "sentry unrun_ basic_errand meaning_status.hpp headway_room doors stranger demoted "
            "runs_beside_computing endpoint_calls progress_c"
        ).split():
            self.assertEqual(len(self.words(name)), 1, name)

    def test_the_name_of_a_file_counts(self):
        self.assertEqual(len(self.words("", "src/launch/greeting.hpp")), 1)
        self.assertEqual(len(self.words("", "tests/model/errand_model.cpp")), 1)
        self.assertEqual(self.words("", "src/launch/rendezvous_server.hpp"), [])

    def test_public_headers_examples_and_the_python_package_are_read(self):
        for path in ("include/headway/a.h", "examples/heat/a.c", "python/headway/a.py"):
            self.assertTrue(tidy.language.is_checked(path), path)

    def test_room_is_refused_only_where_it_means_a_module(self):
        for text in ("// this room's own", "// rooms above", "// a room below", "headway_room("):
            self.assertEqual(len(self.words(text)), 1, text)
        for text in ("// there is no room", "event_sink room;", "// makes room for another"):
            self.assertEqual(self.words(text), [], text)

    def test_a_word_with_an_ordinary_meaning_is_refused_only_in_its_folders(self):
        self.assertEqual(len(self.words("const parked* message;", "src/messages/matching.hpp")), 1)
        self.assertEqual(self.words("// parked cars", "src/topology/tree.hpp"), [])
        self.assertEqual(len(self.words("card c;", "src/launch/job.hpp")), 1)
        self.assertEqual(self.words("// a network card", "src/rails/driver.hpp"), [])

    def test_a_rule_for_prose_reads_comments_and_documents_only(self):
        self.assertEqual(len(self.words("// he who waits\n")), 1)
        self.assertEqual(self.words('he = "he"; // it waits\n'), [])
        self.assertEqual(len(self.words("he waits", "docs/waiting.md")), 1)
        self.assertEqual(len(self.words("x = 1  # he waits\n", "tests/a.py")), 1)
        self.assertEqual(len(self.words('"""Waits\nfor him."""\nhe = "him"\n', "tests/a.py")), 1)
        self.assertEqual(len(self.words("run $his  # for him\n", "tests/run")), 1)

    def test_threads_and_ranks_are_no_persons(self):
        for words in ("nobody polls", "told whom it concerns", "a rank believes that", "whoever"):
            self.assertEqual(len(self.words(f"// {words}\n")), 1, words)
        self.assertEqual(self.words("nobody = whom;  // runs as the user `nobody`\n"), [])

    def test_a_replaced_word_is_accepted_as_part_of_the_new_term(self):
        self.assertEqual(len(self.words("// A leader polls.\n")), 1)
        self.assertEqual(self.words("// The wait leader polls, a wait_leader too.\n"), [])
        self.assertEqual(self.words("/// It becomes the wait\n/// leader.\n"), [])

    def test_a_replaced_word_is_accepted_inside_another_word(self):
        self.assertEqual(self.words("doorbell bell; indoors(); // agreement\n"), [])


class Glossary(unittest.TestCase):
    PAGE = "| term | is |\n|---|---|\n| **wait leader** | polls |\n| `rts`, `cts` | packets |\n"

    def unused(self, *texts):
        return [what.split("'")[1] for _, what in tidy.language.unused_terms(self.PAGE, texts)]

    def test_terms_are_those_of_the_first_column(self):
        terms = [term for _, term in tidy.language.glossary_terms(self.PAGE)]
        self.assertEqual(terms, ["wait leader", "rts", "cts"])

    def test_a_term_that_no_source_has_is_found(self):
        self.assertEqual(self.unused("class wait_leader;", "// sends an RTS"), ["cts"])
        self.assertEqual(self.unused("// a wait\n/// leader", "rts cts"), [])
        self.assertEqual(self.unused("// wait leaders; parts; cts_"), ["rts"])


class Citations(unittest.TestCase):
    THERE = tidy.language.Repository(
        """src/base/mask.hpp src/rails/tcp/wire.hpp src/packets/bundle/wire.hpp docs/waiting.md
        src/packets/peer.hpp tests/model/mask_model.cpp include/headway/progress.h""".split()
    )

    def missing(self, text, path="src/rails/tcp/link.cpp"):
        return [what for _, what in tidy.language.missing_files(path, text, self.THERE)]

    def test_a_file_that_is_not_there_is_found_in_comments_and_documents(self):
        self.assertEqual(
            self.missing("int a;  // see engine.hpp\n"),
            ["cites 'engine.hpp', which is not in the repository"],
        )
        self.assertEqual(len(self.missing("/* base/gone.hpp */")), 1)
        self.assertEqual(len(self.missing("// the rules of ARCHITECTURE section 3\n")), 1)
        self.assertEqual(len(self.missing("as `gone.hpp` says", "docs/waiting.md")), 1)
        self.assertEqual(len(self.missing("[gone](gone.md#there)", "docs/waiting.md")), 1)

    def test_a_path_may_begin_at_the_root_in_src_or_at_the_citing_files_folder(self):
        for name in ("src/base/mask.hpp", "base/mask.hpp", "wire.hpp", "docs/waiting.md"):
            self.assertEqual(self.missing(f"// {name}.\n"), [], name)
        self.assertEqual(self.missing("[header](../include/headway/progress.h)", "docs/a.md"), [])
        self.assertEqual(self.missing("// tcp/wire.hpp\n", "src/rails/driver.hpp"), [])

    def test_a_name_alone_is_enough_where_a_single_file_has_it(self):
        self.assertEqual(self.missing("// mask_model.cpp, peer.hpp\n"), [])
        self.assertEqual(len(self.missing("// wire.hpp\n", "src/base/mask.hpp")), 1)

    def test_code_strings_and_a_readers_own_files_do_not_count(self):
        self.assertEqual(self.missing('#include "gone.hpp"\nopen("gone.txt");\n'), [])
        block = "    cc gone.c\n```c\n/* gone.c */\n```\n"
        self.assertEqual(self.missing(block, "README.md"), [])
        self.assertEqual(self.missing("// NAME_driver.cpp, <gone.h>, https://a.b/gone.md\n"), [])


class Format(unittest.TestCase):
    def test_a_file_that_clang_format_would_rewrite(self):
        bad = tidy.ROOT / "build" / "tidy_rules_format.cpp"
        bad.parent.mkdir(exist_ok=True)
        bad.write_text("int   f( ){return 1 ;}\n", encoding="utf-8")
        try:
            path = str(bad.relative_to(tidy.ROOT))
            found = [b.path for b in tidy.format_breaches([tidy.File(path, bad.read_text())])]
        finally:
            bad.unlink()
        self.assertEqual(found, [path])


if __name__ == "__main__":
    unittest.main()
