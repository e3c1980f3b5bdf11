# Evenhand: the front door. What is built, and in which order of rooms; the rules are in workflow/rules.
from snakemake.utils import min_version

min_version("9.27.1")


report: "workflow/report/workflow.rst"


#: Whether a workflow that has this one as a module has a rule before it, which is the default.
IS_LATER = workflow.default_target is not None


# A config given with --configfile stands alone; without one, the demo's is used.
if not workflow.overwrite_configfiles:

    configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/engine.smk"


from evenhand.core.code import unlike_the_lock


pathvars:
    results=config["results"],
    logs=f"{config['results']}/logs",
    benchmarks=f"{config['results']}/benchmarks",


include: "workflow/rules/sources.smk"
include: "workflow/rules/slguset_corpus.smk"
include: "workflow/rules/slguset_filters.smk"
include: "workflow/rules/slguset_annotation.smk"
include: "workflow/rules/slguset_dataset.smk"
include: "workflow/rules/slguset_published.smk"
include: "workflow/rules/models.smk"
include: "workflow/rules/bias.smk"
include: "workflow/rules/stereotypes_scores.smk"
include: "workflow/rules/stereotypes_tables.smk"
include: "workflow/rules/individual_training.smk"
include: "workflow/rules/individual_tables.smk"
include: "workflow/rules/legal_cases.smk"
include: "workflow/rules/legal_tables.smk"
include: "workflow/rules/legal_audit.smk"
include: "workflow/rules/legal_training.smk"
include: "workflow/rules/predictions.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/cards.smk"


rule all:
    default_target: not IS_LATER
    input:
        deliverables,
    localrule: True


onstart:
    gc.freeze()
    gc.enable()
    save_checksums()  # jobs compare what they read with it
    try:
        if leftovers.check(Path(workflow.workdir_init)):
            leftovers.remove_partials(Path(config["results"]))
    except InputError as error:
        raise WorkflowError(str(error)) from None
    if INPUTS.not_read:
        print(plan_slguset.not_read(INPUTS.not_read), file=sys.stderr)


# Printed while planning, so that it also appears when nothing is left to run.
if workflow.is_main_process:
    notes = [plan_slguset.waiting(config), unchecked(config, SOURCES)]
    notes += [plan_classifiers.few_seeds(config), plan_classifiers.without_plain(config)]
    for words in filter(None, notes):
        print(words, file=sys.stderr)
    if packages := unlike_the_lock():
        print(
            f"warning: installed, and different from requirements.lock: {', '.join(packages)};"
            " run `make install`.",
            file=sys.stderr,
        )


onsuccess:
    report = ""
    if "EVENHAND_REPORT" not in os.environ:  # else who started this prints it
        report = plan.summary(config).rpartition("\n")[2]
    said = [plan_slguset.waiting(config), unchecked(config, SOURCES), report]
    print("\n".join(filter(None, said)))


onerror:
    print(plan.errors_in([log] if isinstance(log, str) else log), file=sys.stderr)


follow_conventions()
record_inputs()
