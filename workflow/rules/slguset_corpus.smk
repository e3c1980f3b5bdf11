# From newspapers to sentences with one gender word. One job per shard of the corpus.


rule extract_sentences:
    input:
        files=lambda wildcards: list(SHARDS[wildcards.shard][1].files),
        keywords=table("keywords"),
    output:
        sentences="<results>/slguset/sentences/{shard}.parquet",
        quarantine="<results>/slguset/sentences/{shard}.quarantine.parquet",
        counts="<results>/slguset/sentences/{shard}.counts.json",
        inventory="<results>/slguset/sentences/{shard}.files.parquet",
    log:
        "<logs>/extract_sentences/{shard}.log",
    benchmark:
        "<benchmarks>/extract_sentences/{shard}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=code("evenhand.slguset.extract_sentences"),
        options=shard_options,
    shell:
        "python -m evenhand.slguset.extract_sentences --files {input.files:q}"
        " --keywords {input.keywords} {params.options} --sentences {output.sentences}"
        " --quarantine {output.quarantine} --counts {output.counts}"
        " --inventory {output.inventory} 2> {log}"


rule find_keywords:
    input:
        sentences="<results>/{edition}/sentences/{shard}.parquet",
        keywords=table("keywords"),
        keyword_words=table("keyword_words"),
    output:
        "<results>/{edition}/keywords/{shard}.parquet",
    log:
        "<logs>/find_keywords/{edition}/{shard}.log",
    benchmark:
        "<benchmarks>/find_keywords/{edition}/{shard}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=code("evenhand.slguset.find_keywords"),
        options=options("slguset.find_keywords"),
    shell:
        "python -m evenhand.slguset.find_keywords --sentences {input.sentences}"
        " --keywords {input.keywords} --keyword-words {input.keyword_words} {params.options}"
        " --out {output} 2> {log}"


rule merge_candidates:
    input:
        keywords=of_shards("<results>/slguset/keywords/{shard}.parquet"),
        filters=[
            file
            for name in FILTERS
            for file in of_shards(f"<results>/slguset/filters/{name}/{{shard}}.parquet")
        ],
    output:
        "<results>/slguset/candidates.parquet",
    log:
        "<logs>/merge_candidates/all.log",
    benchmark:
        "<benchmarks>/merge_candidates/all.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=code("evenhand.slguset.merge_candidates"),
        filters=FILTER_NAMES,
        options=options("slguset", "near_duplicates"),
    shell:
        "python -m evenhand.slguset.merge_candidates --keywords {input.keywords}"
        " --filters {input.filters} {params.filters} {params.options}"
        " --out {output} 2> {log}"


rule count_funnel:
    input:
        candidates="<results>/slguset/candidates.parquet",
        counts=of_shards("<results>/slguset/sentences/{shard}.counts.json"),
        quarantine=of_shards("<results>/slguset/sentences/{shard}.quarantine.parquet"),
    output:
        out=shown("<results>/slguset/funnel.csv"),
        quarantine_out="<results>/slguset/quarantine.csv",
    log:
        "<logs>/count_funnel/all.log",
    benchmark:
        "<benchmarks>/count_funnel/all.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        code=code("evenhand.slguset.count_funnel"),
        reasons=list(REASONS),
        not_read=lambda wildcards: file_options({"not_read": NOT_READ}),
    shell:
        "python -m evenhand.slguset.count_funnel --candidates {input.candidates}"
        " --counts {input.counts} --quarantine {input.quarantine} --reasons {params.reasons}"
        " {params.not_read}"
        " --out {output.out} --quarantine-out {output.quarantine_out} 2> {log}"
