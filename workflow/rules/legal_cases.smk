# Legal cases: read, with what is found about the parties, split in time, one table a data set.


rule read_cases:
    input:
        files=lambda wildcards: plan_legal.part_files(
            config, SOURCES, wildcards.legal, wildcards.part
        ),
        tables=lambda wildcards: plan_legal.part_tables(config, wildcards.legal, wildcards.part),
    output:
        out="<results>/legal/{legal}/records/{part}.parquet",
        quarantine="<results>/legal/{legal}/records/{part}.quarantine.parquet",
        counts="<results>/legal/{legal}/records/{part}.counts.json",
    log:
        "<logs>/read_cases/{legal}/{part}.log",
    benchmark:
        "<benchmarks>/read_cases/{legal}/{part}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=lambda wildcards: code(
            "evenhand.legal.read_cases",
            *plan_legal.reader_modules(config, wildcards.legal, wildcards.part),
        )(wildcards),
        options=lambda wildcards: options(
            f"legal.datasets.{wildcards.legal}.parts.{wildcards.part}",
            *plan_legal.part_options(config, wildcards.legal, wildcards.part),
        ),
        kind=kind,
    shell:
        "python -m evenhand.legal.read_cases {params.given} {params.kind}"
        " {params.options} --out {output.out} --quarantine {output.quarantine}"
        " --counts {output.counts} 2> {log}"


rule find_attributes:
    input:
        records="<results>/legal/{legal}/records/{part}.parquet",
        tables=lambda wildcards: plan_legal.attribute_tables(
            config, wildcards.legal, wildcards.attribute
        ),
    output:
        "<results>/legal/{legal}/attributes/{part}/{attribute}.parquet",
    log:
        "<logs>/find_attributes/{legal}/{part}/{attribute}.log",
    benchmark:
        "<benchmarks>/find_attributes/{legal}/{part}/{attribute}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=lambda wildcards: code(
            "evenhand.legal.find_attributes",
            plan_legal.attribute_module(config, wildcards.legal, wildcards.attribute),
        )(wildcards),
        attribute=lambda wildcards: plan_legal.attribute_name(
            config, wildcards.legal, wildcards.attribute
        ),
    shell:
        "python -m evenhand.legal.find_attributes {params.given}"
        " --attribute {params.attribute} --out {output} 2> {log}"


rule split_cases:
    input:
        records=lambda wildcards: plan_legal.records(config, wildcards.legal),
    output:
        out="<results>/legal/{legal}/splits.parquet",
        duplicates="<results>/legal/{legal}/duplicates.parquet",
        counts="<results>/legal/{legal}/splits.json",
    log:
        "<logs>/split_cases/{legal}.log",
    benchmark:
        "<benchmarks>/split_cases/{legal}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given=given,
        code=code("evenhand.legal.split_cases"),
        options=lambda wildcards: options(f"legal.datasets.{wildcards.legal}", "shares"),
        threshold=Options(
            "legal",
            {"threshold": LEGAL["near_duplicates"]},
            {"threshold": "legal.near_duplicates"},
        ),
    shell:
        "python -m evenhand.legal.split_cases {params.given} {params.options}"
        " {params.threshold} --out {output.out}"
        " --duplicates {output.duplicates} --counts {output.counts} 2> {log}"


rule build_cases:
    input:
        records=lambda wildcards: plan_legal.records(config, wildcards.legal),
        splits="<results>/legal/{legal}/splits.parquet",
        attributes=lambda wildcards: plan_legal.findings(config, wildcards.legal),
    output:
        out="<results>/legal/{legal}/{legal}.parquet",
        counts="<results>/legal/{legal}/counts.json",
    log:
        "<logs>/build_cases/{legal}.log",
    benchmark:
        "<benchmarks>/build_cases/{legal}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=lambda wildcards: code(
            "evenhand.legal.build_cases", plan_legal.kind_module(config, wildcards.legal)
        )(wildcards),
        kind=kind,
    shell:
        "python -m evenhand.legal.build_cases {params.given} {params.kind}"
        " --out {output.out} --counts {output.counts} 2> {log}"


rule build_training:
    input:
        records=lambda wildcards: plan_legal.records(config, wildcards.legal),
        splits="<results>/legal/{legal}/splits.parquet",
        findings=lambda wildcards: plan_legal.findings_seen(
            config, wildcards.legal, wildcards.attribute
        ),
    output:
        "<results>/legal/{legal}/training/{attribute}.parquet",
    log:
        "<logs>/build_training/{legal}/{attribute}.log",
    benchmark:
        "<benchmarks>/build_training/{legal}/{attribute}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=of_kind("evenhand.legal.build_training"),
        kind=kind,
        attribute=lambda wildcards: (
            ""
            if wildcards.attribute == plan_legal.NO_ATTRIBUTE
            else f"--attribute {wildcards.attribute}"
        ),
    shell:
        "python -m evenhand.legal.build_training {params.given} {params.kind}"
        " {params.attribute} --out {output} 2> {log}"
