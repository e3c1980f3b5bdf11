# The result tables of legal cases and of their classifiers: all tables of a data set in one job.


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
        **stage("legal.tokenise_cases", hub, blanks),
    shell:
        run("legal.tokenise_cases", "--name {wildcards.model}")


rule tabulate_cases:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        claims="resources/legal/published_cross.csv",
        words=f"{LEGAL['tables']}/outcome_words.csv",
        findings="<results>/legal/{legal}/attributes",
        tokens=lambda wildcards: plan_legal.tokenised(config, wildcards.legal),
        metas=lambda wildcards: plan_legal.tokenised(config, wildcards.legal, "json"),
    output:
        folder_in_report("<results>/tables/cases/{legal}"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage(
            "legal.tabulate_cases",
            named,
            published,
            options("legal", "permutations"),
        ),
    shell:
        run("legal.tabulate_cases")


rule tabulate_classifiers:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        predictions=lambda wildcards: plan_classifiers.predictions(config, wildcards.legal),
        histories=lambda wildcards: plan_classifiers.histories(config, wildcards.legal),
        cases="<results>/tables/cases/{legal}",
        scores="resources/legal/published_scores.csv",
        claims="resources/legal/published_claims.csv",
    output:
        folder_in_report("<results>/tables/classifiers/{legal}"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage(
            "legal.tabulate_classifiers",
            named,
            options("inference", "delta"),
            options("legal", "permutations"),
            lambda wildcards: derived(
                None,
                plan_classifiers.standing(config, wildcards.legal),
                compat_objectives="legal.objectives",
                positive=f"text.datasets.{wildcards.legal}.label.positive",
            ),
        ),
    shell:
        run("legal.tabulate_classifiers")
