# What a data set of legal cases holds: tables, tokens, the card, and sheets to check it by.


rule describe_cases:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
    output:
        sizes=shown("<results>/tables/legal_{legal}_sizes.csv"),
        groups=shown("<results>/tables/legal_{legal}_groups.csv"),
        labels=shown("<results>/tables/legal_{legal}_labels.csv"),
    log:
        "<logs>/describe_cases/{legal}.log",
    benchmark:
        "<benchmarks>/describe_cases/{legal}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=of_kind("evenhand.legal.describe_cases"),
        about=about("published"),
    shell:
        "python -m evenhand.legal.describe_cases --data {input.data} {params.about}"
        " --sizes {output.sizes} --groups {output.groups} --labels {output.labels} 2> {log}"


rule measure_shift:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
    output:
        shown("<results>/tables/legal_{legal}_shift.csv"),
    log:
        "<logs>/measure_shift/{legal}.log",
    benchmark:
        "<benchmarks>/measure_shift/{legal}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=of_kind("evenhand.legal.measure_shift"),
        about=about(),
        options=options("legal", "resamples"),
    shell:
        "python -m evenhand.legal.measure_shift --data {input.data} {params.about}"
        " {params.options} --out {output} 2> {log}"


rule cross_attributes:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        claims="resources/legal/published_cross.csv",
    output:
        shown("<results>/tables/legal_{legal}_cross.csv"),
    log:
        "<logs>/cross_attributes/{legal}.log",
    benchmark:
        "<benchmarks>/cross_attributes/{legal}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=of_kind("evenhand.legal.cross_attributes"),
        about=about("published"),
    shell:
        "python -m evenhand.legal.cross_attributes {params.given} {params.about}"
        " --out {output} 2> {log}"


rule tokenise_cases:
    input:
        data=texts_of,
        model=lambda wildcards: plan_models.model_folder(config, wildcards.model) or [],
    output:
        out="<results>/legal/{legal}/{form}tokens/{model}.arrow",
        meta="<results>/legal/{legal}/{form}tokens/{model}.json",
    log:
        "<logs>/tokenise_cases/{legal}/{form}{model}.log",
    benchmark:
        "<benchmarks>/tokenise_cases/{legal}/{form}{model}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=of_kind("evenhand.legal.tokenise_cases"),
        kind=kind,
        hub=hub,
    shell:
        "python -m evenhand.legal.tokenise_cases {params.given} {params.kind}"
        " --name {wildcards.model} {params.hub} --out {output.out} --meta {output.meta} 2> {log}"


rule measure_lengths:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        tokens=lambda wildcards: plan_legal.tokenised(config, wildcards.legal),
        metas=lambda wildcards: plan_legal.tokenised(config, wildcards.legal, "json"),
    output:
        shown("<results>/tables/legal_{legal}_lengths.csv"),
    log:
        "<logs>/measure_lengths/{legal}.log",
    benchmark:
        "<benchmarks>/measure_lengths/{legal}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=of_kind("evenhand.legal.measure_lengths"),
        about=about(),
    shell:
        "python -m evenhand.legal.measure_lengths {params.given} {params.about}"
        " --out {output} 2> {log}"


rule count_rules:
    input:
        findings=lambda wildcards: plan_legal.findings(config, wildcards.legal),
    output:
        shown("<results>/tables/legal_{legal}_rules.csv"),
    log:
        "<logs>/count_rules/{legal}.log",
    benchmark:
        "<benchmarks>/count_rules/{legal}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=of_kind("evenhand.legal.count_rules"),
        about=about(),
        attributes=lambda wildcards: plan_legal.names_of_findings(config, wildcards.legal),
    shell:
        "python -m evenhand.legal.count_rules {params.given} {params.about}"
        " --attributes {params.attributes} --out {output} 2> {log}"


rule check_leakage:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        words=f"{LEGAL['tables']}/outcome_words.csv",
    output:
        shown("<results>/tables/legal_{legal}_leakage.csv"),
    log:
        "<logs>/check_leakage/{legal}.log",
    benchmark:
        "<benchmarks>/check_leakage/{legal}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=of_kind("evenhand.legal.check_leakage"),
        about=about(),
        options=options("legal", "resamples"),
    shell:
        "python -m evenhand.legal.check_leakage {params.given} {params.about}"
        " {params.options} --out {output} 2> {log}"
