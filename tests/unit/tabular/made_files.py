"""Small files in the layouts of the real data sets; the people in them are made up."""

ADULT = "30, Private, 1000, Bachelors, 13, Never-married, Sales, Unmarried, White, Male, 0, 0, 40"
CUBA, CANADA = ", Cuba, <=50K", ", Canada, >50K"

COMPAS_HEADER = (
    "name,sex,age_cat,race,decile_score,priors_count,days_b_screening_arrest,c_charge_degree,"
    "is_recid,score_text,priors_count,two_year_recid"
)
COMPAS = [
    "A A,Male,25 - 45,African-American,3,2,-1,F,0,Low,99,0",
    "B B,Female,Less than 25,Hispanic,8,0,30,M,1,High,99,1",
    "C C,Male,Greater than 45,Caucasian,5,7,0.0,F,0,Medium,99,1",
]


def adult(folder, train, test):
    """Both files of Adult, from lists of lines."""
    paths = [folder / "adult.data", folder / "adult.test"]
    paths[0].write_text("\n".join(train) + "\n\n", encoding="utf-8")
    paths[1].write_text("|1x3 Cross validator\n" + "\n".join(test) + "\n\n", encoding="utf-8")
    return paths


def adult_lines():
    """Four lines of adult.data (one lacks a value) and two of adult.test."""
    train = [
        ADULT + CUBA,
        ADULT.replace("30,", "65,").replace(" Male", " Female") + CANADA,
        ADULT.replace(" Sales", " ?") + CUBA,
        ADULT.replace("30,", "18,") + CUBA,
    ]
    return train, [
        ADULT.replace("30,", "90,").replace(" 0, 0, 40", " 99999, 0, 41") + CANADA + ".",
        ADULT.replace(" Male", " Female") + CUBA + ".",
    ]


def compas(folder, *lines, header=COMPAS_HEADER):
    """COMPAS's file, from lines below its header."""
    path = folder / "compas.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def german_line(age=30, telephone=1, foreign=1, label=1, months=12, amount=20):
    """A line of german.data-numeric."""
    cells = [1, months, 4, amount, 5, 5, 3, 4, 1, age, 3, 2, 1, telephone, foreign]
    return "  ".join(map(str, [*cells, *[0] * 9, label]))


def german(folder, *lines):
    """German's file, from lines."""
    path = folder / "german.data-numeric"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
