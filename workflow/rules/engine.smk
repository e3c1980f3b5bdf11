# What this workflow adds to Snakemake: when a job is out of date, and what a killed run leaves.
import atexit

from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase

from snakemake.jobs import Reason
from snakemake.persistence import PersistenceBase
from snakemake.persistence.file import FilePersistence

from evenhand.core import leftovers, owner, verify
from evenhand.core.code import fingerprint
from evenhand.core.inputs import Checksums, describe, named_in_results
from evenhand.core.places import located

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


#: What the user names in the folder of results.
NAMED = named_in_results(config)


def is_made(path):
    """Whether a path is a result: it lies in their folder, and is not what the user put there."""
    path = str(path)
    if not path.startswith((f"{config['results']}/", "<results>/")):
        return False
    users = any(fnmatchcase(path, form) for each in NAMED for form in (each, f"{each}/*"))
    return not users or any(rule.is_producer(path) for rule in workflow.rules)


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


#: What holds the rules of this workflow, which may be a module of another.
OWN = workflow.modifier


def own_rules():
    """The rules but those of a workflow that has this one as a module."""
    return [each for each in workflow.rules if each in OWN.rules]


def record_inputs():
    """Make the inputs of each rule one of its parameters."""
    for each in own_rules():
        if each.shellcmd:
            each.set_params(recorded_inputs=described_inputs(each))


def make_again():
    """Plan folders that lack files: Snakemake only looks whether a folder exists."""
    if workflow.is_main_process:
        workflow.dag.forcefiles.update(verify.incomplete_folders(LISTINGS.values()))


def replace(kind, **methods):
    """Replace methods of Snakemake's; `as_released` has the former ones."""
    kind.as_released = {name: getattr(kind, name) for name in methods} | getattr(
        kind, "as_released", {}
    )
    for name, method in methods.items():
        setattr(kind, name, method)


def has_records(self, job):
    """Whether Snakemake and the stage itself recorded the run that made a job's outputs."""
    is_own = job.rule in OWN.rules
    if not is_own:
        return FilePersistence.as_released["has_metadata"](self, job)
    # named after the first output, since a stage may write more than the rule says
    needed = [f"records/{fingerprint(min(job.output))}.json"] if job.rule.shellcmd else []
    needed += [f"folders/{fingerprint(str(out))}.json" for out in job.output if out.is_directory]
    return RECORDS.issuperset(needed) and FilePersistence.as_released["has_metadata"](self, job)


def has_reason(self):
    """Whether a job must run; also if the run that made its outputs is not recorded.

    Snakemake takes such results for up to date, for example those that were copied or moved.
    """
    unknown = self.no_metadata or self.outdated_metadata
    return not self.finished and (unknown or Reason.as_released["__bool__"](self))


if workflow.is_main_process:
    #: The records that stages left of their runs, and of the files of folders.
    LISTINGS = verify.folder_listings(RESULTS)
    RECORDS = {f"folders/{name}" for name in LISTINGS} | {
        f"records/{path.name}" for path in (RESULTS / ".evenhand" / "records").glob("*.json")
    }
    replace(FilePersistence, has_metadata=has_records)
    replace(Reason, __bool__=has_reason)


# To compare parameters that are data frames, Snakemake imports pandas, which takes longer than all
# else of a plan. Ours are plain values.
PersistenceBase._serialize_param = PersistenceBase._serialize_param_builtin


def read_locks(self):
    """Read the locks of another run that may end meanwhile and remove them."""
    with suppress(FileNotFoundError):
        yield from FilePersistence.as_released["_read_locks"](self)


@contextmanager
def lock(self):
    """Lock the files of a run, with its owner; of two starts at once, one is refused."""
    folder = Path(self._lockdir)
    try:
        with leftovers.starting(folder.parent):
            if self.locked:
                # an error would be printed with the places in the code
                print(f"error: {leftovers.other_run(folder)}.", file=sys.stderr)
                sys.exit(2)
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


replace(
    FilePersistence,
    _read_locks=read_locks,
    _delete_locks=delete_own,
    lock=lock,
    cleanup_locks=unlock_all,
)

os.environ[owner.OWNER] = owner.identity()
if workflow.is_main_process and (
    sentence := leftovers.release_dead_locks(Path(workflow.workdir_init))
):
    print(sentence, file=sys.stderr)
