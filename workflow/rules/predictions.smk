# Predictions, of any model or of classifiers that are trained here: their metrics by group.


rule audit_predictions:
    input:
        files=lambda wildcards: config["predictions"][wildcards.predictions]["files"],
        gold=lambda wildcards: config["predictions"][wildcards.predictions]["gold"] or [],
    output:
        **audit_files(),
    wildcard_constraints:
        predictions="|".join(plan_predictions.names(config, False)) or NOTHING,
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


rule audit_classifier:
    input:
        data=lambda wildcards: "<results>/legal/{0}/{0}.parquet".format(
            config["predictions"][wildcards.predictions]["dataset"]
        ),
        predictions=lambda wildcards: config["predictions"][wildcards.predictions]["predictions"],
    output:
        **audit_files(),
    wildcard_constraints:
        predictions="|".join(plan_predictions.names(config, True)) or NOTHING,
    conda:
        "../../envs/score.yaml"
    params:
        **stage(
            "predictions.audit_classifier",
            audited,
            options("inference", "delta"),
        ),
    shell:
        run("predictions.audit_classifier", "--name {wildcards.predictions}")
