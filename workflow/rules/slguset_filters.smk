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
    log:
        "<logs>/names_jieba/{edition}/{shard}.log",
    benchmark:
        "<benchmarks>/names_jieba/{edition}/{shard}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=code("evenhand.slguset.filters.names_jieba"),
        options=options("slguset.names"),
    shell:
        "python -m evenhand.slguset.filters.names_jieba {params.given} {params.options}"
        " --out {output} 2> {log}"


rule train_names_crf:
    input:
        corpora=TAGGED,
        keywords=table("keywords"),
    output:
        model="<results>/slguset/names/crf.crfsuite",
        report="<results>/slguset/names/crf.json",
    log:
        "<logs>/train_names_crf/all.log",
    benchmark:
        "<benchmarks>/train_names_crf/all.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=code("evenhand.slguset.train_names_crf"),
        formats=Options(
            "slguset.train_names_crf",
            {"formats": [one["format"] for one in SLGUSET["train_names_crf"]["corpora"]]},
            {"formats": "slguset.train_names_crf.corpora"},
        ),
        options=options("slguset.train_names_crf", "recall", "held_out", "seed"),
    shell:
        "python -m evenhand.slguset.train_names_crf --corpora {input.corpora}"
        " {params.formats} --keywords {input.keywords} {params.options}"
        " --model {output.model} --report {output.report} 2> {log}"


rule names_crf:
    input:
        keywords="<results>/{edition}/keywords/{shard}.parquet",
        model="<results>/slguset/names/crf.crfsuite",
        model_report="<results>/slguset/names/crf.json",
        surnames=table("surnames"),
        titles=table("titles"),
    output:
        "<results>/{edition}/filters/names_crf/{shard}.parquet",
    log:
        "<logs>/names_crf/{edition}/{shard}.log",
    benchmark:
        "<benchmarks>/names_crf/{edition}/{shard}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=code("evenhand.slguset.filters.names_crf"),
        options=options("slguset.names"),
        threshold=options("slguset.names_crf"),
    shell:
        "python -m evenhand.slguset.filters.names_crf --keywords {input.keywords}"
        " --model {input.model} --model-report {input.model_report}"
        " --surnames {input.surnames} --titles {input.titles}"
        " {params.options} {params.threshold} --out {output} 2> {log}"


rule names_spacy:
    input:
        keywords="<results>/{edition}/keywords/{shard}.parquet",
        surnames=table("surnames"),
        titles=table("titles"),
    output:
        "<results>/{edition}/filters/names_spacy/{shard}.parquet",
    log:
        "<logs>/names_spacy/{edition}/{shard}.log",
    benchmark:
        "<benchmarks>/names_spacy/{edition}/{shard}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=code("evenhand.slguset.filters.names_spacy"),
        options=options("slguset.names"),
        pipeline=options("slguset.names_spacy"),
    shell:
        "python -m evenhand.slguset.filters.names_spacy --keywords {input.keywords}"
        " --surnames {input.surnames} --titles {input.titles}"
        " {params.options} {params.pipeline} --out {output} 2> {log}"


rule pair_fit:
    input:
        keywords="<results>/{edition}/keywords/{shard}.parquet",
        words=table("pair_fit"),
    output:
        "<results>/{edition}/filters/pair_fit/{shard}.parquet",
    log:
        "<logs>/pair_fit/{edition}/{shard}.log",
    benchmark:
        "<benchmarks>/pair_fit/{edition}/{shard}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=code("evenhand.slguset.filters.pair_fit"),
    shell:
        "python -m evenhand.slguset.filters.pair_fit --keywords {input.keywords}"
        " --words {input.words} --out {output} 2> {log}"


rule coreference:
    input:
        keywords="<results>/{edition}/keywords/{shard}.parquet",
        words=table("coreference"),
    output:
        "<results>/{edition}/filters/coreference/{shard}.parquet",
    log:
        "<logs>/coreference/{edition}/{shard}.log",
    benchmark:
        "<benchmarks>/coreference/{edition}/{shard}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=code("evenhand.slguset.filters.coreference"),
    shell:
        "python -m evenhand.slguset.filters.coreference --keywords {input.keywords}"
        " --words {input.words} --out {output} 2> {log}"


rule biology:
    input:
        keywords="<results>/{edition}/keywords/{shard}.parquet",
        words=table("biology"),
    output:
        "<results>/{edition}/filters/biology/{shard}.parquet",
    log:
        "<logs>/biology/{edition}/{shard}.log",
    benchmark:
        "<benchmarks>/biology/{edition}/{shard}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=code("evenhand.slguset.filters.biology"),
    shell:
        "python -m evenhand.slguset.filters.biology --keywords {input.keywords}"
        " --words {input.words} --out {output} 2> {log}"
