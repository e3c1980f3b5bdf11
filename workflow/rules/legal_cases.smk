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
    conda:
        "../../envs/extract.yaml"
    params:
        **stage(
            "legal.read_cases",
            lambda wildcards: options(
                f"legal.datasets.{wildcards.legal}.parts.{wildcards.part}",
                *plan_legal.part_options(config, wildcards.legal, wildcards.part),
            ),
            kind,
            plugins=lambda wildcards: [
                *plan_legal.reader_modules(config, wildcards.legal, wildcards.part)
            ],
        ),
    shell:
        run("legal.read_cases")


rule find_attributes:
    input:
        records="<results>/legal/{legal}/records/{part}.parquet",
        tables=lambda wildcards: plan_legal.attribute_tables(
            config, wildcards.legal, wildcards.attribute
        ),
    output:
        "<results>/legal/{legal}/attributes/{part}/{attribute}.parquet",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage(
            "legal.find_attributes",
            lambda wildcards: Options(
                None,
                {
                    "attribute": plan_legal.attribute_name(
                        config, wildcards.legal, wildcards.attribute
                    )
                },
            ),
            plugins=lambda wildcards: [
                plan_legal.attribute_module(config, wildcards.legal, wildcards.attribute)
            ],
        ),
    shell:
        run("legal.find_attributes")


rule split_cases:
    input:
        records=lambda wildcards: plan_legal.records(config, wildcards.legal),
    output:
        out="<results>/legal/{legal}/splits.parquet",
        duplicates="<results>/legal/{legal}/duplicates.parquet",
        counts="<results>/legal/{legal}/splits.json",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage(
            "legal.split_cases",
            lambda wildcards: options(f"legal.datasets.{wildcards.legal}", "shares"),
            Options(
                "legal",
                {"threshold": LEGAL["near_duplicates"]},
                {"threshold": "legal.near_duplicates"},
            ),
        ),
    shell:
        run("legal.split_cases")


rule build_cases:
    input:
        records=lambda wildcards: plan_legal.records(config, wildcards.legal),
        splits="<results>/legal/{legal}/splits.parquet",
        attributes=lambda wildcards: plan_legal.findings(config, wildcards.legal),
    output:
        out="<results>/legal/{legal}/{legal}.parquet",
        counts="<results>/legal/{legal}/counts.json",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage(
            "legal.build_cases",
            kind,
            plugins=lambda wildcards: [plan_legal.kind_module(config, wildcards.legal)],
        ),
    shell:
        run("legal.build_cases")


rule build_training:
    input:
        records=lambda wildcards: plan_legal.records(config, wildcards.legal),
        splits="<results>/legal/{legal}/splits.parquet",
        findings=lambda wildcards: plan_legal.findings_seen(
            config, wildcards.legal, wildcards.attribute
        ),
    output:
        "<results>/legal/{legal}/training/{attribute}.parquet",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("legal.build_training", kind, attribute_option, plugins=kind_module),
    shell:
        run("legal.build_training")
