# Sheets on which people check what was found about the parties; and the card of a data set.


rule draw_audit:
    input:
        records=lambda wildcards: plan_legal.records(config, wildcards.legal),
        findings=lambda wildcards: plan_legal.findings(config, wildcards.legal),
        instructions="workflow/evenhand/legal/templates/audit.md.jinja",
        handed_out=lambda wildcards: plan_legal.handed_out(config, wildcards.legal),
    output:
        directory("<results>/legal/{legal}/audit"),
    conda:
        "../../envs/extract.yaml"
    params:
        **stage(
            "legal.draw_audit",
            about(),
            findings_attributes,
            options("legal.audit", "per_rule", "seed"),
            plugins=kind_module,
        ),
    shell:
        run("legal.draw_audit")


rule read_audit:
    input:
        drawn=lambda wildcards: plan_legal.audited(config, wildcards.legal)[0],
        sheets=lambda wildcards: plan_legal.audited(config, wildcards.legal)[1],
        findings=lambda wildcards: plan_legal.findings(config, wildcards.legal),
    output:
        shown_folder("<results>/tables/audits/{legal}"),
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("legal.read_audit", about(), findings_attributes, plugins=kind_module),
    shell:
        run("legal.read_audit")


rule write_legal_card:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        tables="<results>/tables/cases/{legal}",
        audit=lambda wildcards: plan_legal.audit_table(config, wildcards.legal),
        template="workflow/evenhand/report/cards/legal_card.md.jinja",
    output:
        shown("<results>/legal/{legal}/README.md"),
    conda:
        "../../envs/report.yaml"
    params:
        **stage(
            "report.write_legal_card",
            about("published"),
            lambda wildcards: derived(
                f"legal.datasets.{wildcards.legal}.parts",
                plan_legal.card_options(config, SOURCES, wildcards.legal),
                name=f"legal.datasets.{wildcards.legal}.title",
            ),
            plugins=kind_module,
        ),
    shell:
        run("report.write_legal_card")
