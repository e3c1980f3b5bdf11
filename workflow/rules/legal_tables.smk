# What a data set of legal cases holds: tables, tokens, the card, and sheets to check it by.


rule describe_cases:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
    output:
        sizes=shown("<results>/tables/legal_{legal}_sizes.csv"),
        groups=shown("<results>/tables/legal_{legal}_groups.csv"),
        labels=shown("<results>/tables/legal_{legal}_labels.csv"),
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("legal.describe_cases", about("published"), plugins=kind_module),
    shell:
        run("legal.describe_cases")


rule measure_shift:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
    output:
        shown("<results>/tables/legal_{legal}_shift.csv"),
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("legal.measure_shift", about(), options("legal", "resamples"), plugins=kind_module),
    shell:
        run("legal.measure_shift")


rule cross_attributes:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        claims="resources/legal/published_cross.csv",
    output:
        shown("<results>/tables/legal_{legal}_cross.csv"),
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("legal.cross_attributes", about("published"), plugins=kind_module),
    shell:
        run("legal.cross_attributes")


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
    params:
        **stage("legal.tokenise_cases", kind, hub, plugins=kind_module),
    shell:
        run("legal.tokenise_cases", "--name {wildcards.model}")


rule measure_lengths:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        tokens=lambda wildcards: plan_legal.tokenised(config, wildcards.legal),
        metas=lambda wildcards: plan_legal.tokenised(config, wildcards.legal, "json"),
    output:
        shown("<results>/tables/legal_{legal}_lengths.csv"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage("legal.measure_lengths", about(), plugins=kind_module),
    shell:
        run("legal.measure_lengths")


rule count_rules:
    input:
        findings=lambda wildcards: plan_legal.findings(config, wildcards.legal),
    output:
        shown("<results>/tables/legal_{legal}_rules.csv"),
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("legal.count_rules", about(), findings_attributes, plugins=kind_module),
    shell:
        run("legal.count_rules")


rule check_leakage:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        words=f"{LEGAL['tables']}/outcome_words.csv",
    output:
        shown("<results>/tables/legal_{legal}_leakage.csv"),
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("legal.check_leakage", about(), options("legal", "resamples"), plugins=kind_module),
    shell:
        run("legal.check_leakage")
