import json
from itertools import product

import pytest

from evenhand.errors import InputError
from evenhand.slguset.names_crf_model import NameModel, features, labels
from evenhand.slguset.train_names_crf import choose_threshold, hash_position, train_names_crf

SURNAMES, GIVEN = "王李张刘陈杨赵黄周吴", ["小丫", "明", "建国", "丽华", "志强", "海燕", "芳"]
FRAMES = ["昨天{}看望了她。", "{}在会上说。", "记者{}报道。", "他和{}是同学。"]
CLEAN = ["昨天他看望了{}。", "{}在会上说话。", "她和{}是朋友。", "他们说{}很好。"]
WORDS = ["工人", "农民", "老师", "学生", "医生", "记者", "邻居", "朋友", "客人", "孩子", "老人"]


@pytest.fixture
def corpus(tmp_path):
    """280 sentences with a made name and 44 without, in CLUENER's format."""
    records = []
    for surname, given, frame in product(SURNAMES, GIVEN, FRAMES):
        name = surname + given
        start = frame.index("{")
        spans = {name: [[start, start + len(name) - 1]]}
        records.append({"text": frame.format(name), "label": {"name": spans}})
    records += [{"text": f.format(w), "label": {}} for f, w in product(CLEAN, WORDS)]
    file = tmp_path / "tagged.json"
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


@pytest.fixture
def train(corpus, tmp_path, repository):
    def run(name="crf", **options):
        paths = {"model": tmp_path / f"{name}.crfsuite", "report": tmp_path / f"{name}.json"}
        counts = train_names_crf(
            corpora=[corpus],
            formats=["cluener"],
            keywords=repository / "resources/packs/zh_gender/keywords.csv",
            **paths,
            **options,
        )
        return paths, counts

    return run


def test_model_and_report(train, tmp_path):
    paths, counts = train()
    report = json.loads(paths["report"].read_text(encoding="utf-8"))
    assert report["threshold"] == counts["threshold"]
    assert counts["trained_on"] + counts["held_out"] == 324
    assert report["trained_on"]["sentences"] == counts["trained_on"]
    single = report["held_out"]["single_keyword"]["together"]
    assert 0 < single["with_name"] < single["sentences"] == counts["held_out_single_keyword"]
    chosen = next(r for r in single["by_threshold"] if r["threshold"] == report["threshold"])
    assert chosen["recall"] >= 0.93
    thresholds = [row["threshold"] for row in single["by_threshold"]]
    assert thresholds == sorted({*thresholds}) and thresholds[0] > 0 and thresholds[-1] < 1
    assert chosen["precision"] > 0.8
    model = NameModel(paths["model"])
    assert [*model.find_names(["昨天孙晓红看望了她。", ""], 0.1)] == [[(2, 5)], []]
    ((*words,),) = model.words(["昨天她看望了老人。"])
    assert max(probability for _, _, probability in words) < 0.5
    train("again")
    for name in ("crfsuite", "json"):
        assert (tmp_path / f"again.{name}").read_bytes() == (tmp_path / f"crf.{name}").read_bytes()


def test_a_source_is_measured_by_a_model_of_the_others(corpus, train, tmp_path, repository):
    paths, _ = train()
    assert json.loads(paths["report"].read_text(encoding="utf-8"))["other_sources"] is None
    other = tmp_path / "other.txt"
    lines = [
        f"1998010{day}-01-001-00{n}/m  昨天/t  {surname}/nr  {given}/nr  看望/v  了/u  她/r  。/w"
        for day, surname in enumerate("钱孙郑冯", start=1)
        for n, given in enumerate(("卫东", "秀英", "小平", "玉"), start=1)
    ]
    other.write_text("\n".join(lines), encoding="utf-8")
    report = tmp_path / "two.json"
    train_names_crf(
        corpora=[corpus, other],
        formats=["cluener", "pku"],
        keywords=repository / "resources/packs/zh_gender/keywords.csv",
        model=tmp_path / "two.crfsuite",
        report=report,
        recall=0.9,
    )
    document = json.loads(report.read_text(encoding="utf-8"))
    assert document["threshold_from"] == "other_sources"
    assert document["other_sources"]["1"]["with_name"] == 16  # the whole corpus
    assert document["other_sources"]["together"]["with_name"] > 100
    held = document["held_out"]["all"]["1"]["sentences"]
    assert held % 4 == 0  # whole articles


def test_held_out_sentences_follow_from_their_hash():
    sentences = [f"第{number}句。" for number in range(2_000)]
    held = [s for s in sentences if hash_position(s, 0) < 0.2]
    assert 330 < len(held) < 470
    assert held != [s for s in sentences if hash_position(s, 1) < 0.2]


def test_labels():
    words = ["昨天", "王", "小", "丫", "和", "李明白", "来"]
    assert labels(words, [(2, 5), (6, 8)]) == ["O", "B", "I", "I", "O", "B", "O"]
    assert labels(["张", "三丰"], [(0, 2)]) == ["B", "I"]
    assert list(map(len, features([words, []]))) == [len(words), 0]


def test_threshold(capsys):
    assert choose_threshold([0.9, 0.8, 0.7, 0.105], 0.75) == 0.69
    assert choose_threshold([0.9, 0.8, 0.7, 0.105], 0.93) == 0.1
    with pytest.raises(InputError, match=r"recall of 0\.500 at most"):
        choose_threshold([0.9, 0.001], 0.93)
    assert choose_threshold([0.9, 0.001], 0.93, lowest=True) == 0.01
    assert "the model reaches a recall of 0.500 at most" in capsys.readouterr().err
    with pytest.raises(InputError, match="has a name"):
        choose_threshold([], 0.93)
