# What the scores of pairs say: one rule a table, all models of a set together.


rule summarise_scores:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        scores=of_set("scores/{model}.parquet"),
        gates=of_set("gates/{model}.json"),
        nulls=of_set("null/{model}.parquet"),
    output:
        out=shown("<results>/tables/{set}_bias_scores.csv"),
        models_out=shown("<results>/tables/{set}_models.csv"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage("stereotypes.summarise_scores", options("scoring", "resamples")),
    shell:
        run("stereotypes.summarise_scores")


rule measure_stereoset:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        scores=of_set("scores/{model}.parquet"),
        gates=of_set("gates/{model}.json"),
    output:
        shown("<results>/tables/{set}_stereoset.csv"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage("stereotypes.measure_stereoset", options("scoring", "resamples")),
    shell:
        run("stereotypes.measure_stereoset")


rule measure_accuracy:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        scores=of_set("scores/{model}.parquet"),
        gates=of_set("gates/{model}.json"),
    output:
        shown("<results>/tables/{set}_token_accuracy.csv"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage("stereotypes.measure_accuracy", options("scoring", "resamples")),
    shell:
        run("stereotypes.measure_accuracy")


rule measure_all_masked:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        scores=of_set("scores/{model}.parquet"),
        gates=of_set("gates/{model}.json"),
    output:
        shown("<results>/tables/{set}_all_masked.csv"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage("stereotypes.measure_all_masked", options("scoring", "resamples")),
    shell:
        run("stereotypes.measure_all_masked")
