"""Do the answers of docs/certified.md hold for biases that are planted another way?

    python benchmarks/independent_trial.py [--seeds 71 72 73] [--out folder]
        [--parts letters notices free people frozen trained]

Writes letters, notices and tables of people with generators of its own, runs the workflow's stages
on them, and writes a row per training into results.csv and means over seeds to the terminal. The
worst cell, IFR and probes (of scikit-learn) are computed here. Nothing of it was used to build the
methods, and no module of the certificate is used.

Letters refer to staff in sentences from templates: five opinion words, of which 75 % match the
label, and four sentences with pronouns, relatives, names and pastimes, of which 88 % match the
gender. 35 % are women, 45 % recommended, and 85 % aligned in training (`letters`) or none
(`free`). Notices have three classes and an attribute of three regions, 80 % aligned. In test,
label and attribute are unrelated. In tables (label 30 % positive, a group of 30 %), the group moves
the log-odds itself (`direct`), or hours and district, which depend on it, do (`proxy`).
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY / "workflow")]
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
WITHOUT = {"erm", "class_balanced", "worst_class", "jtt", "iifr_text"}  # see no groups
REMOVAL = {"leace", "inlp", "adversarial"}
#: IIFR's pairs and table of swaps: all words of the attribute, the shipped table, no table.
IIFR = {"iifr_words": ("counterfactual", "trial"), "iifr_shipped": ("counterfactual", "shipped"),
        "iifr_cosine": ("cosine", "trial")}  # fmt: skip
#: Of each part of texts: what is trained on which texts, with which settings and objectives.
LINEAR, FROZEN = ["batch=32", "epochs=10"], ["batch=32", "epochs=6"]
TRAINED = ["batch=32", "epochs=5", "lr=0.001", "segments=4", "paragraph_tokens=64",
           "keep_weights=False"]  # fmt: skip
PARTS = {
    "letters": ("linear", "letters", LINEAR, ["erm", "class_balanced", "worst_class", "jtt",
                                              *GROUPED, "dfr", *IIFR]),
    "free": ("linear", "free", LINEAR, ["erm", "leace", "inlp"]),
    "notices": ("linear", "notices", LINEAR, ["erm", *GROUPED, "dfr", "jtt"]),
    "frozen": ("frozen", "letters", FROZEN, ["erm", "erm_group_uniform", "leace", "adversarial",
                                             "group_dro", "dfr", "jtt", "inlp"]),
    "frozen_free": ("frozen", "free", FROZEN, ["erm", "leace", "adversarial"]),
    "trained": ("hierarchical", "letters", TRAINED, ["erm", "erm_group_uniform", "leace",
                                                     "adversarial", "group_dro", "jtt"]),
}  # fmt: skip
ENCODERS = {"frozen": "distilbert", "hierarchical": "albert"}
ADVERSARIES = ["alfr", "laftr_dp", "laftr_eo", "cfair", "cfair_eo"]
LOSSES = ["none", "iifr_cosine", "iifr_cosine_without_attribute", "iifr_counterfactual"]


def prepare(folder, kind, seed, sizes):
    """Write texts and build the data set, unless it is there."""
    from evenhand.legal.build_cases import build_cases
    from evenhand.legal.build_training import build_training
    from evenhand.legal.find_attributes import find_attributes
    from evenhand.legal.make_counterfactuals import make_counterfactuals
    from evenhand.legal.read_cases import read_cases

    if folder.exists():
        return
    folder.mkdir(parents=True)
    write_texts(folder / "texts.jsonl", kind, seed, sizes)
    label = {"column": "label", "columns": [], "task": "multi_class", "labels": [], "bins": []}
    group = {"column": "group", "columns": [], "overlapping": False, "bins": [], "extract": None}
    declared = {
        "text": "text", "label": label | {"separator": ";"}, "id": None, "language": "en",
        "title": kind, "attributes": {"group": group}, "split": {"column": "split", "date": None},
    }  # fmt: skip
    read_cases(
        files=[folder / "texts.jsonl"], out=folder / "records.parquet", format="declared",
        quarantine=folder / "left_out.parquet", counts=folder / "read.json",
        declaration=json.dumps(declared),
    )  # fmt: skip
    records, found, cases = folder / "records.parquet", folder / "found", folder / "cases.parquet"
    find_attributes(records=[records], out=found, modules=["given_column"])
    build_cases(
        records=[records], findings=found, out=cases, counts=folder / "counts.json",
        splits=folder / "splits.parquet", duplicates=folder / "duplicates.parquet",
        split_counts=folder / "splits.json",
    )  # fmt: skip
    for attribute in (None, "group", "label+group"):
        out = folder / f"{attribute or 'none'}.parquet"
        build_training(data=cases, out=out, attribute=attribute)
    rows = [f"{a},{b},,\n{b},{a},,\n" for a, b in PAIRS]
    swaps = folder / "swap_trial_en.csv"
    swaps.write_text("word,opposite,opposite_alone,note\n" + "".join(rows))
    shipped = [REPOSITORY / f"resources/legal/swap_gender_en{end}.csv" for end in ("", "_followers")]
    for name, tables in (("trial", [swaps]), ("shipped", shipped)):
        make_counterfactuals(
            data=folder / "none.parquet", tables=tables, out=folder / f"{name}.parquet"
        )


def inputs(folder, family, swap, encoder):
    """Return what a classifier reads; a linear one also counterfactuals by a table of swaps."""
    from evenhand.legal.embed_paragraphs import embed_paragraphs
    from evenhand.legal.fit_tfidf import fit_tfidf
    from evenhand.legal.tokenise_cases import tokenise_cases
    from evenhand.legal.transform_tfidf import transform_tfidf

    swapped, words = folder / f"{swap}.parquet", folder / "words.csv"
    if family == "linear":
        files = {"features": folder / "words.arrow", "counterfactuals": folder / f"{swap}.arrow"}
        if not files["features"].exists():
            data = folder / "none.parquet"
            fit_tfidf(data=data, out=files["features"], vocabulary=words, ngrams=1)
        if not files["counterfactuals"].exists():
            out = files["counterfactuals"]
            transform_tfidf(counterfactuals=swapped, vocabulary=words, out=out)
        return files
    files = [folder / f"{encoder.name}.arrow", folder / f"{encoder.name}.json"]
    if not files[1].exists():
        out, meta = files
        data = folder / "none.parquet"
        tokenise_cases(data=data, out=out, meta=meta, name=encoder.name, model=encoder)
    if family == "hierarchical":
        return dict(zip(("features", "features_meta", "model"), [*files, encoder], strict=True))
    tokens = dict(zip(("tokens", "tokens_meta"), files, strict=True))
    files = [folder / f"{encoder.name}_vectors{file.suffix}" for file in files]
    if not files[1].exists():
        embed_paragraphs(**tokens, out=files[0], meta=files[1], model=encoder)
    return dict(zip(("features", "features_meta"), files, strict=True))


def train_text(folder, part, objective, seed, encoder):
    """Train a classifier, and return its scores on the test texts."""
    from evenhand.legal.predictions import read_predictions
    from evenhand.legal.train_classifier import train_classifier

    family, _, settings, _ = PARTS[part]
    pairs, swap = IIFR.get(objective, ("", "trial"))
    name = "iifr_text" if pairs else objective
    attribute = "group" if name in REMOVAL else "label+group"
    attribute = None if name in WITHOUT else attribute
    out = folder / f"{part}_{objective}.parquet"
    train_classifier(
        data=folder / f"{attribute or 'none'}.parquet", **inputs(folder, family, swap, encoder),
        out=out, history=folder / "history.parquet", family=family, classifier=part,
        objective=name, seeds=[seed], attribute=attribute,
        objective_options=[f"pairs={pairs}"] if pairs else None,
        settings=settings + ([] if attribute is None else ["select=worst_group_f1"]),
        weights=folder / "weights" if family == "hierarchical" else None,
    )  # fmt: skip
    (run,) = read_predictions(out, features=True)
    cases = pd.read_json(folder / "texts.jsonl", lines=True)
    assert list(cases["split"]) == list(run.splits)
    label, group = (cases[name].str[1:].astype(int).values for name in ("label", "group"))
    scores = text_scores(run, label, group)
    return scores | (probes(run, group) if name in {"erm"} | REMOVAL else {})


def text_scores(run, label, group):
    """Return accuracy, worst cell and IFR."""
    from scipy.special import rel_entr, softmax

    test = run.splits == "test"
    right = run.logits.argmax(1) == label
    cells = label * (group.max() + 1) + group
    by_cell = [right[test & (cells == cell)].mean() for cell in np.unique(cells)]
    scores = {"accuracy": right[test].mean(), "worst": min(by_cell)}
    if run.counterfactual_logits is not None:
        there = test & np.isfinite(run.counterfactual_logits).all(1)
        p, q = (softmax(some[there].astype(float), 1)
                for some in (run.logits, run.counterfactual_logits))  # fmt: skip
        divergence = (rel_entr(p, (p + q) / 2) + rel_entr(q, (p + q) / 2)).sum(1) / 2
        scores["ifr_b"] = 100 * (p.argmax(1) == q.argmax(1)).mean()
        scores["ifr_p"] = 100 * (divergence < 1e-3).mean()
    return scores


def probes(run, group):
    """Return the balanced accuracy of fresh classifiers of the attribute."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    train, test, scores = run.splits == "train", run.splits == "test", {}
    values = {"features": run.features.astype(np.float32), "logits": run.logits}
    for source, x in values.items():
        for name, probe in {
            "linear": LogisticRegression(C=0.1, max_iter=300, class_weight="balanced"),
            "mlp": MLPClassifier(32, alpha=0.1, max_iter=60, early_stopping=True, random_state=1),
        }.items():
            model = make_pipeline(StandardScaler(), probe)
            rows = balanced_rows(group, train) if name == "mlp" else np.flatnonzero(train)
            model.fit(x[rows], group[rows])
            scores[f"{source}_{name}"] = balanced_accuracy_score(group[test], model.predict(x[test]))
    return scores


def balanced_rows(group, train):
    """Return training rows, those of rarer groups repeated."""
    some = [np.flatnonzero(train & (group == value)) for value in np.unique(group)]
    return np.concatenate([np.resize(rows, max(map(len, some))) for rows in some])


def train_people(folder, effect, seed):
    """Yield the scores of each method for tables and each weight: one split."""
    from evenhand.learning.train_eidig import train_eidig
    from evenhand.learning.train_table import train_table
    from evenhand.tabular.prepare_table import prepare_table

    folder.mkdir(parents=True, exist_ok=True)
    columns = "dataset,hidden,adversary,learning_rate,batch,epochs,note"
    (folder / "training.csv").write_text(f"{columns}\ndefault,48;24,16,0.5,64,20,other sizes\n")
    write_people(folder / "people.csv", effect, seed)
    files = {"data": folder / "data.parquet", "meta": folder / "data.json"}
    prepare_table(
        files=[folder / "people.csv"], out=files["data"], meta=files["meta"], name="people",
        format="table", label="hired", positive=["yes"], attribute=["group"],
    )  # fmt: skip
    files["training"] = folder / "training.csv"
    for method in ["mlp", "mlp_without_attribute", "majority", *ADVERSARIES, "eidig"]:
        out = folder / f"{method}.parquet"
        parts = {name: folder / f"{method}_{name}.parquet" for name in ("groups", "predictions")}
        if method == "eidig":
            train_eidig(**files, out=out, **parts, seeds=1)
        else:
            grid = {"mus": [0.1, 0.5, 1, 2, 4, 10]} if method in ADVERSARIES else {}
            if method == "mlp":
                grid = {"individual": LOSSES, "lambdas": [0.1, 1], "epsilons": [0.8]}
            train_table(**files, out=out, **parts, method=method, seeds=1, **grid)
        runs = pd.read_parquet(out).assign(deo=lambda rows: rows[["deo_0", "deo_1"]].max(axis=1))
        keys = ["method", "individual", "mu", "lambda"]
        measures = ["acc", "ddp", "deo", "ifr_b", "ifr_p"]
        for key, row in runs.groupby(keys, dropna=False)[measures].mean().iterrows():
            yield dict(zip(keys, key, strict=True)) | row.to_dict()


def encoder_of(out, family, seed):
    """Return the folder of the encoder of a family; letters without a correlation train it."""
    if family not in ENCODERS:
        return None
    folder = out / ENCODERS[family]
    if not folder.exists():
        rng = np.random.default_rng(seed + 1000)
        some = [letter(rng, *rng.integers(0, 2, 2)) for _ in range(2000)]
        write_encoder(folder, folder.name, some, 500, seed)
    return folder


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = [*PARTS, "people"]
    parser.add_argument("--seeds", type=int, nargs="+", default=[71, 72, 73])
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    parser.add_argument("--objectives", nargs="+")
    parser.add_argument("--sizes", type=int, nargs=3, default=[1600, 600, 1500])
    parser.add_argument("--out", type=Path, default=Path("results/independent_trial"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    file, rows = args.out / "results.csv", []
    if file.exists():
        rows = pd.read_csv(file).to_dict("records")
    sizes = dict(zip(("train", "dev", "test"), args.sizes, strict=True))

    def keep(**row):
        rows.append(row)
        pd.DataFrame(rows).to_csv(file, index=False)
        print({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}, flush=True)

    for seed in args.seeds:
        for part in args.parts:
            if part == "people":
                for effect in {"direct", "proxy"} - {r["part"] for r in rows if r["seed"] == seed}:
                    for row in train_people(args.out / f"{effect}_{seed}", effect, seed):
                        keep(part=effect, seed=seed, **row)
                continue
            family, kind, _, objectives = PARTS[part]
            prepare(args.out / f"{kind}_{seed}", kind, seed, sizes)
            encoder = encoder_of(args.out, family, args.seeds[0])
            done = {(row["part"], row["seed"], row["method"]) for row in rows}
            for name in args.objectives or objectives:
                if (part, seed, name) in done:
                    continue
                scores = train_text(args.out / f"{kind}_{seed}", part, name, seed, encoder)
                keep(part=part, seed=seed, method=name, **scores)
    keys = ["part", "method", "individual", "mu", "lambda"]
    frame = pd.DataFrame(rows).reindex(columns=[*dict.fromkeys([*keys, *pd.DataFrame(rows)])])
    means = frame.groupby(keys, dropna=False, sort=False).mean().drop(columns="seed")
    print(means.round(3).to_string())


if __name__ == "__main__":
    main()
