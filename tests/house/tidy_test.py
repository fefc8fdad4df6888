#!/usr/bin/env python3
"""Each rule of tools/tidy.py catches a bad piece of code, and lets its good neighbour pass."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import tidy  # noqa: E402

TABLE = tidy.parse_layers("base:\nprogress: base\nrails: base\nengine: base progress rails\n")


def breaches(rule, text, path="src/progress/engine.cpp", *more):
    return [str(b) for b in rule(tidy.File(path, text), *more)]


class Layers(unittest.TestCase):
    def check(self, text, path="src/progress/engine.cpp"):
        return breaches(tidy.check_layers, text, path, TABLE)

    def test_a_room_may_not_include_a_room_above_it(self):
        found = self.check('#include "base/clock.hpp"\n#include "engine/runtime.hpp"\n')
        self.assertEqual(
            found, ["src/progress/engine.cpp:2: room 'progress' may not enter room 'engine'"]
        )

    def test_a_room_may_include_itself_and_what_its_line_names(self):
        self.assertEqual(self.check('#include "base/a.hpp"\n#include "progress/b.hpp"\n'), [])

    def test_a_room_without_a_line_in_the_table_is_refused(self):
        self.assertEqual(len(self.check("", "src/attic/x.cpp")), 1)

    def test_an_include_in_a_comment_does_not_count(self):
        self.assertEqual(self.check('// #include "engine/runtime.hpp"\n'), [])

    def test_a_driver_is_named_only_in_its_folder_and_by_the_engine(self):
        line = '#include "rails/tcp/tcp.hpp"\n'
        self.assertEqual(len(self.check(line, "src/rails/shm/ring.cpp")), 1)
        self.assertEqual(len(self.check(line, "src/rails/any.cpp")), 1)
        self.assertEqual(self.check(line, "src/rails/tcp/frame.cpp"), [])
        self.assertEqual(self.check(line, "src/engine/builtin.cpp"), [])

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

    def test_prose_may_be_as_wide_as_it_likes(self):
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

    def test_the_exchange_of_a_job_is_no_atomic(self):
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
    def test_a_table_whose_text_was_torn_apart(self):
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
