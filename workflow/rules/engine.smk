# What this workflow adds to Snakemake: when a job is out of date, and what a killed run leaves.
import atexit
import gc

from contextlib import contextmanager, suppress

from snakemake.persistence import PersistenceBase
from snakemake.persistence.file import FilePersistence

from evenhand.core import leftovers, owner, verify
from evenhand.core.inputs import Checksums, describe
from evenhand.core.places import located

# A plan makes many objects that all stay: searching them for garbage takes a fifth of its time.
gc.set_threshold(100_000)

RESULTS = Path(config["results"])
CHECKSUMS = Checksums(RESULTS / ".evenhand" / "checksums.json")


def save_checksums():
    """Keep the checksums for the jobs of this run, and for the next plan."""
    with suppress(OSError):  # a disk that is full fails a job, which says so
        CHECKSUMS.save()


if workflow.is_main_process:
    atexit.register(save_checksums)


# Which inputs a rule reads, in which roles and order, and what the files contain that no rule
# makes: Snakemake compares none of these, so they become a parameter of each rule (the last
# line of the Snakefile). The time stamp of a user's file then has no effect.


def is_made(path):
    """Whether a path lies in the folder of results."""
    return str(path).startswith((f"{config['results']}/", "<results>/"))


def by_content(item):
    """Flag an input that no rule makes, so that its time stamp has no effect."""
    return item if callable(item) or is_made(item) else ancient(located(item))


inputflags:
    by_content,


def described_inputs(each):
    """The function of the wildcards that describes a rule's inputs.

    Snakemake expands the inputs of a job before its parameters: that is not done twice.
    """
    expand, expanded = each.expand_input, {}

    def expand_input(wildcards, groupid=None):
        files = expand(wildcards, groupid)
        expanded[frozenset((wildcards or {}).items())] = files[0]
        return files

    each.expand_input = expand_input

    def described(wildcards):
        if not workflow.is_main_process:  # which alone records parameters
            return {}
        files = expanded[frozenset(wildcards.items())]
        roles = (
            (name or "", [value] if isinstance(value, str) else list(value))
            for name, value in files._allitems()
        )
        return {"inputs": describe(roles, is_made, CHECKSUMS)}

    return described


def record_inputs():
    """Make the inputs of each rule one of its parameters."""
    for each in workflow.rules:
        if each.shellcmd:
            each.set_params(recorded_inputs=described_inputs(each))


def make_again():
    """Plan what Snakemake takes for up to date without knowing it.

    It only looks whether a folder exists, not what is in it. And results that were copied here
    without its records, or whose records were lost, are compared with nothing.
    """
    if not workflow.is_main_process:
        return
    workflow.dag.forcefiles.update(verify.incomplete_folders(RESULTS))
    recorded = any((Path(workflow.workdir_init) / ".snakemake" / "metadata").glob("*"))
    if not recorded and any((RESULTS / ".evenhand" / "records").glob("*")):
        workflow.dag.forcerules.update(workflow.rules)


# To compare parameters that are data frames, Snakemake imports pandas, which takes longer than all
# else of a plan. Ours are plain values.
PersistenceBase._serialize_param = PersistenceBase._serialize_param_builtin


def tolerant(read_locks):
    """Read the locks of another run that may end meanwhile and remove them."""

    def read(self):
        with suppress(FileNotFoundError):
            yield from read_locks(self)

    return read


@contextmanager
def lock(self):
    """Lock the files of a run, with its owner; of two starts at once, one is refused."""
    folder = Path(self._lockdir)
    try:
        with leftovers.starting(folder.parent):
            if self.locked:
                raise WorkflowError(leftovers.other_run(folder))
            folder.mkdir(parents=True, exist_ok=True)
            self._write_locks("input", map(str, self.all_inputfiles()))
            self._write_locks("output", map(str, self.all_outputfiles()))
            for each in self._lockfile.values():
                leftovers.claim(Path(each))
        yield
    finally:
        self.unlock()


def delete_own(self):
    """Delete this run's locks; Snakemake itself would delete those of all runs."""
    for each in self._lockfile.values():
        leftovers.release(Path(each))
    self._lockfile.clear()
    with suppress(OSError):
        Path(self._lockdir).rmdir()


def unlock_all(self):
    """Delete the locks of all runs, which ``--unlock`` asks for."""
    self._lockfile = {str(each): each for each in Path(self._lockdir).glob("*.lock")}
    self.unlock()


if not hasattr(FilePersistence, "as_released"):
    FilePersistence.as_released = FilePersistence._read_locks
    FilePersistence._read_locks = tolerant(FilePersistence._read_locks)
    FilePersistence._delete_locks = delete_own
    FilePersistence.lock = lock
    FilePersistence.cleanup_locks = unlock_all

os.environ[owner.OWNER] = owner.identity()
if workflow.is_main_process and (
    sentence := leftovers.release_dead_locks(Path(workflow.workdir_init))
):
    print(sentence, file=sys.stderr)
