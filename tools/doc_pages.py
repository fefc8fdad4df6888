#!/usr/bin/env python3
"""Writes the documents for readers who do not have the repository.

    tools/doc_pages.py --installed OUT    what `make install` installs: README.md, docs/, …
    tools/doc_pages.py --site OUT         what mkdocs makes the site of: `make site`
    tools/doc_pages.py --man OUT          a man page for each C header, found by each function

Installed pages have no links to files that are not installed. The site has a page for each public
header, and the sources that its pages name.
"""

import argparse
import os
import pathlib
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import doc_links  # noqa: E402
from help_pages import roff  # noqa: E402

ROOT = doc_links.ROOT
TOP = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")
# In the repository and on the site, not installed: measurements, also of earlier states, and the
# reasons of decisions, which are for those who change the source.
APART = ("matrix", "E16-history", "E17-history", "waiting-measurements")
APART_FOLDER = ROOT / "docs" / "decisions"
HEADERS = ROOT / "include" / "headway"


def sources():
    """The pages, and the pictures that they show."""
    pictures = sorted([*ROOT.glob("docs/**/*.svg"), *ROOT.glob("docs/**/*.png")])
    return [ROOT / name for name in TOP] + sorted(ROOT.glob("docs/**/*.md")), pictures


def with_targets(text, page, target_of):
    """The text with each link to a file going to `target_of(file, anchor)`; None: without a link,
    only its text."""
    made, end = [], 0
    for match in sorted(doc_links.links(text), key=lambda match: match.start()):
        path, _, anchor = match[2].partition("#")
        if doc_links.is_elsewhere(match[2]) or not path:
            continue
        target = target_of((page.parent / path).resolve(), anchor)
        if target is not None:
            made += [text[end:match.start(2)], target]
            end = match.end(2)
        elif match.start() >= end:
            made += [text[end:match.start()], text[match.start(1):match.end(1)]]
            end = match.end()
    return "".join(made) + text[end:]


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def copy(file, to):
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, to)


def compact(picture):
    """The picture without what no reader sees: who drew it, indentation, names of groups and of
    axes, fonts that stand in for another, turns by no angle, the style of a marker where it is
    used, and digits of places beyond a tenth of a point."""
    text = picture.read_text(encoding="utf-8")
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r"'DejaVu Sans', 'Bitstream[^;\"]*sans-serif", "'DejaVu Sans', sans-serif", text)
    text = re.sub(r"\s*\n\s*", "\n", text)
    text = re.sub(r' transform="rotate\(-?0 [^"]*"', "", text)
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    styles = dict(re.findall(r'<path id="(\w+)" d="[^"]*" style="([^"]*)"', text))
    text = re.sub(r'(<use xlink:href="#(\w+)"[^>]*?) style="([^"]*)"',
                  lambda use: use[1] if styles.get(use[2]) == use[3] else use[0], text)
    while (smaller := re.sub(r"\n<g>\n</g>|\n<g>(\n<[^g][^>]*/>)\n</g>", r"\1", text)) != text:
        text = smaller
    text = re.sub(r' style="[^"]*"', lambda style: re.sub(r"([:;]) ", r"\1", style[0]), text)
    shorter = lambda line: re.sub(r"(\d\.\d)\d+", r"\1", line[0])  # noqa: E731
    return re.sub(r' (?:d|x|y|points)="[^"]*"', shorter, text)


def write_installed(out):
    pages, pictures = sources()
    pages = [p for p in pages if p.stem not in APART and p.parent != APART_FOLDER]
    pictures = [picture for picture in pictures if picture.stem.split("-")[0] not in APART]
    shutil.rmtree(out, ignore_errors=True)
    known = {*pages, *pictures}
    for page in pages:
        def target_of(file, anchor, page=page):
            if file not in known:
                return None
            return os.path.relpath(file, page.parent) + (f"#{anchor}" if anchor else "")

        text = with_targets(page.read_text(encoding="utf-8"), page, target_of)
        write(out / page.relative_to(ROOT), text)
    for picture in pictures:
        if picture.suffix == ".svg":
            write(out / picture.relative_to(ROOT), compact(picture))
        else:
            copy(picture, out / picture.relative_to(ROOT))
    copy(ROOT / "LICENSE", out / "LICENSE")


# What a header declares: functions, structs, enumerations, types, macros.
NAMES = (
    re.compile(r"\b(headway_\w+)\s*\("),
    re.compile(r"^(?:typedef )?(?:struct|enum|class) (\w+)[^;()]*\{", re.M),
    re.compile(r"^typedef .*?(headway_\w+);", re.M),
    re.compile(r"^#define (HEADWAY_\w+)\b(?! *$)", re.M),
    re.compile(r"^(?:template|inline|class|struct).*?\b(\w+)\(", re.M),
)
COMMENT = re.compile(r"^(?:/\*(.*?)\*/[ \t]*$|((?://[^\n]*\n)+))", re.M | re.S)
SECTION = re.compile(r"^-{3,} *(.+?) *-{3,}\s*")
PLUMBING = re.compile(
    r"^#ifdef __cplusplus\n.*?^#endif\n|^#ifndef HEADWAY_PUBLIC\n(?:.*?\n)*?#endif\n#endif\n"
    r"|^#(?:ifndef|define) HEADWAY_\w+_H\n|^#endif(?: */[/*].*)?\s*\Z|^#pragma once\n", re.M | re.S)


def comment_text(match):
    lines = (match[1] if match[1] is not None else match[2]).split("\n")
    return "\n".join(re.sub(r"^ ?(?:\*|//) ?", "", line).rstrip() for line in lines).strip()


def names_in(code):
    found = [(match.start(), match[1]) for name in NAMES for match in name.finditer(code)]
    return list(dict.fromkeys(name for _, name in sorted(found) if not name.endswith("_H")))


def reference(header):
    """The page of a header: its comments as text, each above what it is about."""
    text = PLUMBING.sub("", header.read_text(encoding="utf-8"))
    parts, end = [f"# headway/{header.name}\n"], 0
    comments = list(COMMENT.finditer(text))
    for i, match in enumerate(comments):
        said = comment_text(match)
        end = comments[i + 1].start() if i + 1 < len(comments) else len(text)
        code = text[match.end():end].strip()
        section = SECTION.match(said)
        if section:
            parts.append(f"## {section[1][0].upper()}{section[1][1:]}\n")
            said = said[section.end():]
        names = names_in(code)
        if names and i > 0:
            parts.append("### " + ", ".join(f"`{name}`" for name in names[:6])
                         + (", …" if len(names) > 6 else "") + "\n")
        if said:
            parts.append(said + "\n")
        if code:
            parts.append(f"```c\n{code}\n```\n")
    return "\n".join(parts)


def site_path(file):
    """Where a file of the repository lies in the site."""
    path = file.relative_to(ROOT)
    if path == pathlib.Path("README.md"):
        return pathlib.Path("index.md")
    if str(path) in TOP:
        return pathlib.Path(path.name.lower())
    if path.parts[0] == "docs":
        short = pathlib.Path(*path.parts[1:])
        return short.with_name("index.md") if short.name == "README.md" else short
    if file.parent == HEADERS:
        suffix = "_cxx" if path.suffix == ".hpp" else ""
        return pathlib.Path("reference", f"{path.stem}{suffix}.md")
    return pathlib.Path("files") / path


def write_site(out):
    pages, pictures = sources()
    shutil.rmtree(out, ignore_errors=True)
    headers = sorted(HEADERS.iterdir())
    known, named = {*pages, *pictures, *headers}, set()
    for page in pages:
        here = site_path(page).parent

        def target_of(file, anchor, here=here):
            if file.is_dir():
                return None  # a folder of sources
            if file not in known:
                named.add(file)
            return os.path.relpath(site_path(file), here) + (f"#{anchor}" if anchor else "")

        write(out / site_path(page),
              with_targets(page.read_text(encoding="utf-8"), page, target_of))
    for file in [*pictures, *sorted(named)]:
        copy(file, out / site_path(file))
    for header in headers:
        write(out / site_path(header), reference(header))


def man_page(header, version):
    """The page of a header as a man page of section 3, made of its page in the site."""
    title, _, text = reference(header).partition("\n")
    parts = re.split(r"^```c\n(.*?)^```\n", text, flags=re.M | re.S)
    what = re.split(r"[.,] ", parts[0].strip().replace("\n", " "))[0]
    made = [f'.TH {man_name(header).upper()} 3 "" "Headway {version}"', ".SH NAME",
            f"{man_name(header)} \\- {roff(what)}", ".SH SYNOPSIS",
            f".nf\n#include <{title.removeprefix('# ')}>\n.fi", ".SH DESCRIPTION"]  # fmt: skip
    for i, part in enumerate(parts):
        if i % 2:
            made += [".PP", ".nf", roff(part.rstrip()), ".fi"]
            continue
        for block in part.strip().split("\n\n"):
            heading = re.match(r"(#+) (.*)", block)
            mark = ".PP\n" if not heading else ".SH " if heading[1] == "##" else ".SS "
            made.append(mark + roff((heading[2] if heading else block).replace("`", "")))
    return "\n".join(made) + "\n"


def man_name(header):
    return f"headway_{header.stem}"


def write_man_pages(out, version):
    """A page for each C header, and one for each function that leads there."""
    for header in sorted(HEADERS.glob("*.h")):
        write(out / f"{man_name(header)}.3", man_page(header, version))
        for function in re.findall(r"\b(headway_\w+)\(", header.read_text(encoding="utf-8")):
            if function != man_name(header):
                write(out / f"{function}.3", f".so man3/{man_name(header)}.3\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--installed", metavar="OUT", type=pathlib.Path)
    kind.add_argument("--site", metavar="OUT", type=pathlib.Path)
    kind.add_argument("--man", metavar="OUT", type=pathlib.Path)
    parser.add_argument("--version", default="", help="for --man")
    wanted = parser.parse_args()
    if wanted.installed:
        write_installed(wanted.installed)
    elif wanted.man:
        write_man_pages(wanted.man, wanted.version)
    else:
        write_site(wanted.site)


if __name__ == "__main__":
    main()
