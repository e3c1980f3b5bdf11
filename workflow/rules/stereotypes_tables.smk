# The result tables of pairs: all tables of a set in one job, and a check on released scores.


rule tabulate_pairs:
    input:
        pairs="<results>/stereotypes/{set}/pairs.parquet",
        scores=of_set("scores/{model}.parquet"),
        gates=of_set("gates/{model}.json"),
        nulls=of_set("null/{model}.parquet"),
    output:
        folder_in_report("<results>/tables/pairs/{set}"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage("stereotypes.tabulate_pairs", options("inference", "delta")),
    shell:
        run("stereotypes.tabulate_pairs")


rule check_released:
    input:
        gold=lambda wildcards: source_of(STEREOTYPES["released"]["gold"]),
        scores=lambda wildcards: [source_of(name) for name in STEREOTYPES["released"]["scores"]],
        published="resources/stereotypes/published_stereoset.csv",
    output:
        folder_in_report("<results>/tables/released"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage("stereotypes.check_released"),
    shell:
        run("stereotypes.check_released")
