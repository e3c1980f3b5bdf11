# Tables of people, made ready, and the classifiers that are trained on them.


rule prepare_table:
    input:
        files=lambda wildcards: plan_individual.table_files(config, SOURCES, wildcards.dataset),
    output:
        out="<results>/tabular/{dataset}/data.parquet",
        meta="<results>/tabular/{dataset}/data.json",
    conda:
        "../../envs/tabular.yaml"
    params:
        **stage(
            "tabular.prepare_table",
            lambda wildcards: Options(
                f"individual_fairness.datasets.{wildcards.dataset}",
                plan_individual.table_options(config, wildcards.dataset),
                {"others": f"individual_fairness.datasets.{wildcards.dataset}.positive"},
            ),
            plugins=lambda wildcards: [
                f"evenhand.tabular.formats.{INDIVIDUAL['datasets'][wildcards.dataset]['format']}"
            ],
        ),
    shell:
        run("tabular.prepare_table", "--name {wildcards.dataset}")


rule train_table:
    input:
        data="<results>/tabular/{dataset}/data.parquet",
        meta="<results>/tabular/{dataset}/data.json",
        training=INDIVIDUAL["training"],
    output:
        out="<results>/tabular/{dataset}/runs/{split}/{method}.parquet",
        groups="<results>/tabular/{dataset}/groups/{split}/{method}.parquet",
        predictions="<results>/tabular/{dataset}/predictions/{split}/{method}.parquet",
    conda:
        "../../envs/tabular.yaml"
    params:
        **stage(
            "learning.train_table",
            lambda wildcards: Options(
                "individual_fairness",
                plan_individual.training_options(config, wildcards.method, wildcards.split),
                plan_individual.training_keys(config, wildcards.method),
            ),
            plugins=lambda wildcards: [
                *plan_individual.training_modules(config, wildcards.method, wildcards.split)
            ],
        ),
    shell:
        run("learning.train_table", "--method {wildcards.method} --split {wildcards.split}")


rule train_eidig:
    input:
        data="<results>/tabular/{dataset}/data.parquet",
        meta="<results>/tabular/{dataset}/data.json",
        training=INDIVIDUAL["training"],
    output:
        out="<results>/tabular/{dataset}/runs/eidig/{track}.parquet",
        groups="<results>/tabular/{dataset}/groups/eidig/{track}.parquet",
        predictions="<results>/tabular/{dataset}/predictions/eidig/{track}.parquet",
    conda:
        "../../envs/tabular.yaml"
    params:
        **stage(
            "learning.train_eidig",
            options("individual_fairness.eidig", "seeds", "variant"),
            options("individual_fairness", "predicted_seeds"),
        ),
    shell:
        run("learning.train_eidig", "--track {wildcards.track}")
