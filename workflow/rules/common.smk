# What all rules share: the checked configuration, code digests, options. The work is done
# by `evenhand.plan` and `evenhand.core.config`, which are tested; this file only hands it over.
import atexit
import gc
import os
import re
import sys
from pathlib import Path

from snakemake.resources import Resources

# A plan makes many objects that all stay. Searching them for garbage, while planning and once more
# at the end, takes a third of its time.
gc.disable()  # until jobs start
atexit.register(gc.freeze)

# a checkout's own library; the wheel has no such folder, and an installed library
BESIDE = Path(str(workflow.current_basedir)).parent / "evenhand"
if BESIDE.is_dir() and str(BESIDE.parent) not in sys.path:
    sys.path.insert(0, str(BESIDE.parent))

from evenhand import plan, plan_classifiers, plan_individual, plan_legal, plan_models
from evenhand import plan_predictions, plan_report, plan_slguset, plan_stereotypes
from evenhand.core.code import digest
from evenhand.core.config import Options, file_options, pick, read_config
from evenhand.core.places import LIBRARY, ROOT
from evenhand.core.sources import source_path, unchecked
from evenhand.errors import InputError

try:
    for file in workflow.configfiles:
        read_config(Path(file))
    config, SOURCES, INPUTS = plan.checked(config)
    #: rule -> memory (MB) and time (minutes) of its first attempt, and whether it uses a GPU
    RESOURCES = {
        workflow.modifier.modify_rulename(name): amounts
        for name, amounts in read_config(ROOT / "profiles" / "resources.yaml").items()
    }
    #: result -> how `snakemake --report` shows it
    SHOWN = plan_report.read_shown(ROOT / "workflow" / "report" / "shown.csv")
except InputError as error:
    raise SystemExit(f"error: {error}") from None

os.environ.update(plan.job_environment(config, str(LIBRARY)))

SLGUSET = config["slguset"]
FILTERS = SLGUSET["filters"]
#: shard id -> (corpus, shard)
SHARDS = INPUTS.shards
ROUNDS = INPUTS.rounds
STEREOTYPES = config["stereotypes"]
INDIVIDUAL = config["individual_fairness"]
LEGAL = config["legal"]
#: The models that read the language of the pack, and so are scored on SlguSet.
MODELS = plan_slguset.scored_models(config)
#: The corpus of each shard, in their order.
CORPUS_OF_SHARDS = Options(
    None, {"corpora": [corpus for corpus, _ in SHARDS.values()]}, {"corpora": "slguset.corpora"}
)
#: set of pairs -> models that are scored on it
PAIR_SETS = plan_stereotypes.pair_sets(config)
GPU = 1 if config["scoring"]["device"].startswith("cuda") else 0
ANNOTATED = [round.name for round in ROUNDS.values() if round.sheets]
#: The filters' reasons, in their order in the funnel, with name and meaning.
REASONS = plan_slguset.reasons(config)

#: What no name matches: for wildcards of which there is none.
NOTHING = "(?!)"


wildcard_constraints:
    edition="slguset|slguset_published|slguset_examples",
    shard="[A-Za-z0-9_.-]+",
    model="|".join(map(re.escape, config["models"])) or NOTHING,
    set="|".join(map(re.escape, STEREOTYPES["sets"])) or NOTHING,
    dataset="|".join(INDIVIDUAL["datasets"]) or NOTHING,
    method="|".join(INDIVIDUAL["methods"]),
    split="random|official",
    track="base|integers",
    legal="|".join(LEGAL["datasets"]) or NOTHING,
    part="[a-z][a-z0-9_]*",
    attribute="[a-z0-9_+]+",
    classifier="|".join(LEGAL["classifiers"]) or NOTHING,
    objective="[a-z_]+",
    seed="[0-9]+",
    form="|twins/",
    space="(words|embeddings)/[A-Za-z0-9_.-]+",
    predictions="|".join(config["predictions"]) or NOTHING,
    round="|".join(map(re.escape, ROUNDS)),


def run(module, *words):
    """The command of a rule's stage; `words` are those of its options that are not in `stage`."""
    command = f"python -m evenhand.core.run {module} {{params.files}} {{params.options}}"
    return " ".join([command, *words, "2> {log}"])


def stage(module, *options, plugins=()):
    """What runs a stage: its files, its options and the digest of its code, as `params`.

    The module, options, and modules that are plugins may be functions of the wildcards.
    """

    def of(part, wildcards):
        return part(wildcards) if callable(part) else part

    def code(wildcards):
        if not workflow.is_main_process:  # which alone records parameters
            return ""
        modules = [f"evenhand.{of(module, wildcards)}", *of(plugins, wildcards)]
        return f"{'+'.join(modules)}@{digest(*modules)}"

    def joined(wildcards):
        return Options.join(of(part, wildcards) for part in options)

    return {"files": files, "code": code, "options": joined}


# Snakemake does not record a parameter that `input` has a part in: files are recorded as such.
def files(wildcards, input, output):
    """All named inputs, and the outputs, as options; an output without a name is `--out`."""
    written = dict(output.items()) or {"out": list(output)}
    return file_options(dict(input.items()) | written)


def follow_conventions():
    """Give each rule that has none a log and a benchmark, named after it and its wildcards.

    A rule that does not state its memory and time asks for those of `profiles/resources.yaml`.
    """
    for each in own_rules():
        if not each.shellcmd or not each.output:
            continue
        if not each.log:
            wildcards = dict.fromkeys(re.findall(r"\{\w+", str(each.output[0])))
            place = Path(*(f"{name}}}" for name in wildcards)) if wildcards else "all"
            each.log_modifier = each.benchmark_modifier = each.output_modifier
            each.set_log(f"<logs>/{each.name}/{place}.log")
            each.benchmark = f"<benchmarks>/{each.name}/{place}.jsonl"
        requested = workflow.resource_settings.overwrite_resources.get(each.name, {})
        each.resources.update(Resources.from_mapping(asked(each.name)))
        each.resources.update(requested)


def asked(name):
    """What a rule asks for, and more of it after a failure."""
    default = RESOURCES[workflow.modifier.modify_rulename("default")]
    first = default | RESOURCES.get(name, {})
    gpu = {"gpu": GPU} if first.pop("gpu", False) else {}
    return gpu | {
        resource: lambda wildcards, attempt, amount=amount: amount * attempt
        for resource, amount in first.items()
    }


def options(key, *names):
    """A rule's `params: options`: a section of the configuration, or some of its keys.

    Its key is dotted, or in steps where one is a name, which may hold dots itself.
    """
    steps = key.split(".") if isinstance(key, str) else key
    section = pick(config, *steps)
    return Options(".".join(steps), {name: section[name] for name in names or section})


def shard_options(wildcards):
    """How the corpus of a shard is read, and which bytes of a file that is cut."""
    corpus, shard = SHARDS[wildcards.shard]
    settings = {**SLGUSET["corpora"][corpus]}
    del settings["files"], settings["sources"]
    piece = {"first_byte": shard.first_byte, "end_byte": shard.end_byte}
    return Options(f"slguset.corpora.{corpus}", settings | piece, dict.fromkeys(piece))


def derived(key, values, **others):
    """A rule's `params`: options that are worked out from one key, or from others by name."""
    return Options(None, values, dict.fromkeys(values, key) | others)


def in_report(path, **others):
    """An output that `snakemake --report` shows, as `workflow/report/shown.csv` says."""
    return report(path, **SHOWN[path] | others)


def each_in_report(path, wildcard, names):
    """The outputs of one job that `snakemake --report` shows, one per name."""
    outputs = []
    for name in names:
        labels = {key: word.replace(wildcard, name) for key, word in SHOWN[path]["labels"].items()}
        others = SHOWN[path] | {"labels": labels}
        outputs.append(report(path.replace(wildcard, name), **others))
    return outputs


def folder_in_report(path):
    """A folder of tables that `snakemake --report` shows."""
    return report(directory(path), patterns=["{table}.csv"], **SHOWN[path])


def table(name):
    """An editable table of the pack."""
    return f"{SLGUSET['pack']}/{name}.csv"


def of_pack(*names):
    """A rule's `params`: settings of the pack."""
    return plan_slguset.pack_options(config, *names)


def of_shards(pattern):
    """The pattern's files for all shards of the corpora."""
    return expand(pattern, shard=SHARDS)


def of_set(pattern):
    """The pattern's files in the folder of a set of pairs, for all models that are scored on it."""
    return lambda wildcards: expand(
        f"<results>/stereotypes/{wildcards.set}/{pattern}", model=PAIR_SETS[wildcards.set]
    )


def for_source(pattern):
    """The same for the set that is made of an edition of SlguSet; none without such a set."""

    def files(wildcards):
        name = plan_stereotypes.set_of_edition(config, wildcards.edition)
        return expand(f"<results>/stereotypes/{name}/{pattern}", model=MODELS if name else [])

    return files


def source_of(name):
    """The file of a data source."""
    return source_path(config, SOURCES, name)


def hub(wildcards):
    """A rule's `params: hub`: where on the hub a model is, if it is there."""
    return hub_options(wildcards.model)


def hub_options(model):
    """The same of a model by its name."""
    place = plan_models.hub_place(config, model)
    return Options(f"models.{model}", place, {"hub_name": f"models.{model}.hub"})


# Where a model runs is no change: a parameter that `input` has a part in is not recorded.
def device(wildcards, input):
    """A rule's `params: device`."""
    return config["scoring"]["device"]


#: The threads of a stage whose result depends on their number: Snakemake may grant fewer.
PROCESSORS = options("scoring", "threads")


def named(wildcards):
    """A rule's `params: named`: the data set's name."""
    return Options(None, {"dataset": wildcards.legal})


def published(wildcards):
    """A rule's `params: published`: whether the data set is the one that FairLex released."""
    name = wildcards.legal
    parts = None if name in config["text"]["datasets"] else f"legal.datasets.{name}.parts"
    return derived(parts, {"published": plan_legal.is_published(config, name)})


def blanks(wildcards):
    """A rule's `params: blanks`: whether paragraphs keep their blanks."""
    name = wildcards.legal
    if name in config["text"]["datasets"]:
        return Options(None, {})
    return options(("legal", "datasets", name), "published_blanks")


def reading(wildcards):
    """How a part of a data set is read: its declaration, its format and the format's options."""
    name, part = wildcards.legal, wildcards.part
    how, key = plan_legal.part(config, name, part), plan_legal.section(config, "datasets", name)
    values = {each: how[each] for each in plan_legal.part_options(config, name, part)}
    values["declaration"] = plan_legal.declaration(config, name)
    if name in config["text"]["datasets"]:
        return Options(None, values, {"declaration": key})
    return Options(f"{key}.parts.{part}", values, {"declaration": f"{key}.kind"})


# It decides only whether the job fails: as `device`, it is not recorded.
def positive(wildcards, input):
    """A rule's `params: positive`: the label whose rates are computed."""
    name = wildcards.legal
    if not (entry := config["text"]["datasets"].get(name)):
        return ""
    values = {"positive": plan_legal.as_text(entry["label"]["positive"])}
    return derived(f"text.datasets.{name}.label.positive", values)


def shares(wildcards):
    """The shares of a data set's splits."""
    name = wildcards.legal
    key = plan_legal.section(config, "datasets", name)
    split = ".split" if name in config["text"]["datasets"] else ""
    return derived(f"{key}{split}.shares", {"shares": LEGAL["datasets"][name]["shares"]})


def training_modules(wildcards):
    """The plugins of a training: kind of data set, family of classifiers, objective."""
    family = LEGAL["classifiers"][wildcards.classifier]["kind"]
    return [
        f"evenhand.legal.classifiers.{family}",
        f"evenhand.learning.objectives.{wildcards.objective}",
    ]


def training_inputs(wildcards):
    """The files that a training reads."""
    return plan_classifiers.training_inputs(
        config, wildcards.legal, wildcards.classifier, wildcards.objective, wildcards.attribute
    )


def training_options(wildcards):
    """The options of a training, but its seeds."""
    key = plan_legal.section(config, "classifiers", wildcards.classifier)
    entry = LEGAL["classifiers"][wildcards.classifier]
    values = plan_classifiers.training_options(
        config, wildcards.classifier, wildcards.objective, wildcards.attribute
    )
    keys = {
        **{"classifier": None, "objective": f"{key}.objectives"},
        "attribute": f"{key}.{'groups' if entry['groups'] else 'attributes'}",
        "family": f"{key}.kind",
        "settings": key,
        "objective_options": f"legal.objectives.{wildcards.objective}",
    }
    return Options(key, values, keys)


def all_seeds(wildcards):
    """All seeds of a classifier."""
    seeds = list(range(LEGAL["classifiers"][wildcards.classifier]["seeds"]))
    key = plan_legal.section(config, "classifiers", wildcards.classifier)
    return derived(f"{key}.seeds", {"seeds": seeds})


def encoder_hub(wildcards):
    """Where on the hub a classifier's encoder is, if it is there."""
    return hub_options(LEGAL["classifiers"][wildcards.classifier]["model"])


def of_family(kind):
    """The names of the classifiers of a kind, as a wildcard."""
    return "|".join(map(re.escape, plan_classifiers.classifiers(config, kind))) or NOTHING


def attribute_option(wildcards):
    """The attribute of a data set, unless it is none."""
    name = wildcards.attribute
    return Options(None, {"attribute": None if name == plan_classifiers.NO_ATTRIBUTE else name})


def texts_of(wildcards):
    """Return the file of the cases, or of their counterfactuals, by the wildcard `form`."""
    folder = f"<results>/legal/{wildcards.legal}"
    return f"{folder}/twins.parquet" if wildcards.form else f"{folder}/training/none.parquet"


def made_of_cases(pattern):
    """Return the inputs of the factual cases, for stages that read counterfactuals."""
    return lambda wildcards: pattern.format(**wildcards) if wildcards.form else []


def pretraining(name):
    """What the training of a masked model on a data set's texts goes on from."""
    settings = config["models"][name]["pretrain"]
    cases = f"<results>/legal/{settings['dataset']}"
    return {
        "data": f"{cases}/training/none.parquet",
        "tokens": f"{cases}/tokens/{settings['model']}.arrow",
        "tokens_meta": f"{cases}/tokens/{settings['model']}.json",
        "folder": plan_models.model_folder(config, settings["model"]) or [],
        "hub": hub_options(settings["model"]),
    }


def deliverables(wildcards):
    """Every result that a run is made for."""
    make_again()
    return plan_report.deliverables(config, SHARDS)


def audit_files():
    """What an audit writes."""
    return {
        "out": folder_in_report("<results>/tables/predictions/{predictions}"),
        "cases": "<results>/predictions/{predictions}/cases.parquet",
        "meta": "<results>/predictions/{predictions}/meta.json",
    }


def audited(wildcards):
    """The options of an audit of a classifier."""
    audit = config["predictions"][wildcards.predictions]
    values = {"title": audit["title"], "positive": audit["positive"]}
    key = f"text.datasets.{audit['dataset']}"
    return Options(key, values, {"title": None, "positive": f"{key}.label.positive"})


def titled(titles, **others):
    """Titles by name as options of a page."""
    return Options(None, {"names": list(titles), "titles": list(titles.values())} | others)
