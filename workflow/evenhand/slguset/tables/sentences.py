"""The sentences with the strongest bias of each trusted model, in either direction."""

from collections.abc import Iterator

from evenhand.core.tables import Row, Table, integer, number, text
from evenhand.slguset.bias_tables import Scored

TABLE = Table(
    "sentences",
    title="The most biased sentences of each model",
    key=("model", "direction", "rank"),
    columns=(
        text("model"),
        text("direction", "male: bias > 0; female: bias < 0"),
        integer("rank"),
        number("bias"),
        *map(text, ("sentence_id", "sentence", "pair", "surface_pair", "surface")),
        *map(text, ("surface_opposite", "gender")),
        *map(integer, ("start", "end", "surface_start", "surface_end")),
        text("source"),
        integer("source_position"),
    ),
)


def rows(scored: Scored) -> Iterator[Row]:
    """Yield up to `top` sentences per trusted model and direction, ranked by |bias| and id."""
    scored.check_genders()
    columns = [name for name in scored.sentences if name in TABLE.header]
    for name in scored.trusted():
        sentences = scored.sentences[columns].assign(bias=scored.bias(name))
        for direction, sign in (("male", 1), ("female", -1)):
            sentences["strength"] = sign * sentences["bias"]
            strongest = sentences[sentences["strength"] > 0].sort_values(
                ["strength", "sentence_id"], ascending=[False, True]
            )
            for rank, row in enumerate(
                strongest.head(scored.settings.top)[["bias", *columns]].to_dict("records"), start=1
            ):
                yield {"model": name, "direction": direction, "rank": rank} | row
