# What every rule file uses: the checked configuration, code digests, options, targets.
import os
import sys
from pathlib import Path

LIBRARY = str(Path(workflow.basedir) / "workflow")
if LIBRARY not in sys.path:
    sys.path.insert(0, LIBRARY)

from evenhand.code import digest
from evenhand.config import Options, complete, pick, read_schema
from evenhand.errors import InputError
from evenhand.slguset.plan import plan


def checked(config):
    """The configuration with its defaults; the run ends here if it is wrong."""
    try:
        return complete(config, read_schema(Path(LIBRARY) / "schemas" / "config.schema.yaml"))
    except InputError as error:
        sys.exit(f"error: {error}")


config = checked(config)

# Jobs, also those on a cluster, parse this file too, so they find the library and the run cache.
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [LIBRARY, os.environ.get("PYTHONPATH")])
)
os.environ["EVENHAND_STATE"] = f"{config['results']}/.evenhand"
os.environ["EVENHAND_CACHE"] = (
    config["cache"]["folder"] or f"{config['results']}/.evenhand/cache"
    if config["cache"]["enabled"]
    else ""
)


def code(*modules):
    """A rule's `params: code`: the digest of the code that these modules run."""
    return lambda wildcards: f"{'+'.join(modules)}@{digest(*modules)}"


def options(key):
    """A rule's `params: options`: the configuration's section of that name, as options."""
    return Options(key, pick(config, key))


def table(name):
    """An editable table of SlguSet."""
    return f"{config['slguset']['tables']}/{name}.csv"
