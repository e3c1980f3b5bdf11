import subprocess
import sys

import pytest

from evenhand.errors import InputError
from evenhand.sheets.tasks import write_handed_out
from evenhand.slguset.annotation import TASK
from evenhand.slguset.hand_out import hand_out
from made_sentences import identify


def write(path, *sentences, name="r1"):
    rows = [
        {"round": name, "rank": rank, "sentence_id": identify(text), "sentence": text}
        | {"swapped_sentence": text[::-1], "annotators": "li wang"}
        for rank, text in enumerate(sentences, start=1)
    ]
    write_handed_out(path, TASK, rows)
    return path


def test_the_round_is_entered_once(tmp_path):
    sheet = write(tmp_path / "handed_out.csv", "他在家。", "=1+她")
    target = hand_out(sheet, tmp_path / "ledger")
    assert target == tmp_path / "ledger" / "r1.csv"
    assert target.read_bytes() == sheet.read_bytes()
    assert hand_out(sheet, tmp_path / "ledger") == target


def test_a_ledger_of_an_earlier_version_counts_as_the_same_round(tmp_path):
    sheet = write(tmp_path / "handed_out.csv", "他在家。", "=1+她")
    target = hand_out(sheet, tmp_path / "ledger")
    lines = target.read_text(encoding="utf-8-sig").splitlines()
    former = "\n".join(line.rsplit(",", 2)[0] for line in lines) + "\n"
    target.write_text(former, encoding="utf-8")
    assert hand_out(sheet, tmp_path / "ledger").read_text(encoding="utf-8") == former


def test_another_content_of_the_round_is_refused(tmp_path):
    target = hand_out(write(tmp_path / "a.csv", "他在家。"), tmp_path / "ledger")
    content = target.read_bytes()
    with pytest.raises(InputError, match="a round 'r1' with other content"):
        hand_out(write(tmp_path / "b.csv", "她在家。"), tmp_path / "ledger")
    assert target.read_bytes() == content


def test_a_sentence_of_another_round_is_refused(tmp_path):
    hand_out(write(tmp_path / "a.csv", "他在家。"), tmp_path / "ledger")
    with pytest.raises(InputError, match="a second time"):
        hand_out(write(tmp_path / "b.csv", "她在家。", "他在家。", name="r2"), tmp_path / "ledger")
    with pytest.raises(InputError, match=r"'\.\./r3' cannot name a round"):
        hand_out(write(tmp_path / "c.csv", "她在家。", name="../r3"), tmp_path / "ledger")
    assert [path.name for path in (tmp_path / "ledger").iterdir()] == ["r1.csv"]


def test_the_command_says_what_it_did(tmp_path, repository):
    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "evenhand.slguset.hand_out", *arguments],
            env={"PYTHONPATH": str(repository / "workflow")},
            capture_output=True,
            text=True,
        )

    sheet = write(tmp_path / "handed_out.csv", "他在家。")
    done = run(sheet, tmp_path / "ledger")
    assert (done.returncode, done.stdout.strip()[-6:]) == (0, "r1.csv")
    write(sheet, "她在家。")
    refused = run(sheet, tmp_path / "ledger")
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: ")
    assert "handed_out" in run("--help").stdout.lower()
