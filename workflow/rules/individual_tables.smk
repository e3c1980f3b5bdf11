# The tables of individual fairness: the paper's results beside ours, all settings, tests, findings.


rule tabulate_individual:
    input:
        runs=plan_individual.table_runs(config),
        groups=plan_individual.table_runs(config, "groups"),
        predictions=plan_individual.table_runs(config, "predictions"),
        data=expand("<results>/tabular/{name}/data.parquet", name=INDIVIDUAL["datasets"]),
        meta=expand("<results>/tabular/{name}/data.json", name=INDIVIDUAL["datasets"]),
        published=[
            *expand("resources/iifr/published_table_{number}.csv", number=[1, 2, 4, 6, 7, 8]),
            "resources/iifr/published_checks.csv",
            "resources/iifr/inconsistencies.csv",
        ],
        settings=INDIVIDUAL["settings"],
        training=INDIVIDUAL["training"],
    output:
        folder_in_report("<results>/tables/individual"),
    conda:
        "../../envs/tabular.yaml"
    params:
        **stage("individual.tabulate_individual", options("inference", "delta")),
    shell:
        run("individual.tabulate_individual")
