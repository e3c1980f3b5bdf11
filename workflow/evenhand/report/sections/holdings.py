"""Descriptions of the kinds of result files."""

from fnmatch import fnmatchcase
from pathlib import PurePosixPath

#: Words by a pattern of the end of a path; the first that fits counts.
HOLDINGS = [
    ("slguset/sentences/*.quarantine.parquet", "Parts of the corpus that could not be read"),
    ("slguset/sentences/*.counts.json", "Counts of a shard of the corpus"),
    ("slguset/sentences/*.files.parquet", "The files of a shard of the corpus"),
    ("*/sentences/*.parquet", "Sentences that contain the characters of a keyword"),
    ("*/keywords/*.parquet", "The keyword of each sentence, with its place and verdict"),
    ("*/filters/*.parquet", "Which filters reject each sentence, and why"),
    ("slguset/names/*", "The name tagger, and its precision and recall on held-out text"),
    ("slguset/candidates.parquet", "Every keyword sentence with its verdict and reasons"),
    ("annotation/*/sample.parquet", "The sentences that were handed to the annotators"),
    ("annotation/*/drawn.csv", "How many sentences were drawn for each pair"),
    ("annotation/*/sheets", "One sheet per annotator, and a Label Studio project"),
    ("annotation/*/answers.parquet", "Each annotator’s answers for each sentence"),
    ("annotation/*/adjudication", "Sentences on which annotators disagree, to be decided"),
    ("slguset/slguset.parquet", "The data set"),
    ("slguset/slguset.csv", "The data set in the authors’ four columns"),
    ("slguset/README.md", "The data card"),
    ("slguset_published/slguset.parquet", "The authors’ data set, with every offset repaired"),
    ("slguset_published/problems.csv", "Problems found in the authors’ file"),
    ("slguset_published/report.json", "The report on the authors’ file"),
    ("slguset*/statistics.json", "Lengths, characters and coverage of the vocabulary"),
    ("models/*", "A language model"),
    ("slguset*/bias/*.json", "A model’s description and validity check"),
    ("slguset*/bias/*.parquet", "One model’s bias on each sentence"),
    ("stereotypes/*/pairs.parquet", "Pairs of sentences, with clusters and doubts"),
    ("stereotypes/*/pairs.json", "The description of a set of pairs"),
    ("stereotypes/*/gates/*.json", "A model’s description and validity check"),
    ("stereotypes/*/scores/*.parquet", "One model’s scores of each sentence, by each method"),
    ("stereotypes/*/tokens/*.parquet", "One model’s predictions of each token"),
    ("stereotypes/*/null/*.parquet", "The scores of models with random weights"),
    ("cards/*/README.md", "The card of a language model"),
    ("stereotypes/*/README.md", "The card of these pairs and their scores"),
    ("tabular/*/README.md", "The card of these people and the runs on them"),
    ("slguset_published/README.md", "The card of the published file as it was read"),
    ("tabular/*/data.parquet", "People as numbers, with label and protected attribute"),
    ("tabular/*/data.json", "What the columns of a table of people mean"),
    ("tabular/*/runs/*/*.parquet", "One method’s runs: accuracy and fairness of each"),
    ("tabular/*/groups/*/*.parquet", "One method’s runs, by group"),
    (
        "tabular/*/predictions/*/*.parquet",
        "One method’s predictions for each person, factual and counterfactual",
    ),
    ("legal/*/records/*.quarantine.parquet", "Cases that were left out, with reasons"),
    ("legal/*/records/*.counts.json", "How many cases were read"),
    ("legal/*/records/*.parquet", "Cases as read from their source"),
    ("legal/*/attributes/*.parquet", "The group of each case, with the words that prove it"),
    ("legal/*/audit", "Sheets on which people check the rules"),
    ("legal/*/splits.*", "How the cases were divided"),
    ("legal/*/duplicates.parquet", "Cases that are nearly the same"),
    ("legal/*/counts.json", "Numbers of cases after joining the parts"),
    ("legal/*/tokens/*", "Cases as tokens of a model"),
    ("legal/*/embeddings/*", "An encoder’s vector of each paragraph"),
    ("legal/*/twins/words/*", "Counterfactuals of cases as TF-IDF vectors"),
    ("legal/*/twins.parquet", "Counterfactuals: cases in the words of another group"),
    ("legal/*/words/*", "Cases as TF-IDF vectors"),
    ("legal/*/training/*.parquet", "The inputs of a training: labels, groups and splits"),
    ("legal/*/predictions/*/*/*/*.parquet", "A classifier’s logits for each case"),
    ("legal/*/history/*/*/*/*.parquet", "The epochs of a training"),
    ("legal/*/weights/*/*/*/*", "The weights of a classifier"),
    ("legal/*/README.md", "The data card"),
    ("legal/*/*.parquet", "The cases: text, labels, attributes and split"),
    ("tables/legal_classifier_findings.json", "Findings on the classifiers, in sentences"),
    ("sources/*/*", "A data source, as it was fetched"),
]


def holding(file: str) -> str | None:
    """Return the description of a result file's content; None if its kind is unknown."""
    steps = PurePosixPath(file).parts
    for pattern, words in HOLDINGS:
        tail = "/".join(steps[-len(pattern.split("/")) :])
        if fnmatchcase(tail, pattern):
            return words
    return None
