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
    log:
        "<logs>/train_masked_lm/{model}.log",
    benchmark:
        "<benchmarks>/train_masked_lm/{model}.jsonl"
    wildcard_constraints:
        model="|".join(map(re.escape, plan_models.models_trained(config, "masked"))) or NOTHING,
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=code("evenhand.scoring.train_masked_lm"),
        options=lambda wildcards: options(("models", wildcards.model, "train"), *MASKED_TRAINING),
    shell:
        "python -m evenhand.scoring.train_masked_lm {params.given}"
        " {params.options} --out {output} 2> {log}"


rule train_causal_lm:
    input:
        unpack(lambda wildcards: plan_models.train_inputs(config, wildcards.model, SHARDS)),
    output:
        directory("<results>/models/{model}"),
    log:
        "<logs>/train_causal_lm/{model}.log",
    benchmark:
        "<benchmarks>/train_causal_lm/{model}.jsonl"
    wildcard_constraints:
        model="|".join(map(re.escape, plan_models.models_trained(config, "causal"))) or NOTHING,
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=code("evenhand.scoring.train_causal_lm"),
        options=lambda wildcards: options(("models", wildcards.model, "train"), *CAUSAL_TRAINING),
    shell:
        "python -m evenhand.scoring.train_causal_lm {params.given}"
        " {params.options} --out {output} 2> {log}"


rule convert_weights:
    input:
        model=lambda wildcards: config["models"][wildcards.model].get("path") or [],
    output:
        directory("<results>/models/{model}"),
    log:
        "<logs>/convert_weights/{model}.log",
    benchmark:
        "<benchmarks>/convert_weights/{model}.jsonl"
    wildcard_constraints:
        model="|".join(map(re.escape, plan_models.converted(config))) or NOTHING,
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=code("evenhand.scoring.convert_weights"),
        hub=lambda wildcards: Options(
            f"models.{wildcards.model}",
            {
                "hub_name": config["models"][wildcards.model].get("hub"),
                "revision": config["models"][wildcards.model]["revision"],
            },
            {"hub_name": f"models.{wildcards.model}.hub"},
        ),
    shell:
        "python -m evenhand.scoring.convert_weights {params.given} {params.hub}"
        " --out {output} 2> {log}"
