import shutil
from functools import partial
from pathlib import Path

import pytest

from evenhand import extract_sentences, plan_slguset
from evenhand.core.places import ROOT
from evenhand.errors import InputError
from evenhand.slguset.find_keywords import read_word_rules
from evenhand.slguset.inflection import read_inflection
from evenhand.slguset.keywords import read_keywords
from evenhand.slguset.packs import read_pack, with_pack
from evenhand.slguset.patterns import read_patterns

PACKS = sorted((ROOT / "resources/packs").iterdir())


@pytest.mark.parametrize("folder", PACKS, ids=lambda folder: folder.name)
def test_each_pack_can_be_read(folder):
    pack = read_pack(folder)
    assert folder.name == f"{pack['language']}_{pack['attribute']}"
    table = read_keywords(folder / "keywords.csv", pack["values"])
    assert {one.value for one in table.surfaces.values()} == {*pack["values"]}
    read_word_rules(folder / "keyword_words.csv", table)
    read_inflection([*folder.glob("agreement.csv"), *folder.glob("cues.csv")], pack["values"])
    for name in ("biology", "coreference", "pair_fit"):
        for path in folder.glob(f"{name}.csv"):
            read_patterns(path, pack["attribute"], pack["values"])
    assert pack["filters"] or pack["loses"]


@pytest.mark.parametrize(
    ("language", "sentence", "nouns", "neutral"),
    [
        (
            "en",
            "The {} forgot {} umbrella on the old train.",
            {
                "his": "milkman doorman barman handyman butler friar sultan foreman cowboy valet",
                "her": "seamstress ballerina governess sculptress poetess laundress goddess"
                " usherette suffragette dominatrix washerwoman housemaid fishwife masseuse",
            },
            "human fortress specimen cigarette matrix witness plumber",
        ),
        (
            "de",
            "{1} lachte laut, denn {2} war {3} {0} aus dem Süden.",
            {
                "Er er ein": "Knecht Matrose Butler",
                "Sie sie eine": "Winzerin Pianistin Regentin Fabrikantin Senatorin Hexe Diva",
            },
            "Person",
        ),
    ],
)
def test_a_noun_of_one_gender_is_not_left(language, sentence, nouns, neutral, tmp_path):
    text = "\n".join(
        sentence.format(noun, *words.split())
        for words, group in nouns.items()
        for noun in [*group.split(), *neutral.split()]
    )
    (tmp_path / "a.txt").write_text(text)
    rows = extract_sentences(tmp_path, language=language, filters=["coreference"])
    kept = rows.query("verdict == 'accepted'")
    left = {noun for noun in neutral.split() if kept["sentence"].str.contains(noun).sum() == 2}
    assert left == {*neutral.split()} and len(kept) == 2 * len(left)


def test_counterparts_are_exchanged_with_the_pronoun(tmp_path):
    pairs = [("headmaster", "headmistress"), ("postman", "postwoman"), ("nobleman", "noblewoman")]
    text = "\n".join(f"The {man} forgot his umbrella on the old train." for man, _ in pairs)
    (tmp_path / "a.txt").write_text(text)
    rows = extract_sentences(tmp_path, language="en")
    assert {*rows["verdict"]} == {"accepted"}
    assert {tuple(span["text"] for span in spans) for spans in rows["spans"]} == {
        (woman, "her") for _, woman in pairs
    }


@pytest.mark.parametrize(
    ("language", "reason", "rejected", "accepted"),
    [
        (
            "de",
            "biology",
            "Die Ärztin gebar im Sommer zwei Kinder.|Die Lehrerin brachte im Mai ein Kind zur Welt."
            "|Die Lehrerin hat in Berlin ein Kind geboren.|Die Köchin stillte das Kind am Abend."
            "|Die Köchin erlitt im Mai eine Fehlgeburt.|Die Lehrerin bekam im Mai die Regel."
            "|Der Bäcker litt an einem Prostatakarzinom.",
            "Die Lehrerin wurde im Mai geboren.|Die Lehrerin kam im Mai in Berlin zur Welt.",
        ),
        (
            "en",
            "biology",
            "Her period started early that morning.|The waitress is expecting a baby in May."
            "|The waitress was in labour for hours.",
            "During her period in office taxes fell.|The waiter was born in a small town.",
        ),
        (
            "en",
            "deny_list",
            "Every man for himself, they shouted.|He who laughs last laughs best."
            "|The founding fathers wrote a text.|That is an old wives' tale about the moon.",
            "Every man in the room was tired.",
        ),
        (
            "de",
            "deny_list",
            "Der Wirt wehrt sich gegen den Parasiten.|Die Tochter des Konzerns verdient viel Geld."
            "|Der Trainer der Herren-Mannschaft lachte.|Die Lehrerin wohnt neben dem Frauenhaus."
            "|Der Mann fürchtet den Feminismus.|Wir kennen einen Koch namens Wusel."
            "|Eine Sparkasse wird der Eigentümer.|Mein Opa war damals im Krieg."
            "|Die Mutter wärmt die Küken."
            "|Der Nachbar verklagt das Land wegen Lärm.",
            "Der Wirt wehrt sich gegen den Lärm.|Der Nachbar verklagt die Stadt wegen Lärm.",
        ),
        (
            "de",
            "name",
            "Der Arzt fand damals Traugotts Mantel.|Der Arzt fand dort Vinzenz im Garten.",
            "Der Arzt fand dort den Mantel im Garten.",
        ),
        (
            "de",
            "pair_fit",
            "Wir lasen zu Hause „Der Patient“ im Garten.|Das ist die Rechnung ohne den Wirt.",
            "„Der Patient schläft, sei still“, sagte man.",
        ),
        (
            "ja",
            "deny_list",
            "夫は皇太子の公務を助けた。|この女性には薄毛の悩みがある。|彼女は黒いドレスを着ていた。"
            "|「知りませんわ」と彼女は言った。|母の振り袖を借りて式に出た。|妻と女性専用の部屋に泊まった。",
            "この女性は精神的な苦痛を受けた。|息子は毎朝犬の散歩に行く。",
        ),
        (
            "ja",
            "pair_fit",
            "母の日に花を贈るのが習慣だ。|失敗は成功の母であると言われる。|歌詞は『少年の魔法の角笛』による。"
            "|曲集「母の歌」で世に出た。",
            "『少年が来た』と言って駅で待った。|「母が来た」と言って駅で待った。",
        ),
        (
            "ja",
            "not_a_gender_term",
            "私は聖心女子学院を卒業した。|女性は髪が薄くなるのが特徴だ。|４０歳以上の男性に多い病気だ。"
            "|この催しは男性限定であった。|大会の男子100kg級で優勝した。|先週は兄島に行ってきました。"
            "|看板にお父さんパンダがいます。|男の恋愛は空想でなくなる。|夫れに比べて山は高かった。",
            "私は女子学生と学院を卒業した。|レジの女性は髪が長くて親切だった。|女性店員の対応に困った。"
            "|フロントの女性が親切でした。|男の声は電話では低く聞こえた。",
        ),
        (
            "ja",
            "name",
            "田中さんの弟さんは元気です。|ジョーカーの母が住んでいた家だ。|店員さんに弟さんを紹介した。",
            "弟さんは元気ですか、と聞いた。|おばあさんは山奥に住んでいる。|お母様はお元気でしょうか。",
        ),
        (
            "ja",
            "several_keywords",
            "久しぶりにおじいちゃんとおばあちゃんに会った。|活躍中の女優では最も有名な女優だ。",
            "おばあちゃんと出かけて楽しかった。",
        ),
    ],
)
def test_a_sentence_that_only_one_word_suits_is_rejected(
    language, reason, rejected, accepted, tmp_path
):
    verdicts = dict.fromkeys(rejected.split("|"), reason)
    verdicts |= dict.fromkeys(filter(None, accepted.split("|")), "accepted")
    (tmp_path / "a.txt").write_text("\n".join(verdicts), encoding="utf-8")
    rows = extract_sentences(tmp_path, language=language)
    assert dict(zip(rows["sentence"], rows["verdict"], strict=True)) == verdicts


def test_a_pack_gives_what_the_configuration_leaves_open():
    default = str(ROOT / "resources/packs/zh_gender")
    written = {"slguset": {"find_keywords": {"max_length": 50}}}
    added = with_pack(written, default)["slguset"]
    assert added["filters"] == read_pack(Path(default))["filters"]
    assert added["find_keywords"]["max_length"] == 50
    chosen = {"slguset": {"filters": ["biology"]}}
    assert with_pack(chosen, default)["slguset"]["filters"] == ["biology"]
    assert with_pack({"slguset": 3}, default) == {"slguset": 3}


@pytest.mark.parametrize(
    ("name", "segmenter", "biology", "agreement", "genders"),
    [
        ("zh_age", "characters", "zh_gender", [], False),
        ("de_gender", "spacy", "de_gender", ["agreement.csv", "cues.csv"], True),
    ],
)
def test_the_plan_reads_modules_and_files_of_a_pack(name, segmenter, biology, agreement, genders):
    config = {"slguset": {"pack": f"resources/packs/{name}"}}
    splitter = plan_slguset.pack_of(config)["splitter"]
    assert plan_slguset.text_modules(config, "splitter", "segmenter") == [
        f"evenhand.text.splitters.{splitter}",
        f"evenhand.text.segmenters.{segmenter}",
    ]
    place = plan_slguset.pack_file(config, "biology.csv")
    assert place == f"resources/packs/{biology}/biology.csv"
    assert plan_slguset.agreement_files(config) == [
        f"resources/packs/{name}/{file}" for file in agreement
    ]
    assert plan_slguset.compares_genders(config) is genders
    assert dict(plan_slguset.pack_options(config, "segmenter")) == {"slguset.pack": segmenter}


def test_a_folder_without_a_pack_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no pack"):
        read_pack(tmp_path)
    (tmp_path / "pack.yaml").write_text("title: x\nattribute: Gender\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"pack\.yaml"):
        read_pack(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("pronouns: er/sie", "pronouns: er-sie", r"pronouns is \"er-sie\"; it must be .* stroke"),
        ("several: true", "compounds: [x]", r"compounds\.0 is \"x\"; it must be .* stroke"),
        ("several: true", "based_on: none", r"based_on is none, and no pack beside this one, or"),
        (
            "answer Urteil",
            "anser Urteil",
            r"headings\.4 is .*; it must be .*with the name of a col",
        ),
        ("several: true", "synonyms: [ja yes]", r"synonyms\.0 is .*accept, reject or unsure last"),
        ("min_length: 20", "min_length: 400", r"find_keywords: no length is at least 400 and at"),
        ("language: de", "language: qq", r"spaCy has no rules for the language 'qq'"),
    ],
)
def test_an_error_in_a_pack_names_its_file(tmp_path, old, new, problem):
    folder = shutil.copytree(ROOT / "resources/packs/de_gender", tmp_path / "mine")
    (tmp_path / "a.txt").write_text("Die Frau arbeitet heute mit dem Hund im Garten.")
    text = (folder / "pack.yaml").read_text("utf-8")
    assert old in text
    (folder / "pack.yaml").write_text(text.replace(old, new), "utf-8")
    with pytest.raises(InputError, match=rf"^{folder}/pack\.yaml: {problem}"):
        extract_sentences(tmp_path / "a.txt", pack=folder)


def test_a_pack_is_based_on_one_beside_it_or_on_one_that_is_shipped(tmp_path):
    folder = shutil.copytree(ROOT / "resources/packs/en_gender", tmp_path / "mine")
    (folder / "deny_list.csv").unlink()
    path = folder / "pack.yaml"
    path.write_text(f"{path.read_text('utf-8')}based_on: en_gender\n", "utf-8")
    find = partial(plan_slguset.pack_file, {"slguset": {"pack": str(folder)}})
    assert find("deny_list.csv") == "resources/packs/en_gender/deny_list.csv"
    assert find("keywords.csv") == f"{folder}/keywords.csv"
    (tmp_path / "en_gender").mkdir()
    assert find("deny_list.csv") == f"{tmp_path}/en_gender/deny_list.csv"


def test_a_word_in_traditional_characters_is_refused_as_it_would_never_be_matched(tmp_path):
    folder = shutil.copytree(ROOT / "resources/packs/zh_gender", tmp_path / "zh_gender")
    table = folder / "keywords.csv"
    table.write_text(table.read_text("utf-8").replace("妈妈", "媽媽"), encoding="utf-8")
    with pytest.raises(InputError, match=r"keywords.csv:\d+: '.*媽媽' is not .* write .*妈妈"):
        read_pack(folder)
