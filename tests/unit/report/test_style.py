"""The style sheet: colours that can be told from what they stand on, in light, dark and print."""

import re

import pytest

from unit.report.checks import TEMPLATES

STYLE = (TEMPLATES / "style.css").read_text(encoding="utf-8")

#: Text of these colours stands on these grounds: WCAG 2.2 asks for 4.5 to 1 (1.4.3).
TEXT = {
    "paper": ["ink", "soft", "link", "male", "female", "kept", "warn", "evidence", "more", "less"],
    "raised": ["ink", "soft", "link"],
    "warn-paper": ["ink", "link"],
    "male-paper": ["ink"],
    "female-paper": ["ink"],
    "more-paper": ["ink"],
    "less-paper": ["ink"],
    "faint": ["ink", "evidence"],
    "ink": ["paper"],
}

#: Marks of figures and edges of what is pressed: 3 to 1 (1.4.11). Bands, tracks and rests lie
#: behind marks whose values are written beside them.
MARKS = {
    "paper": ["male", "female", "kept", "lost", "quiet", "more", "less", "evidence", "warn"],
    "band": ["male", "female", "more", "less", "ink", "lost"],
}


def blocks(start: str) -> str:
    """What the style sheet's blocks that begin so hold, braces matched."""
    found = []
    for match in re.finditer(re.escape(start) + r"\s*{", STYLE):
        depth, end = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(STYLE[end], 0)
            end += 1
        found.append(STYLE[match.end() : end - 1])
    return "".join(found)


def variables(css: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{3,6})\b", css))


OUTSIDE = re.sub(r"@media[^{]*{(?:[^{}]*{[^{}]*})*[^{}]*}", "", STYLE)
SCHEMES = {
    "light": variables(OUTSIDE),
    "dark": variables(OUTSIDE) | variables(blocks("@media (prefers-color-scheme: dark)")),
    "print": variables(OUTSIDE) | variables(blocks("@media print")),
    # a browser in the dark prints in what the last rules say
    "print in the dark": variables(OUTSIDE)
    | variables(blocks("@media (prefers-color-scheme: dark)"))
    | variables(blocks("@media print")),
}


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_measure_of_contrast():
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#fff") == pytest.approx(4.48, abs=0.01)


def test_the_schemes_are_found():
    assert SCHEMES["light"]["paper"] != SCHEMES["dark"]["paper"] != SCHEMES["print"]["paper"]
    assert SCHEMES["light"].keys() == SCHEMES["dark"].keys()
    assert SCHEMES["print in the dark"] == SCHEMES["print"]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("pairs", "least"), [(TEXT, 4.5), (MARKS, 3)], ids=["text", "marks"])
def test_contrast(scheme, pairs, least):
    colours = SCHEMES[scheme]
    poor = {
        f"{name} on {ground}": round(contrast(colours[name], colours[ground]), 2)
        for ground, names in pairs.items()
        for name in names
        if contrast(colours[name], colours[ground]) < least
    }
    assert not poor


@pytest.mark.parametrize("scheme", SCHEMES)
def test_numbers_on_cells_can_be_read(scheme):
    """Text of 4.5 to 1 on the strongest colour of a map, which is half of it."""
    colours = SCHEMES[scheme]
    digits = [[int(colours[one].ljust(7, "f")[i : i + 2], 16) for i in (1, 3, 5)]
              for one in ("paper", "kept", "evidence")]  # fmt: skip
    for strong in digits[1:]:
        mixed = [(a + b) // 2 for a, b in zip(digits[0], strong, strict=True)]
        assert contrast("#" + "".join(f"{part:02x}" for part in mixed), colours["ink"]) >= 4.5


def test_every_colour_that_is_used_is_set():
    used = set(re.findall(r"var\(--([\w-]+)\)", STYLE))
    fonts = {"sans", "serif", "mono"} | set(re.findall(r"--(\w+):\s*\"", STYLE))
    assert used - fonts == used & SCHEMES["light"].keys()


def test_nothing_moves_for_those_who_do_not_want_it():
    assert "scroll-behavior: auto" in blocks("@media (prefers-reduced-motion: reduce)")
    assert "transition" not in STYLE and "animation" not in STYLE
