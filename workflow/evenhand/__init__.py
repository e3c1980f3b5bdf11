"""Fairness data sets from raw text, and audits of models: ``import evenhand as eh``."""

__all__ = [
    *("Result", "audit_logs", "audit_pairs", "audit_predictions", "audit_table"),
    *("compare", "extract_sentences"),
]


def __getattr__(name: str):
    """Import `evenhand.api` when one of its names is used first; `__version__` as installed."""
    if name == "__version__":
        from importlib.metadata import version

        return version("evenhand")
    if name not in __all__:
        raise AttributeError(f"module 'evenhand' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("evenhand.api"), name)


def __dir__() -> list[str]:
    """Return the names of the library."""
    return __all__
