"""Merge all shards."""

from evenhand.core.stage import Input, Output


def merge(*, dropped: list[Input], parsed: list[Input], out: Output) -> dict:
    """Write all words, sorted."""
    lines = [line for path in [*dropped, *parsed] for line in path.read_text().splitlines()]
    out.write_text("\n".join(sorted(lines)))
    return {"words": len(lines)}
