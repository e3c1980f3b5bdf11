# Which methods and which models agree: with people, with each other, with what was published.


rule meta_evaluate:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        scores=of_set("scores/{model}.parquet"),
        gates=of_set("gates/{model}.json"),
    output:
        out=shown("<results>/tables/{set}_meta_evaluation.csv"),
        roc=shown("<results>/tables/{set}_roc.csv"),
        auc_tests=shown("<results>/tables/{set}_auc_tests.csv"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage("stereotypes.meta_evaluate", options("scoring", "resamples")),
    shell:
        run("stereotypes.meta_evaluate")


rule measure_length:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        scores=of_set("scores/{model}.parquet"),
        gates=of_set("gates/{model}.json"),
    output:
        shown("<results>/tables/{set}_length.csv"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage("stereotypes.measure_length", options("scoring", "resamples")),
    shell:
        run("stereotypes.measure_length")


rule compare_compat:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        scores=of_set("scores/{model}.parquet"),
        gates=of_set("gates/{model}.json"),
        nulls=of_set("null/{model}.parquet"),
    output:
        shown("<results>/tables/{set}_compat.csv"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage("stereotypes.compare_compat", options("scoring", "resamples")),
    shell:
        run("stereotypes.compare_compat")


rule compare_models:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        scores=of_set("scores/{model}.parquet"),
        gates=of_set("gates/{model}.json"),
    output:
        shown("<results>/tables/{set}_model_comparisons.csv"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage("stereotypes.compare_models", options("scoring", "resamples")),
    shell:
        run("stereotypes.compare_models")


rule check_released:
    input:
        gold=lambda wildcards: source_of(STEREOTYPES["released"]["gold"]),
        scores=lambda wildcards: [source_of(one) for one in STEREOTYPES["released"]["scores"]],
        published="resources/stereotypes/published_stereoset.csv",
    output:
        shown("<results>/tables/stereoset_released.csv"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage("stereotypes.check_released"),
    shell:
        run("stereotypes.check_released")
