"""Parse words with a package."""

from evenhand.core.stage import Input, Output


def parse(*, words: Input, out: Output) -> dict:
    """Write each word as YAML reads it."""
    import yaml

    out.write_text("\n".join(str(yaml.safe_load(line)) for line in words.read_text().split()))
    return {}
