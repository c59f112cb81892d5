#!/usr/bin/env python3
"""Writes core/data/unicode/*_table.cc from Python's unicodedata, for the next version of Unicode. Nothing of the build
needs it. What the tables hold is said in core/data/unicode/tables.h."""
import pathlib
import unicodedata

ALL = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
COMPATIBILITY = [(0xF900, 0xFAD9), (0x2F800, 0x2FA1D)]  # ideographs that decompose to one other each
HANGUL = range(0xAC00, 0xD7A4)  # decomposed by arithmetic
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "core/data/unicode"


def category(c):
    return unicodedata.category(chr(c))


def decomposed(c):
    return [ord(d) for d in unicodedata.normalize("NFD", chr(c))]


def char_class(c):
    kind = category(c)
    if chr(c) in "\t\n\r" or kind[0] == "Z":
        return "Space"
    if kind in ("Cc", "Cf", "Co") or c == 0xFFFD:
        return "Control"
    if kind[0] == "P" or 33 <= c <= 47 or 58 <= c <= 64 or 91 <= c <= 96 or 123 <= c <= 126:
        return "Punctuation"
    if kind == "Mn":
        starts = any(unicodedata.combining(chr(d)) == 0 for d in decomposed(c))
        return "StartingMark" if starts else "Mark"
    return None


def stripped(c):
    """The canonical decomposition without marks that take no space; None where that is the character itself."""
    kept = [d for d in decomposed(c) if category(d) != "Mn"]
    return None if kept == [c] else kept


def ranges(value_of):
    """[first, last, value] for each longest run of one value that is not None."""
    found, before = [], None
    for c in ALL:
        value = value_of(c)
        if value is not None and value == before and found[-1][1] == c - 1:
            found[-1][1] = c
        elif value is not None:
            found.append([c, c, value])
        before = value
    return found


def lower_runs():
    """[first, last, step, delta]: every step-th character becomes itself plus delta."""
    runs = []
    for c in ALL:
        lower = chr(c).lower()
        if lower == chr(c):
            continue
        delta = ord(lower[0]) - c
        step = c - runs[-1][1] if runs else 0
        if runs and runs[-1][3] == delta and step <= 2 and runs[-1][2] in (0, step):
            runs[-1][1:3] = [c, step]
        else:
            runs.append([c, c, 0, delta])
    return [[first, last, step or 1, delta] for first, last, step, delta in runs]


def write(name, doc, tables, before=""):
    """One file with a function for each (its name, the type of its entries, the entries)."""
    lines = ['#include "core/data/unicode/tables.h"', "",
             f"// Unicode {unicodedata.unidata_version}, written by scripts/unicode_tables.py: {doc}", "",
             "namespace mlopt::unicode {", "// clang-format off"]
    if before:
        lines.append(before)
    for function, kind, entries in tables:
        lines += [f"std::span<const {kind}> {function}() {{", f"  static constexpr {kind} kTable[] = {{"]
        line = ""
        for entry in entries:
            if len(line) + len(entry) > 119:
                lines.append(line)
                line = ""
            line += entry + ","
        lines += [line, "};", "  return kTable;", "}"]
    lines += ["// clang-format on", "}  // namespace mlopt::unicode", ""]
    (FOLDER / name).write_text("\n".join(lines))


def main():
    inside = {c for first, last in COMPATIBILITY for c in range(first, last + 1)} | set(HANGUL)
    classes = [f"{{{a:#x},{b:#x},K::k{v}}}" for a, b, v in ranges(char_class)]
    write("class_table.cc", "what characters are.", [("class_ranges", "ClassRange", classes)], "using K = CharClass;")
    lower = [f"{{{a:#x},{b:#x},{s},{d}}}" for a, b, s, d in lower_runs()]
    write("lower_table.cc", "characters in lower case.", [("lower_ranges", "LowerRange", lower)])

    def one(c):
        kept = stripped(c)
        return kept[0] if kept and len(kept) == 1 and c not in inside else None

    bases = [f"{{{a:#x},{b - a + 1},{v:#x}}}" for a, b, v in ranges(one)]
    several = [c for c in ALL if c not in inside and stripped(c) and len(stripped(c)) > 1]
    assert all(len(stripped(c)) <= 3 for c in several)
    assert all(category(c) == "Mn" for c in ALL if stripped(c) == [])
    many = ["{" + ",".join(f"{x:#x}" for x in [c] + (stripped(c) + [0])[:3]) + "}" for c in several]
    orders = ranges(lambda c: unicodedata.combining(chr(c)) or None if category(c) != "Mn" else None)
    write("base_table.cc", "letters without their accents.",
          [("base_ranges", "BaseRange", bases), ("base_strings", "BaseString", many),
           ("order_ranges", "OrderRange", [f"{{{a:#x},{b:#x},{v}}}" for a, b, v in orders])])
    ideographs = []
    for first, last in COMPATIBILITY:
        assert all(len(decomposed(c)) == 1 for c in range(first, last + 1))
        ideographs.append([f"{decomposed(c)[0]:#x}" for c in range(first, last + 1)])
    write("ideograph_table.cc", "what compatibility ideographs stand for, from U+F900 and from U+2F800.",
          [("ideographs", "char32_t", ideographs[0]), ("more_ideographs", "char32_t", ideographs[1])])


main()
