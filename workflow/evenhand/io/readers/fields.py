"""The text field of a JSON object."""

from typing import Any


def text_of(record: Any, field: str) -> str | None:
    """The text of a field, or None if there is none.

    Parameters
    ----------
    record : object
        A JSON value.
    field : str
        A name, or a path of names joined by dots (``data.text``) unless the object has
        that very name. Lists on the way and at its end are gone through.

    Returns
    -------
    str or None
        The strings found, one per line.
    """
    if isinstance(record, dict) and field in record:
        found = _strings(record[field])
    else:
        values = [record]
        for name in field.split("."):
            values = [one[name] for one in _flat(values) if isinstance(one, dict) and name in one]
        found = _strings(values)
    return "\n".join(found) if found else None


def names_of(record: Any) -> str:
    """Describe the fields of a record that lacks the requested one."""
    if not isinstance(record, dict):
        return f"a {type(record).__name__}, not an object"
    return f"the fields are {', '.join(map(str, record))}"[:200] if record else "no fields"


def _strings(value: Any) -> list[str]:
    return [one for one in _flat([value]) if isinstance(one, str)]


def _flat(values: list[Any]) -> list[Any]:
    """Flatten nested lists; readers limit their depth to `DEPTH`."""
    flat: list[Any] = []
    for value in values:
        flat += _flat(value) if isinstance(value, list) else [value]
    return flat
