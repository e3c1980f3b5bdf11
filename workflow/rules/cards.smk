# Cards: what was found of each language model, for its release, and what a folder holds.


rule write_model_card:
    input:
        unpack(lambda wildcards: plan_cards.card_inputs(config, wildcards.model)),
        template="workflow/evenhand/report/cards/model_card.md.jinja",
    output:
        shown("<results>/cards/{model}/README.md"),
    log:
        "<logs>/write_model_card/{model}.log",
    benchmark:
        "<benchmarks>/write_model_card/{model}.jsonl"
    conda:
        "../../envs/report.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.report.write_model_card"),
        options=lambda wildcards: options(("models", wildcards.model), "language"),
        annotation=options("slguset.annotation", "notice"),
    shell:
        "python -m evenhand.report.write_model_card {params.given} --model {wildcards.model}"
        " {params.options} {params.annotation} --out {output} 2> {log}"


rule write_folder_card:
    input:
        unpack(lambda wildcards: plan_cards.folders(config)[wildcards.folder]),
        template="workflow/evenhand/report/cards/folder_card.md.jinja",
    output:
        "<results>/{folder}/README.md",
    log:
        "<logs>/write_folder_card/{folder}.log",
    benchmark:
        "<benchmarks>/write_folder_card/{folder}.jsonl"
    wildcard_constraints:
        folder="|".join(map(re.escape, plan_cards.folders(config))) or NOTHING,
    conda:
        "../../envs/report.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.report.write_folder_card"),
    shell:
        "python -m evenhand.report.write_folder_card {params.given} --out {output} 2> {log}"
