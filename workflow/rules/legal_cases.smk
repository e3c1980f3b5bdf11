# Legal cases: read, with what is found about the parties, split in time, one table a data set.


rule fetch_hub_data:
    output:
        directory("<results>/legal/{legal}/hub"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage(
            "io.fetch_hub_data",
            lambda wildcards: Options(
                f"text.datasets.{wildcards.legal}",
                {
                    key: config["text"]["datasets"][wildcards.legal][key]
                    for key in ("hub", "revision", "files")
                },
            ),
        ),
    shell:
        run("io.fetch_hub_data")


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
            reading,
            plugins=lambda wildcards: [
                "evenhand.legal.formats."
                + plan_legal.part(config, wildcards.legal, wildcards.part)["format"]
            ],
        ),
        positive=positive,
    shell:
        run("legal.read_cases", "{params.positive}")


rule find_attributes:
    input:
        records=lambda wildcards: plan_legal.records(config, wildcards.legal),
        tables=lambda wildcards: plan_legal.attribute_tables(config, wildcards.legal),
    output:
        directory("<results>/legal/{legal}/attributes"),
    conda:
        "../../envs/extract.yaml"
    params:
        **stage(
            "legal.find_attributes",
            lambda wildcards: Options(
                None, {"modules": plan_legal.attribute_modules(config, wildcards.legal)}
            ),
            plugins=lambda wildcards: [
                f"evenhand.legal.attributes.{name}"
                for name in plan_legal.attribute_modules(config, wildcards.legal)
            ],
        ),
    shell:
        run("legal.find_attributes")


rule build_cases:
    input:
        records=lambda wildcards: plan_legal.records(config, wildcards.legal),
        findings="<results>/legal/{legal}/attributes",
    output:
        out="<results>/legal/{legal}/{legal}.parquet",
        counts="<results>/legal/{legal}/counts.json",
        splits="<results>/legal/{legal}/splits.parquet",
        duplicates="<results>/legal/{legal}/duplicates.parquet",
        split_counts="<results>/legal/{legal}/splits.json",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage(
            "legal.build_cases",
            shares,
            Options(
                "legal",
                {"threshold": LEGAL["near_duplicates"]},
                {"threshold": "legal.near_duplicates"},
            ),
        ),
    shell:
        run("legal.build_cases")


rule build_training:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
    output:
        "<results>/legal/{legal}/training/{attribute}.parquet",
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("legal.build_training", attribute_option),
    shell:
        run("legal.build_training")
