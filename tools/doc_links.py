#!/usr/bin/env python3
"""Checks every relative link of Markdown pages, with its anchor: one line per breach, exit status 1
if there is any.

    tools/doc_links.py               the repository's pages
    tools/doc_links.py FOLDER…       all pages below these folders

Links to other sites are not followed. Anchors are those that GitHub and the site (`make site`) give
to headings.
"""

import pathlib
import re
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent

FENCE = re.compile(r"^( {0,3})(```+|~~~+).*?^ {0,3}\2`*[ \t]*$", re.M | re.S)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
INDENTED = re.compile(r"(?:\A|(?<=\n\n))(?:(?: {4}|\t).*\n+)+")
# [text](target) and ![text](target); the text may have one more pair of brackets, an image's.
LINK = re.compile(r"!?\[((?:[^\[\]]|!?\[[^\[\]]*\](?:\([^()]*\))?)*)\]"
                  r"\(([^()\s]+(?:\([^()]*\))?)\)")
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.M)
ANCHOR = re.compile(r"<a\s+(?:id|name)=\"([^\"]+)\"")


def blank(match):
    """As long as what was found, and with its ends of line."""
    return re.sub(r"[^\n]", " ", match[0])


def prose(text):
    """The text with its code as blanks, at the same places."""
    return CODE.sub(blank, INDENTED.sub(blank, FENCE.sub(blank, text)))


def links(text):
    """The matches of LINK; also of an image in a link's text."""
    found, text = [], prose(text)
    for match in LINK.finditer(text):
        found.append(match)
        found += LINK.finditer(text, match.start(1), match.end(1))
    return found


def is_elsewhere(target):
    return re.match(r"[a-z][a-z0-9+.-]*:", target) is not None


def slug(heading):
    """The anchor of a heading: its words in lower case, without marks."""
    heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(text):
    text = INDENTED.sub(blank, FENCE.sub(blank, text))
    found, counts = set(ANCHOR.findall(text)), {}
    for match in HEADING.finditer(text):
        name = slug(match[1])
        count = counts.get(name, 0)
        counts[name] = count + 1
        found.add(f"{name}-{count}" if count else name)
    return found


def breaches(page, text, root):
    """What is wrong with the links of a page: where, and why."""
    for match in links(text):
        target = match[2]
        if is_elsewhere(target):
            continue
        path, _, anchor = urllib.parse.unquote(target).partition("#")
        file = (page.parent / path).resolve() if path else page
        line = text.count("\n", 0, match.start()) + 1
        place = f"{page.relative_to(root)}:{line}: {target}:"
        if not file.is_relative_to(root):
            yield f"{place} leaves the folder"
        elif not file.exists():
            yield f"{place} there is no such file"
        elif anchor and file.suffix != ".md":
            yield f"{place} an anchor in a file that is no page"
        elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
            yield f"{place} there is no such heading"


def repository_pages():
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])


def main(folders):
    checked, bad = 0, 0
    roots = [(pathlib.Path(one).resolve(), None) for one in folders] or [(ROOT, repository_pages())]
    for root, pages in roots:
        for page in pages or sorted(root.glob("**/*.md")):
            checked += 1
            for line in breaches(page, page.read_text(encoding="utf-8"), root):
                print(line)
                bad += 1
    print(f"doc_links: {checked} pages, {bad} breaches")
    return 1 if bad or not checked else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
