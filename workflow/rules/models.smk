# Language models: small ones that are trained here so that nothing has to be fetched, and
# checkpoints of pickled weights, which are converted.

TRAINING = ["layers", "width", "heads", "steps", "batch", "learning_rate", "seed"]
MASKED_TRAINING = [*TRAINING, "mask_probability", "tokens", "vocabulary"]
CAUSAL_TRAINING = [*TRAINING, "vocabulary"]


rule train_masked_lm:
    input:
        unpack(lambda wildcards: plan_models.train_inputs(config, wildcards.model, SHARDS)),
    output:
        directory("<results>/models/{model}"),
    wildcard_constraints:
        model="|".join(map(re.escape, plan_models.models_trained(config, "masked"))) or NOTHING,
    conda:
        "../../envs/score.yaml"
    params:
        **stage(
            "scoring.train_masked_lm",
            lambda wildcards: options(("models", wildcards.model, "train"), *MASKED_TRAINING),
        ),
    shell:
        run("scoring.train_masked_lm")


rule train_causal_lm:
    input:
        unpack(lambda wildcards: plan_models.train_inputs(config, wildcards.model, SHARDS)),
    output:
        directory("<results>/models/{model}"),
    wildcard_constraints:
        model="|".join(map(re.escape, plan_models.models_trained(config, "causal"))) or NOTHING,
    conda:
        "../../envs/score.yaml"
    params:
        **stage(
            "scoring.train_causal_lm",
            lambda wildcards: options(("models", wildcards.model, "train"), *CAUSAL_TRAINING),
        ),
    shell:
        run("scoring.train_causal_lm")


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
