"""Print the failed measures of a certificate, and exit with 1 if there are any.

python -m evenhand.certificates.check results/certificate
"""

import sys
from pathlib import Path

from evenhand.certificates.certify import failed
from evenhand.core.tables import read_table
from evenhand.errors import InputError


def main(folder: Path) -> int:
    """Print the failed measures, and return the exit status."""
    path = folder / "certificate.csv"
    if not path.is_file():
        raise InputError("is no certificate", file=path, remedy="run make certify")
    rows = read_table(path)
    for words in failed(rows):
        print(f"failed: {words}", file=sys.stderr)
    certified = sum(row["verdict"] == "certified" for row in rows)
    known = sum(row["verdict"] == "known_failure" for row in rows)
    lost = len(failed(rows))
    print(f"{certified} measures certified, {known} known failures, {lost} failed: {path}")
    return int(lost > 0)


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1])))
    except (IndexError, InputError) as error:
        print(f"error: {error or 'name the folder of the certificate'}", file=sys.stderr)
        sys.exit(2)
