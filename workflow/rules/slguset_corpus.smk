# From newspapers to sentences with one gender word. One job per shard of the corpus.


rule extract_sentences:
    input:
        files=lambda wildcards: SHARDS[wildcards.shard].files,
        keywords=table("keywords"),
    output:
        sentences="<results>/slguset/sentences/{shard}.parquet",
        quarantine="<results>/slguset/sentences/{shard}.quarantine.parquet",
        counts="<results>/slguset/sentences/{shard}.counts.json",
    log:
        "<logs>/extract_sentences/{shard}.log",
    benchmark:
        "<benchmarks>/extract_sentences/{shard}.jsonl"
    conda:
        "../../envs/extract.yaml"
    params:
        code=code("evenhand.slguset.extract_sentences"),
        options=lambda wildcards: reading_options(wildcards.shard),
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
    shell:
        "python -m evenhand.slguset.extract_sentences --files {input.files:q}"
        " --keywords {input.keywords} {params.options} --sentences {output.sentences}"
        " --quarantine {output.quarantine} --counts {output.counts} 2> {log}"


rule find_keywords:
    input:
        sentences="<results>/{edition}/sentences/{shard}.parquet",
        keywords=table("keywords"),
        words=table("keyword_words"),
    output:
        "<results>/{edition}/keywords/{shard}.parquet",
    log:
        "<logs>/find_keywords/{edition}/{shard}.log",
    benchmark:
        "<benchmarks>/find_keywords/{edition}/{shard}.jsonl"
    conda:
        "../../envs/extract.yaml"
    params:
        code=code("evenhand.slguset.find_keywords"),
        options=options("slguset.find_keywords"),
    shell:
        "python -m evenhand.slguset.find_keywords --sentences {input.sentences}"
        " --keywords {input.keywords} --words {input.words} {params.options}"
        " --out {output} 2> {log}"
