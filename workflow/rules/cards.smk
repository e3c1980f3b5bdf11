# Cards: of language models, legal data sets and SlguSet, for their release, and of folders.
MODEL_CARDS = plan_report.audited_models(config)
FOLDERS = plan_report.card_folders(config)
NOTICE = derived("notice", {"notice": config["notice"]})


rule write_model_cards:
    input:
        **plan_report.card_inputs(config),
        template="workflow/evenhand/report/cards/model_card.md.jinja",
    output:
        each_in_report("<results>/cards/{model}/README.md", "{model}", MODEL_CARDS),
    conda:
        "../../envs/report.yaml"
    params:
        **stage(
            "report.write_model_cards",
            derived(
                "models",
                {
                    "models": MODEL_CARDS,
                    "languages": [
                        config["models"][name]["language"] or "" for name in MODEL_CARDS
                    ],
                },
            ),
            NOTICE,
        ),
    shell:
        run("report.write_model_cards")


rule write_legal_cards:
    input:
        **plan_legal.card_inputs(config),
        template="workflow/evenhand/report/cards/legal_card.md.jinja",
    output:
        each_in_report("<results>/legal/{legal}/README.md", "{legal}", LEGAL["datasets"]),
    conda:
        "../../envs/report.yaml"
    params:
        **stage(
            "report.write_legal_cards",
            derived("legal.datasets", plan_legal.card_options(config, SOURCES)),
            NOTICE,
        ),
    shell:
        run("report.write_legal_cards")


rule write_slguset_card:
    input:
        answers=expand("<results>/slguset/annotation/{round}/answers.parquet", round=ANNOTATED),
        statistics="<results>/slguset/statistics.json",
        table="<results>/tables/sentences/slguset",
        annotation="<results>/tables/annotation",
        corpus="<results>/tables/corpus",
        template="workflow/evenhand/report/cards/slguset_card.md.jinja",
    output:
        in_report("<results>/slguset/README.md"),
    conda:
        "../../envs/report.yaml"
    params:
        **stage(
            "report.write_slguset_card",
            NOTICE,
            options("slguset", "filters"),
            Options("slguset", {"corpora": list(SLGUSET["corpora"])}),
            of_pack("title", "language", "attribute", "values"),
        ),
    shell:
        run("report.write_slguset_card")


rule write_folder_cards:
    input:
        documents=[files[0] for files in FOLDERS.values()],
        tables=[file for files in FOLDERS.values() for file in files[1:]],
        template="workflow/evenhand/report/cards/folder_card.md.jinja",
    output:
        [f"<results>/{folder}/README.md" for folder in FOLDERS],
    conda:
        "../../envs/report.yaml"
    params:
        **stage("report.write_folder_cards", NOTICE),
    shell:
        run("report.write_folder_cards")
