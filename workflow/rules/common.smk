# What every rule file uses: the checked configuration, code digests, options. The work is done
# by `evenhand.plan` and `evenhand.config`, which are tested; this file only hands it over.
import os
import sys
from pathlib import Path

LIBRARY = str(Path(workflow.basedir) / "workflow")
if LIBRARY not in sys.path:
    sys.path.insert(0, LIBRARY)

from evenhand.code import digest
from evenhand.config import Options, complete, file_options, pick, read_schema
from evenhand.errors import InputError
from evenhand.plan import (
    annotation_rounds,
    ledger_files,
    next_step,
    plan_corpora,
    read_sources,
    source_path,
)

try:
    config = complete(config, read_schema(Path(LIBRARY) / "schemas" / "config.schema.yaml"))
    MIRROR = config["mirror"] or os.environ.get("EVENHAND_MIRROR")
    SOURCES = read_sources(Path(config["sources"]))
    #: shard id -> (corpus, shard)
    SHARDS, SKIPPED = plan_corpora(config, SOURCES, MIRROR)
except InputError as error:
    raise WorkflowError(str(error)) from None

SLGUSET = config["slguset"]
ROUNDS = annotation_rounds(config)
ANNOTATED = [name for name, annotated in ROUNDS.items() if annotated.complete]
FILTERS = SLGUSET["filters"]
MODELS = list(config["models"])

# Jobs, also those on a cluster, parse this file too, so they find this Python (or a conda
# environment's, which puts itself before it), the library and the run cache.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [LIBRARY, os.environ.get("PYTHONPATH")]))
os.environ["EVENHAND_STATE"] = f"{config['results']}/.evenhand"
os.environ["EVENHAND_CACHE"] = (
    config["cache"]["folder"] or f"{config['results']}/.evenhand/cache"
    if config["cache"]["enabled"]
    else ""
)


wildcard_constraints:
    edition="slguset|slguset_published",
    shard="[A-Za-z0-9_.-]+",
    model="|".join(MODELS) or "none",
    round="|".join(ROUNDS),


def code(*modules):
    """A rule's `params: code`: the digest of the code that these modules run."""
    return lambda wildcards: f"{'+'.join(modules)}@{digest(*modules)}"


def options(key, *names):
    """A rule's `params: options`: a section of the configuration, or some of its keys."""
    section = pick(config, key)
    return Options(key, {name: section[name] for name in names or section})


def table(name):
    """An editable table of SlguSet."""
    return f"{SLGUSET['tables']}/{name}.csv"


def given(wildcards, input):
    """A rule's `params: given`: all its named inputs as options, for stages whose inputs vary."""
    return file_options(dict(input.items()))


def of_shards(pattern):
    """The pattern's files for all shards of the corpora."""
    return expand(pattern, shard=SHARDS)
