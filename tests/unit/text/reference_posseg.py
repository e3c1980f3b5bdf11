"""jieba.posseg itself, silent, and without its cache in the temporary folder."""

import warnings
from functools import cache


@cache
def reference():
    """The module jieba.posseg, ready to be used."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes, pkg_resources: not ours to mend
        import jieba
        import jieba.posseg

    # `initialize` would log to stderr and write a cache file; this is the rest of it.
    tokenizer = jieba.dt
    if not tokenizer.initialized:
        tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
        tokenizer.initialized = True
    return jieba.posseg


def reference_tags(text: str) -> list[tuple[str, str]]:
    return [(token.word, token.flag) for token in reference().cut(text)]
