"""Do the answers of docs/certified.md hold for biases that are planted another way?

    python benchmarks/independent_trial.py [--seeds 71 72 73] [--parts linear frozen trained tables]
        [--out folder]

Writes letters, notices and tables of people with generators of its own, runs the workflow on them
as a user would, and prints the means over the seeds. Nothing of it was used to build the methods.

Letters refer to staff in sentences from templates: five opinion words, of which 75 % match the
label, and four sentences with pronouns, relatives, names and pastimes, of which 88 % match the
gender. 35 % are women, 45 % recommended, and 85 % aligned in training (`letters`) or none
(`free`). Notices have three classes and an attribute of three regions, 80 % aligned. In test,
label and attribute are unrelated. In tables (label 30 % positive, a group of 30 %), the group moves
the log-odds itself (`direct`), or hours and district, which depend on it, do (`proxy`).
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

REPOSITORY = Path(__file__).resolve().parents[1]
PAIRS = [line.split() for line in (
    "he she|his her|husband wife|father mother|brother sister|son daughter|uncle aunt|"
    "Mr Ms|Karl Karla|Peter Petra|Hans Hanna|Otto Olga|Bruno Berta|Emil Emma|Felix Frieda|"
    "Georg Greta|Ivan Ida|Lars Lena|football choir|fishing knitting|motorbikes gardens"
).split("|")]  # fmt: skip
PRONOUN, POSSESSIVE, RELATIVES, MISTER = PAIRS[0], PAIRS[1], PAIRS[2:7], PAIRS[7]
NAMES, PASTIMES = PAIRS[8:18], PAIRS[18:]
GENDERED = """{he} came to us in {year} with {his} {relative}
{mr} {name} likes {pastime} and talks of {his} {relative} about it
we met {name} when {his} {relative} rented the {noun} next door
after work {he} goes to {pastime} with a {relative}
{name} told us that {he} grew up near the {noun}
on Sundays {he} is busy with {pastime} and {his} {noun}""".split("\n")
OPINIONS = """the {noun} was {opinion} in every month of {year}
a colleague found the work on the {noun} {opinion}
guests called the {noun} {opinion} more than once
the manager of the {noun} wrote that the shift had been {opinion}
as for the {noun} , our records say {opinion}""".split("\n")
NEUTRAL = """the {noun} is between the {noun} and the old {noun}
in {year} the company moved its {noun} to another street
the {noun} opens at eight and closes at six
this letter is about the {noun} and the time until {year}""".split("\n")
OPINION = [
    "careless late slow messy rude wrong noisy dull broken weak lazy cold".split(),
    "careful punctual quick tidy polite right calm bright solid strong eager warm".split(),
]
NOUNS = """kitchen office desk garden archive cellar bar hall bakery counter terrace library roof
stable market warehouse clinic school harbour press lift fountain bridge depot laundry studio
theatre pool gallery canteen reception workshop""".split()
TOPICS = [
    "match goal coach league medal race referee stadium".split(),
    "concert novel painter stage poem museum film violin".split(),
    "loan share tax export factory profit merger wage".split(),
]
REGIONS = [
    "Sandby Muschel Lyhaven herring ferry dune lighthouse".split(),
    "Steinach Hochtal Graubach cheese glacier pass hut".split(),
    "Altmarkt Nordtor Ringstadt tram tower subway plaza".split(),
]
NOTICES = """the {topic} was discussed for an hour yesterday
readers asked us about the {topic} and the {noun}
nobody expected such a {topic} in {year}""".split("\n")
PLACES = """our reporter wrote this near the {place} by the {noun}
people of the {place} know the {noun} well
it took place in sight of the {place}""".split("\n")

HARMONIC = (1 / np.arange(1, 100)).cumsum()


def zipf(rng, words):
    """Draw a word by Zipf's law."""
    shares = HARMONIC[: len(words)] / HARMONIC[len(words) - 1]
    return words[int(np.searchsorted(shares, rng.random()))]


def fill(rng, template, gender=0, **words):
    """Fill in a template; words of a gender are of one pair each."""
    pair = dict(he=PRONOUN, his=POSSESSIVE, mr=MISTER)
    drawn = dict(relative=zipf(rng, RELATIVES), name=zipf(rng, NAMES), pastime=zipf(rng, PASTIMES))
    filled = {key: value[gender] for key, value in (pair | drawn).items()}
    nouns = iter(zipf(rng, NOUNS) for _ in range(3))
    while "{noun}" in template:
        template = template.replace("{noun}", next(nouns), 1)
    return template.format(**filled, **words, year=2001 + int(rng.integers(0, 20)))


def other(rng, value, share, values):
    """Return a value by a share, else another one."""
    return value if rng.random() < share else int((value + rng.integers(1, values)) % values)


def letter(rng, label, gender):
    """Return a letter, four lines."""
    some = [fill(rng, t, other(rng, gender, 0.88, 2)) for t in rng.choice(GENDERED, 4)]
    for template in rng.choice(OPINIONS, 5):
        opinion = zipf(rng, OPINION[other(rng, label, 0.75, 2)])
        some.append(fill(rng, template, opinion=opinion))
    return lines(rng, some + [fill(rng, t) for t in rng.choice(NEUTRAL, 3)])


def notice(rng, label, region):
    """Return a notice, four lines."""
    some = [
        fill(rng, t, topic=zipf(rng, TOPICS[other(rng, label, 0.7, 3)]))
        for t in rng.choice(NOTICES, 4)
    ]
    for template in rng.choice(PLACES, 4):
        some.append(fill(rng, template, place=zipf(rng, REGIONS[other(rng, region, 0.85, 3)])))
    return lines(rng, some + [fill(rng, t) for t in rng.choice(NEUTRAL, 3)])


def lines(rng, sentences):
    """Return sentences in random order, three a line."""
    sentences = [f"{s[0].upper()}{s[1:]} ." for s in rng.permutation(sentences)]
    return "\n".join(" ".join(sentences[at : at + 3]) for at in range(0, len(sentences), 3))


LETTERS = np.array([[0.525, 0.025], [0.125, 0.325]])  # label x gender
SHARES = np.array([0.5, 0.3, 0.2])
TEXTS = {  # joint shares of label and attribute in training, and what writes a text
    "letters": (LETTERS, letter),
    "free": (np.outer(LETTERS.sum(1), LETTERS.sum(0)), letter),
    "notices": (SHARES[:, None] * (0.1 + 0.7 * np.eye(3)), notice),
}


def write_texts(file, kind, seed, sizes):
    """Write texts of three splits; in test, label and attribute are unrelated."""
    rng = np.random.default_rng([seed, *kind.encode()])
    joint, write = TEXTS[kind]
    rows = []
    for split, size in sizes.items():
        cells = np.outer(joint.sum(1), joint.sum(0)) if split == "test" else joint
        for cell in rng.choice(cells.size, size, p=cells.ravel()):
            label, group = divmod(int(cell), len(joint))
            row = {"text": write(rng, label, group), "label": f"l{label}", "group": f"g{group}"}
            rows.append(row | {"split": split})
    pd.DataFrame(rows).to_json(file, orient="records", lines=True)


def write_people(file, effect, seed, n=1500):
    """Write a table of people."""
    rng = np.random.default_rng([seed, *effect.encode()])
    group, proxy = rng.random(n) < 0.3, effect == "proxy"
    age, education = 18 + rng.gamma(4, 6, n), rng.normal(size=n)
    income = np.exp(0.5 * education + 0.4 * rng.normal(size=n))
    hours = 38 + 4 * rng.normal(size=n) + 7 * group * proxy
    shares = np.where((group & proxy)[:, None], [0.1, 0.1, 0.3, 0.5], [0.4, 0.3, 0.2, 0.1])
    district = (rng.random((n, 1)) > shares.cumsum(1)).sum(1)
    logit = 1.2 * education + np.log(income) - 0.6 * ((age - 42) / 14) ** 2
    logit += 0.6 * education * (income > 1) + 3 * group * (effect == "direct")
    logit += proxy * (0.3 * (hours - 38) + 0.6 * (district - 1))
    score = logit + 0.5 * rng.logistic(size=n)
    hired = np.where(score > np.quantile(score, 0.7), "yes", "no")
    columns = dict(age=age, education=education, income=income, hours=hours)
    named = dict(district=np.array(list("NESW"))[district], group=np.where(group, "b", "a"))
    pd.DataFrame(columns | named | {"hired": hired}).round(3).to_csv(file, index=False)


def write_encoder(folder, kind, texts, steps, seed):
    """Train a tiny masked language model, and write it with a tokenizer of whole words."""
    import torch
    from transformers import AutoConfig, AutoModelForMaskedLM, BertTokenizerFast

    folder.mkdir()
    words = sorted({word for text in texts for word in text.lower().split()})
    (folder / "vocab.txt").write_text("\n".join("[PAD] [UNK] [CLS] [SEP] [MASK]".split() + words))
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64)
    tokenizer.save_pretrained(folder)
    own = {
        "distilbert": dict(dim=48, hidden_dim=96, n_layers=2, n_heads=4),
        "albert": dict(hidden_size=48, intermediate_size=96, num_hidden_layers=2,
                       num_attention_heads=4, embedding_size=24),
    }[kind]  # fmt: skip
    config = AutoConfig.for_model(
        kind, vocab_size=len(tokenizer), max_position_embeddings=64, pad_token_id=0, **own
    )
    torch.manual_seed(seed)
    model = AutoModelForMaskedLM.from_config(config).train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3)
    rows = [line for text in texts for line in text.split("\n")]
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        batch = tokenizer(list(rng.choice(rows, 32)), padding=True, return_tensors="pt")
        ids = batch["input_ids"]
        hidden = (torch.rand(ids.shape) < 0.25) & (ids > 4)
        masked = ids.masked_fill(hidden, tokenizer.mask_token_id)
        result = model(
            input_ids=masked,
            attention_mask=batch["attention_mask"],
            labels=ids.masked_fill(~hidden, -100),
        )
        result.loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    print(f"{kind}: loss of masked words {result.loss.item():.2f}", flush=True)
    model.save_pretrained(folder)


GROUPED = ["erm_group_uniform", "group_dro", "v_rex", "irm", "leace", "inlp"]
UNGROUPED = ["erm", "class_balanced", "worst_class", "jtt"]
ALL = [*UNGROUPED, *GROUPED, "dfr"]
#: Of each part: the kind, its keys, and its objectives on each kind of texts.
PARTS = {
    "linear": (
        {"kind": "linear", "batch": 32, "epochs": 10, "features": 1000, "ngrams": 2},
        {"letters": [*ALL, "iifr_text"], "free": ["erm", "leace", "inlp"],
         "notices": ["erm", *GROUPED, "dfr", "jtt"]},
    ),
    "frozen": (
        {"kind": "frozen", "model": "distilbert", "batch": 32, "epochs": 8},
        {"letters": ["erm", *GROUPED, "jtt", "dfr", "adversarial", "iifr_text"],
         "free": ["erm", "leace", "inlp", "adversarial"]},
    ),
    "trained": (
        {"kind": "hierarchical", "model": "albert", "batch": 32, "epochs": 6,
         "learning_rate": 1e-3, "keep_weights": False, "segments": 4, "paragraph_tokens": 64},
        {"letters": ["erm", "erm_group_uniform", "group_dro", "leace", "adversarial", "jtt",
                     "iifr_text"]},
    ),
}  # fmt: skip
#: Runs of IIFR: its pairs, and the table of swaps.
IIFR = {"words": ("counterfactual", "trial"), "shipped": ("counterfactual", "gender"),
        "cosine": ("cosine", "trial")}  # fmt: skip
ADVERSARIES = ["alfr", "laftr_dp", "laftr_eo", "cfair", "cfair_eo"]


def text_config(part, files, folder, pairs, swap, plain_only):
    """Return a configuration that trains a part's classifiers on files of texts."""
    entry, objectives = PARTS[part]
    models = {name: {"path": str(folder / name)} for name in [entry.get("model")] if name}
    datasets, classifiers = {}, {}
    for kind, names in objectives.items():
        names = ["erm", "iifr_text"] if plain_only else names
        here = [file for file in files if file.stem.startswith(kind) and "iifr_text" in names]
        if not plain_only:
            here = [file for file in files if file.stem.startswith(kind)]
        for file in here:
            datasets[file.stem] = {
                "files": [str(file)], "text": "text", "language": "en", "split": {"column": "split"},
                "label": {"column": "label", "task": "multi_class"}, "tokenizers": [*models],
                "attributes": {"group": {"column": "group"}},
            }  # fmt: skip
        if here:
            classifiers[f"{part}_{kind}"] = entry | {
                "datasets": [file.stem for file in here], "objectives": names, "seeds": 1,
                "groups": ["label", "group"], "select": "worst_group_f1",
                "counterfactuals": kind == "letters",
            }  # fmt: skip
    return {
        "models": models,
        "text": {"datasets": datasets, "classifiers": classifiers},
        "legal": {
            "objectives": {"iifr_text": [f"pairs={pairs}"]}, "tables": str(folder / "tables"),
            "swap": swap, "resamples": 100,
        },
    }  # fmt: skip


def people_config(files, folder):
    """Return a configuration that trains the methods for tables, on networks of other sizes."""
    columns = "dataset,hidden,adversary,learning_rate,batch,epochs,note"
    (folder / "training.csv").write_text(f"{columns}\ndefault,48;24,16,0.5,64,20,other sizes\n")
    datasets = {
        file.stem: {"format": "table", "files": [str(file)], "label": "hired", "positive": "yes",
                    "attribute": "group"}
        for file in files
    }  # fmt: skip
    losses = ["iifr_cosine", "iifr_cosine_without_attribute", "iifr_counterfactual"]
    return {
        "individual_fairness": {
            "datasets": datasets, "seeds": 2, "training": str(folder / "training.csv"),
            "methods": ["mlp", "mlp_without_attribute", "majority", *ADVERSARIES],
            "individual": ["none"], "grids": {"mlp": {"individual": ["none", *losses]}},
            "lambdas": [0.1, 1], "eidig": {"seeds": 1},
        }
    }  # fmt: skip


def run(config, name, folder, whole=False):
    """Run the workflow, whole or for the tables alone, and return their folder."""
    config |= {"results": str(folder / name), "cache": {"folder": str(folder / "cache")}}
    file = folder / f"{name}.yaml"
    file.write_text(json.dumps(config, indent=1))
    targets = [] if whole else [
        f"{config['results']}/tables/classifiers/{data}" for data in config["text"]["datasets"]
    ]
    command = ["-m", "evenhand", "run", str(file), *targets, "--cores", "1", "--quiet"]
    subprocess.run([sys.executable, *command], check=True, cwd=REPOSITORY)
    return folder / name / "tables"


def read(tables, name):
    """Read a table of all classifiers of a run, with a column for the kind of texts."""
    files = sorted(tables.glob(f"classifiers/*/{name}.csv"))
    frame = pd.concat([pd.read_csv(file).assign(data=file.parent.name) for file in files])
    return frame.assign(texts=frame["data"].str.split("_").str[0])


def text_results(tables):
    """Return accuracy, worst cell, IFR and probes of each classifier, objective and data set."""
    keys = ["texts", "classifier", "objective", "data"]
    worst = read(tables, "mitigation").set_index(keys)[["accuracy", "worst"]] / 100
    probes = read(tables, "attribute_leakage")
    probes["name"] = probes["read_from"] + "_" + probes["probe"]
    probes = probes.pivot_table(index=keys, columns="name", values="score") / 100
    return worst.join(probes).join(swaps(tables, keys), how="left")


def swaps(tables, keys):
    """Return IFR by swapped texts."""
    try:
        frame = read(tables, "counterfactual")
    except ValueError:
        return pd.DataFrame(index=pd.MultiIndex.from_tuples([], names=keys))
    frame = frame[(frame["split"] == "test") & frame["measure"].str.startswith("ifr")]
    return frame.pivot_table(index=keys, columns="measure", values="value")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = [*PARTS, "tables"]
    parser.add_argument("--seeds", type=int, nargs="+", default=[71, 72, 73])
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    parser.add_argument("--out", type=Path, default=Path("results/independent_trial"))
    parser.add_argument("--sizes", type=int, nargs=3, default=[1600, 600, 1500])
    args = parser.parse_args()
    folder = args.out.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "tables").exists():
        shutil.copytree(REPOSITORY / "resources/legal", folder / "tables")
        rows = [f"{a},{b},,\n{b},{a},,\n" for a, b in PAIRS]
        swap = "word,opposite,opposite_alone,note\n" + "".join(rows)
        (folder / "tables/swap_trial_en.csv").write_text(swap)
    sizes = dict(zip(("train", "dev", "test"), args.sizes, strict=True))
    texts = [folder / f"{kind}_{seed}.jsonl" for kind in TEXTS for seed in args.seeds]
    for file in texts:
        if not file.exists():
            kind, seed = file.stem.split("_")
            write_texts(file, kind, int(seed), sizes)
    people = [folder / f"{effect}_{s}.csv" for effect in ("direct", "proxy") for s in args.seeds]
    for file in people:
        write_people(file, *file.stem.split("_")[:1], int(file.stem.split("_")[1]))
    for part in args.parts:
        if part == "tables":
            tables = run(people_config(people, folder), part, folder)
            grid = pd.read_csv(tables / "individual/grid.csv")
            print(grid.to_csv())
            continue
        encoder = PARTS[part][0].get("model")
        if encoder and not (folder / encoder).exists():
            rng = np.random.default_rng(args.seeds[0] + 1000)
            some = [letter(rng, *rng.integers(0, 2, 2)) for _ in range(2000)]
            write_encoder(folder / encoder, encoder, some, 600, args.seeds[0])
        for name, (pairs, swap) in IIFR.items():
            config = text_config(part, texts, folder, pairs, swap, name != "words")
            found = text_results(run(config, f"{part}_{name}", folder))
            found.to_csv(folder / f"{part}_{name}.csv")
            means = found.groupby(level=[0, 1, 2]).agg(["mean", "min", "max"])
            print(f"\n{part}, {name}\n{means.round(3).to_string()}", flush=True)


if __name__ == "__main__":
    main()
