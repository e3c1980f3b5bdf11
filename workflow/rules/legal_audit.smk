# Sheets on which people check what was found about the parties; and the card of a data set.


rule draw_audit:
    input:
        records=lambda wildcards: plan_legal.records(config, wildcards.legal),
        findings=lambda wildcards: plan_legal.findings_of(
            config, wildcards.legal, wildcards.attribute
        ),
        instructions="workflow/evenhand/legal/templates/audit.md.jinja",
        handed_out=lambda wildcards: plan_legal.handed_out(
            config, wildcards.legal, wildcards.attribute
        ),
    output:
        directory("<results>/legal/{legal}/audit/{attribute}"),
    log:
        "<logs>/draw_audit/{legal}/{attribute}.log",
    benchmark:
        "<benchmarks>/draw_audit/{legal}/{attribute}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=of_kind("evenhand.legal.draw_audit"),
        about=about(),
        options=options("legal.audit", "per_rule", "seed"),
    shell:
        "python -m evenhand.legal.draw_audit {params.given} {params.about}"
        " --attribute {wildcards.attribute} {params.options} --out {output} 2> {log}"


rule read_audit:
    input:
        drawn=lambda wildcards: plan_legal.audited(config, wildcards.legal)[0],
        sheets=lambda wildcards: plan_legal.audited(config, wildcards.legal)[1],
        findings=lambda wildcards: plan_legal.findings(config, wildcards.legal),
    output:
        shown("<results>/tables/legal_{legal}_audit.csv"),
    log:
        "<logs>/read_audit/{legal}.log",
    benchmark:
        "<benchmarks>/read_audit/{legal}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=of_kind("evenhand.legal.read_audit"),
        about=about(),
        attributes=lambda wildcards: plan_legal.names_of_findings(config, wildcards.legal),
    shell:
        "python -m evenhand.legal.read_audit {params.given} {params.about}"
        " --attributes {params.attributes} --out {output} 2> {log}"


rule write_legal_card:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        sizes="<results>/tables/legal_{legal}_sizes.csv",
        groups="<results>/tables/legal_{legal}_groups.csv",
        labels="<results>/tables/legal_{legal}_labels.csv",
        shift="<results>/tables/legal_{legal}_shift.csv",
        lengths="<results>/tables/legal_{legal}_lengths.csv",
        leakage="<results>/tables/legal_{legal}_leakage.csv",
        rules="<results>/tables/legal_{legal}_rules.csv",
        audit=lambda wildcards: plan_legal.audit_table(config, wildcards.legal),
        template="workflow/evenhand/legal/templates/data_card.md.jinja",
    output:
        shown("<results>/legal/{legal}/README.md"),
    log:
        "<logs>/write_legal_card/{legal}.log",
    benchmark:
        "<benchmarks>/write_legal_card/{legal}.jsonl"
    conda:
        "../../envs/extract.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=of_kind("evenhand.legal.write_legal_card"),
        about=about("published"),
        options=lambda wildcards: derived(
            f"legal.datasets.{wildcards.legal}.parts",
            plan_legal.card_options(config, SOURCES, wildcards.legal),
            name=f"legal.datasets.{wildcards.legal}.title",
        ),
    shell:
        "python -m evenhand.legal.write_legal_card {params.given} {params.about}"
        " {params.options} --out {output} 2> {log}"
