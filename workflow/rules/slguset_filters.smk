# The filters: each judges every sentence that find_keywords accepted, by itself, so that a change
# to one reruns no other. A new filter is a module in evenhand/slguset/filters, a rule here, and
# its name in the schema's list of filters.


rule names_jieba:
    input:
        keywords="<results>/{edition}/keywords/{shard}.parquet",
        surnames=table("surnames"),
        titles=table("titles"),
        stop_words=(table("name_stop_words") if SLGUSET["names_jieba"]["use_stop_words"] else []),
    output:
        "<results>/{edition}/filters/names_jieba/{shard}.parquet",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("slguset.filters.names_jieba", options("slguset.names")),
    shell:
        run("slguset.filters.names_jieba")


rule train_names_crf:
    input:
        corpora=TAGGED,
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
                {"formats": [one["format"] for one in SLGUSET["train_names_crf"]["corpora"]]},
                {"formats": "slguset.train_names_crf.corpora"},
            ),
            options("slguset.train_names_crf", "recall", "held_out", "seed"),
        ),
    shell:
        run("slguset.train_names_crf")


rule names_crf:
    input:
        keywords="<results>/{edition}/keywords/{shard}.parquet",
        model="<results>/slguset/names/crf.crfsuite",
        model_report="<results>/slguset/names/crf.json",
        surnames=table("surnames"),
        titles=table("titles"),
    output:
        "<results>/{edition}/filters/names_crf/{shard}.parquet",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("slguset.filters.names_crf", options("slguset.names"), options("slguset.names_crf")),
    shell:
        run("slguset.filters.names_crf")


rule names_spacy:
    input:
        keywords="<results>/{edition}/keywords/{shard}.parquet",
        surnames=table("surnames"),
        titles=table("titles"),
    output:
        "<results>/{edition}/filters/names_spacy/{shard}.parquet",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage(
            "slguset.filters.names_spacy", options("slguset.names"), options("slguset.names_spacy")
        ),
    shell:
        run("slguset.filters.names_spacy")


rule pair_fit:
    input:
        keywords="<results>/{edition}/keywords/{shard}.parquet",
        words=table("pair_fit"),
    output:
        "<results>/{edition}/filters/pair_fit/{shard}.parquet",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("slguset.filters.pair_fit"),
    shell:
        run("slguset.filters.pair_fit")


rule coreference:
    input:
        keywords="<results>/{edition}/keywords/{shard}.parquet",
        words=table("coreference"),
    output:
        "<results>/{edition}/filters/coreference/{shard}.parquet",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("slguset.filters.coreference"),
    shell:
        run("slguset.filters.coreference")


rule biology:
    input:
        keywords="<results>/{edition}/keywords/{shard}.parquet",
        words=table("biology"),
    output:
        "<results>/{edition}/filters/biology/{shard}.parquet",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("slguset.filters.biology"),
    shell:
        run("slguset.filters.biology")
