"""Decimals in texts for readers: one rounding and one minus sign."""

import math
from decimal import ROUND_HALF_UP, Decimal

#: Decimals of a number, behind which is the noise of binary arithmetic: 47.65 is 47.649999999…
EXACT = 9

#: The factor and the mark with which audits write numbers of a unit.
SCALES = {"0 to 1": (100, " %"), "-1 to 1": (100, " points"), "%": (1, " %")}

#: A p-value below this is significant.
ALPHA = 0.05


def missing(value: float | None) -> bool:
    """Return whether there is no number: None, NaN or infinity."""
    return value is None or not math.isfinite(value)


def fixed(value: float, digits: int, *, signs: bool = False) -> str:
    """Return a decimal with a true minus sign; a half is rounded away from 0: ``−47.7``.

    With `signs` numbers above 0 have a plus.
    """
    if not math.isfinite(value):
        return f"{value:.{digits}f}"
    rounded = Decimal(f"{value:.{EXACT}f}").quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    text = f"{rounded:f}".replace("-", "−" if rounded else "")
    return f"+{text}" if signs and rounded > 0 else text


def p_value(value: float, digits: int = 2, kind: str = "g") -> str:
    """Return a p-value with at least `digits`, and as many more as tell it from `ALPHA`.

    `kind` is that of a format: ``g`` for significant digits, ``f`` for decimals.
    """
    texts = [f"{value:.{more}{kind}}" for more in range(digits, EXACT)]
    return next((text for text in texts if float(text) != ALPHA), texts[0])


def as_cell(value: float, unit: str = "") -> str:
    """Return a number of a table: ``0.03412``.

    Those with a unit of `SCALES` are written as in findings, with more digits if they are small:
    ``31.3 %`` for a share of 0.313.
    """
    if unit in SCALES:
        scale, mark = SCALES[unit]
        digits = 1 if abs(scale * value) >= 0.05 or not value else 4
        return f"{fixed(scale * value, digits)}{mark}"
    return f"{value:.4g}"


def p_rank(value: float) -> float:
    """Return a p-value to sort by: below six decimals all are alike, so that effects decide."""
    return round(value, 6)


def p_equals(value: float) -> str:
    """Return a p-value for a sentence, with its sign: ``= 0.034``, ``= 0.0504``, ``< 0.001``."""
    return "< 0.001" if value < 0.001 else f"= {p_value(value)}"
