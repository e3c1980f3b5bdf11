# The keywords and all filters of a shard in one job. A new filter is a module in evenhand/slguset/filters, and its
# name in the schema's list of filters.


rule apply_filters:
    input:
        sentences="<results>/{edition}/sentences/{shard}.parquet",
        keywords=table("keywords"),
        keyword_words=table("keyword_words"),
        files=plan_slguset.filter_files(config),
        agreement=plan_slguset.agreement_files(config),
    output:
        out="<results>/{edition}/filters/{shard}.parquet",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage(
            "slguset.apply_filters",
            options("slguset.find_keywords"),
            options("slguset", "filters"),
            plan_slguset.filter_options(config),
            of_pack(*plan_slguset.WORDS),
            plugins=[
                *map(plan_slguset.filter_module, FILTERS),
                *plan_slguset.text_modules(config, "normaliser", "splitter", "segmenter"),
            ],
        ),
    shell:
        run("slguset.apply_filters")


rule train_names_crf:
    input:
        corpora=INPUTS.tagged,
        keywords=table("keywords"),
    output:
        model="<results>/slguset/names/crf.crfsuite",
        report="<results>/slguset/names/crf.json",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage(
            "slguset.train_names_crf",
            Options(
                "slguset.train_names_crf",
                {"formats": [entry["format"] for entry in SLGUSET["train_names_crf"]["corpora"]]},
                {"formats": "slguset.train_names_crf.corpora"},
            ),
            options("slguset.train_names_crf", "recall", "held_out", "seed"),
        ),
    shell:
        run("slguset.train_names_crf")
