#!/usr/bin/env python3
"""The rules of tools/doc_links.py and tools/doc_pages.py, each shown a bad piece of text, and what
they make of the repository's pages."""

import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))
import doc_links  # noqa: E402
import doc_pages  # noqa: E402


class Links(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        (self.root / "other.md").write_text("# One `two`, three\n\n## Twice\n\n## Twice\n"
                                            '<a id="by-hand"></a>\n', encoding="utf-8")
        (self.root / "source.c").write_text("int x;\n", encoding="utf-8")

    def found(self, text):
        return [line.split(": ", 1)[1] for line in
                doc_links.breaches(self.root / "page.md", text, self.root)]  # fmt: skip

    def test_to_what_is_there_are_right(self):
        for good in ("[a](other.md)", "[a](other.md#one-two-three)", "[a](other.md#twice-1)",
                     "[a](other.md#by-hand)", "[a](source.c)", "[a](https://example.org/x)",
                     "[![a](source.c)](other.md)", "# Here\n[a](other.md) [b](source.c)"):
            self.assertEqual(self.found(good), [], good)

    def test_to_what_is_not_there_are_named_with_their_line(self):
        self.assertEqual(self.found("x\n[a](gone.md)"), ["gone.md: there is no such file"])
        for bad in ("other.md#one-two", "other.md#twice-2", "other.md#by"):
            self.assertEqual(self.found(f"[a]({bad})"), [f"{bad}: there is no such heading"])
        self.assertEqual(self.found("[a](../x.md)"), ["../x.md: leaves the folder"])
        self.assertIn("no page", self.found("[a](source.c#L1)")[0])
        self.assertEqual(len(self.found("[![a](gone.svg)](gone.md)")), 2)
        lines = list(doc_links.breaches(self.root / "page.md", "x\n\n[a](gone.md)", self.root))
        self.assertTrue(lines[0].startswith("page.md:3: "))

    def test_in_code_are_none(self):
        for code in ("`[a](gone.md)`", "```\n[a](gone.md)\n```", "x\n\n    f[i](gone.md)\n\ny",
                     "``a ` [b](gone.md)``"):  # fmt: skip
            self.assertEqual(self.found(code), [], code)
        self.assertEqual(self.found("```\n# no heading\n```\n[a](page.md)"),
                         ["page.md: there is no such file"])

    def test_headings_have_the_anchors_of_github(self):
        self.assertEqual(doc_links.slug("What works: `a_b`, C++ & more!"), "what-works-a_b-c--more")
        self.assertEqual(doc_links.slug("[Link](x.md) here"), "link-here")


class Pages(unittest.TestCase):
    def check_all_links(self, folder):
        pages = sorted(folder.glob("**/*.md"))
        self.assertGreater(len(pages), 50)
        found = [line for page in pages for line in
                 doc_links.breaches(page, page.read_text(encoding="utf-8"), folder)]  # fmt: skip
        self.assertEqual(found, [])

    def made(self, write):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve() / "made"
        write(folder)
        return folder

    def test_to_be_installed_link_only_to_what_is_installed(self):
        folder = self.made(doc_pages.write_installed)
        self.check_all_links(folder)
        text = (folder / "docs/endpoints.md").read_text(encoding="utf-8")
        self.assertNotIn("](../include", text)
        self.assertIn("](packages.md)", text)

    def test_of_the_site_link_to_what_is_there_and_the_site_has_them_all(self):
        folder = self.made(doc_pages.write_site)
        self.check_all_links(folder)
        named = re.findall(r": ([\w/.-]+\.md)$|- ([\w/.-]+\.md)$",
                           (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.M)
        named = {a or b for a, b in named}
        pages = {str(page.relative_to(folder)) for page in folder.glob("**/*.md")}
        self.assertEqual(named - pages, set())
        self.assertEqual({p for p in pages - named
                          if not p.startswith(("experiments/", "decisions/"))}, set())  # fmt: skip

    def test_of_headers_have_every_function(self):
        for header in sorted((ROOT / "include/headway").glob("*.h")):
            declared = re.findall(r"^HEADWAY_PUBLIC [^;(]*?\b(headway_\w+)\(",
                                  header.read_text(encoding="utf-8"), re.M)  # fmt: skip
            page = doc_pages.reference(header)
            for name in declared:
                self.assertIn(name, page)
            code = "".join(re.findall(r"```c\n(.*?)```", page, re.S))
            self.assertEqual([name for name in declared if f"{name}(" not in code], [])
            self.assertNotIn("HEADWAY_PUBLIC __attribute__", page)
            self.assertEqual(page.count("```") % 2, 0)

    def test_from_other_libraries_name_settings_that_there_are(self):
        page = (ROOT / "docs/coming-from.md").read_text(encoding="utf-8")
        known = set(re.findall(r"^\| `(HEADWAY_\w+)`", (ROOT / "docs/tunables.md").read_text(
            encoding="utf-8"), re.M)) | {"HEADWAY_CC", "HEADWAY_CXX", "HEADWAY_FC"}  # fmt: skip
        self.assertEqual(set(re.findall(r"HEADWAY_[A-Z_]+", page)) - known, set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
