# What every rule file uses: the checked configuration, code digests, options. The work is done
# by `evenhand.plan` and `evenhand.config`, which are tested; this file only hands it over.
import os
import sys
from pathlib import Path

LIBRARY = str(Path(workflow.basedir) / "workflow")
if LIBRARY not in sys.path:
    sys.path.insert(0, LIBRARY)

from evenhand.code import digest
from evenhand.config import Options, complete, pick, read_schema
from evenhand.errors import InputError
from evenhand.plan import annotation_state, next_step, plan_corpora, read_sources, source_path

try:
    config = complete(config, read_schema(Path(LIBRARY) / "schemas" / "config.schema.yaml"))
    MIRROR = config["mirror"] or os.environ.get("EVENHAND_MIRROR")
    SOURCES = read_sources(Path(config["sources"]))
    #: shard id -> (corpus, shard)
    SHARDS = plan_corpora(config, SOURCES, MIRROR)
except InputError as error:
    raise WorkflowError(str(error)) from None

SLGUSET = config["slguset"]
ANNOTATION = annotation_state(config)
FILTERS = SLGUSET["filters"]
MODELS = list(config["models"])

# Jobs, also those on a cluster, parse this file too, so they find the library and the run cache.
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


def of_shards(pattern):
    """The pattern's files for all shards of the corpora."""
    return expand(pattern, shard=SHARDS)
