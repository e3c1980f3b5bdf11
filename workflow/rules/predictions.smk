# Predictions that somebody made: their metrics by group, without training.


rule audit_predictions:
    input:
        files=lambda wildcards: config["predictions"][wildcards.predictions]["files"],
        gold=lambda wildcards: config["predictions"][wildcards.predictions]["gold"] or [],
    output:
        out=shown_folder("<results>/tables/predictions/{predictions}"),
        cases="<results>/predictions/{predictions}/cases.parquet",
        meta="<results>/predictions/{predictions}/meta.json",
    conda:
        "../../envs/tabular.yaml"
    params:
        **stage(
            "predictions.audit_predictions",
            lambda wildcards: Options(
                f"predictions.{wildcards.predictions}",
                plan_predictions.options(config, wildcards.predictions),
                plan_predictions.option_keys(wildcards.predictions),
            ),
            options("inference", "delta"),
        ),
    shell:
        run("predictions.audit_predictions", "--name {wildcards.predictions}")
