"""Decimals in texts for readers: one rounding and one minus sign."""

import math
from decimal import ROUND_HALF_UP, Decimal

#: Decimals of a number, behind which is the noise of binary arithmetic: 47.65 is 47.649999999…
EXACT = 9


def fixed(value: float, digits: int, *, signs: bool = False) -> str:
    """Return a decimal with a true minus sign; a half is rounded away from 0: ``−47.7``.

    With `signs` numbers above 0 have a plus.
    """
    if not math.isfinite(value):
        return f"{value:.{digits}f}"
    rounded = Decimal(f"{value:.{EXACT}f}").quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    text = f"{rounded:f}".replace("-", "−" if rounded else "")
    return f"+{text}" if signs and rounded > 0 else text
