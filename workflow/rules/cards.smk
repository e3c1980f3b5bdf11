# Cards: what was found of each language model, for its release, and what a folder holds.


rule write_model_card:
    input:
        unpack(lambda wildcards: plan_cards.card_inputs(config, wildcards.model)),
        template="workflow/evenhand/report/cards/model_card.md.jinja",
    output:
        shown("<results>/cards/{model}/README.md"),
    conda:
        "../../envs/report.yaml"
    params:
        **stage(
            "report.write_model_card",
            lambda wildcards: options(("models", wildcards.model), "language"),
            options("slguset.annotation", "notice"),
        ),
    shell:
        run("report.write_model_card", "--model {wildcards.model}")


rule write_folder_card:
    input:
        unpack(lambda wildcards: plan_cards.folders(config)[wildcards.folder]),
        template="workflow/evenhand/report/cards/folder_card.md.jinja",
    output:
        "<results>/{folder}/README.md",
    wildcard_constraints:
        folder="|".join(map(re.escape, plan_cards.folders(config))) or NOTHING,
    conda:
        "../../envs/report.yaml"
    params:
        **stage("report.write_folder_card"),
    shell:
        run("report.write_folder_card")
