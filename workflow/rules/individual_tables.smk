# What the runs say: the paper's tables beside ours, sweeps, fronts, tests, findings.


rule tabulate_results:
    input:
        runs=plan_individual.table_runs(config),
        groups=plan_individual.table_runs(config, "groups"),
        published_4="resources/iifr/published_table_4.csv",
        published_6="resources/iifr/published_table_6.csv",
        published_7="resources/iifr/published_table_7.csv",
        published_8="resources/iifr/published_table_8.csv",
        settings=INDIVIDUAL["settings"],
        inconsistencies="resources/iifr/inconsistencies.csv",
    output:
        table_4=shown("<results>/tables/iifr_table_4.csv"),
        table_6=shown("<results>/tables/iifr_table_6.csv"),
        table_7=shown("<results>/tables/iifr_table_7.csv"),
        table_8=shown("<results>/tables/iifr_table_8.csv"),
    conda:
        "../../envs/tabular.yaml"
    params:
        **stage("individual.tabulate_results"),
    shell:
        run("individual.tabulate_results")


rule check_paper:
    input:
        published_4="resources/iifr/published_table_4.csv",
        published_6="resources/iifr/published_table_6.csv",
        published_7="resources/iifr/published_table_7.csv",
        published_8="resources/iifr/published_table_8.csv",
        mixes="resources/iifr/published_mixes.csv",
        rates="resources/iifr/published_rates.csv",
        inconsistencies="resources/iifr/inconsistencies.csv",
    output:
        shown("<results>/tables/iifr_inconsistencies.csv"),
    conda:
        "../../envs/tabular.yaml"
    params:
        **stage("individual.check_paper"),
    shell:
        run("individual.check_paper")


rule count_people:
    input:
        **plan_individual.people_files(config),
    output:
        shown("<results>/tables/iifr_people.csv"),
    conda:
        "../../envs/tabular.yaml"
    params:
        **stage(
            "individual.count_people",
            Options(None, {"trained_on": plan_individual.people_options(config)["trained_on"]}),
        ),
    shell:
        run("individual.count_people")


rule sweep_lambdas:
    input:
        runs=plan_individual.table_runs(config),
    output:
        shown("<results>/tables/iifr_sweeps.csv"),
    conda:
        "../../envs/tabular.yaml"
    params:
        **stage("individual.sweep_lambdas"),
    shell:
        run("individual.sweep_lambdas")


rule find_fronts:
    input:
        runs=plan_individual.table_runs(config),
    output:
        shown("<results>/tables/iifr_fronts.csv"),
    conda:
        "../../envs/tabular.yaml"
    params:
        **stage("individual.find_fronts"),
    shell:
        run("individual.find_fronts")


rule compare_methods:
    input:
        runs=plan_individual.table_runs(config),
        settings=INDIVIDUAL["settings"],
    output:
        shown("<results>/tables/iifr_tests.csv"),
    conda:
        "../../envs/tabular.yaml"
    params:
        **stage("individual.compare_methods"),
    shell:
        run("individual.compare_methods")


rule write_findings:
    input:
        table_4="<results>/tables/iifr_table_4.csv",
        table_6="<results>/tables/iifr_table_6.csv",
        table_7="<results>/tables/iifr_table_7.csv",
        table_8="<results>/tables/iifr_table_8.csv",
        sweeps="<results>/tables/iifr_sweeps.csv",
        fronts="<results>/tables/iifr_fronts.csv",
        tests="<results>/tables/iifr_tests.csv",
        data=expand("<results>/tabular/{name}/data.json", name=INDIVIDUAL["datasets"]),
    output:
        "<results>/tables/iifr_findings.json",
    conda:
        "../../envs/tabular.yaml"
    params:
        **stage("individual.write_findings"),
    shell:
        run("individual.write_findings")
