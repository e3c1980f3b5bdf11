# Sheets on which people check what was found about the parties.


rule draw_audit:
    input:
        records=lambda wildcards: plan_legal.records(config, wildcards.legal),
        findings="<results>/legal/{legal}/attributes",
        instructions="workflow/evenhand/sentences/legal.draw_audit.jinja",
        handed_out=lambda wildcards: plan_legal.handed_out(config, wildcards.legal),
    output:
        directory("<results>/legal/{legal}/audit"),
    conda:
        "../../envs/extract.yaml"
    params:
        **stage(
            "legal.draw_audit",
            named,
            options("legal.audit", "per_rule", "seed"),
        ),
    shell:
        run("legal.draw_audit")


rule read_audit:
    input:
        drawn=lambda wildcards: plan_legal.audited(config, wildcards.legal)[0],
        sheets=lambda wildcards: plan_legal.audited(config, wildcards.legal)[1],
        findings="<results>/legal/{legal}/attributes",
    output:
        folder_in_report("<results>/tables/audits/{legal}"),
    conda:
        "../../envs/extract.yaml"
    params:
        **stage("legal.read_audit", named),
    shell:
        run("legal.read_audit")
