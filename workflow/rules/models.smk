# Language models: small ones that are trained here so that nothing has to be fetched, and
# checkpoints of pickled weights, which are converted.


rule train_language_model:
    input:
        unpack(lambda wildcards: plan_models.train_inputs(config, wildcards.model, SHARDS)),
    output:
        directory("<results>/models/{model}"),
    wildcard_constraints:
        model="|".join(map(re.escape, plan_models.trained(config))) or NOTHING,
    conda:
        "../../envs/score.yaml"
    params:
        **stage(
            "learning.train_language_model",
            lambda wildcards: Options(
                f"models.{wildcards.model}.train",
                plan_models.train_options(config, wildcards.model),
                {"settings": f"models.{wildcards.model}.train"},
            ),
            plugins=lambda wildcards: [plan_models.train_module(config, wildcards.model)],
        ),
    shell:
        run("learning.train_language_model")


rule convert_weights:
    input:
        model=lambda wildcards: config["models"][wildcards.model].get("path") or [],
    output:
        directory("<results>/models/{model}"),
    wildcard_constraints:
        model="|".join(map(re.escape, plan_models.converted(config))) or NOTHING,
    conda:
        "../../envs/score.yaml"
    params:
        **stage(
            "scoring.convert_weights",
            lambda wildcards: Options(
                f"models.{wildcards.model}",
                {
                    "hub_name": config["models"][wildcards.model].get("hub"),
                    "revision": config["models"][wildcards.model]["revision"],
                },
                {"hub_name": f"models.{wildcards.model}.hub"},
            ),
        ),
    shell:
        run("scoring.convert_weights")
