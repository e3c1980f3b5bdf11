# What the classifiers of legal cases do to groups: scores, tests, causes, the paper beside them.


rule score_groups:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        predictions=lambda wildcards: plan_classifiers.predictions(config, wildcards.legal),
    output:
        out=shown("<results>/tables/legal_{legal}_scores.csv"),
        groups_out=shown("<results>/tables/legal_{legal}_group_scores.csv"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage("legal.score_groups", about(), options("legal", "resamples"), plugins=kind_module),
    shell:
        run("legal.score_groups")


rule compare_objectives:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        predictions=lambda wildcards: plan_classifiers.predictions(config, wildcards.legal),
    output:
        shown("<results>/tables/legal_{legal}_tests.csv"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage("legal.compare_objectives", about(), plugins=kind_module),
    shell:
        run("legal.compare_objectives")


rule explain_groups:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        predictions=lambda wildcards: plan_classifiers.predictions(config, wildcards.legal),
        shift="<results>/tables/legal_{legal}_shift.csv",
    output:
        shown("<results>/tables/legal_{legal}_table_2.csv"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage("legal.explain_groups", about(), plugins=kind_module),
    shell:
        run("legal.explain_groups")


rule measure_calibration:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        predictions=lambda wildcards: plan_classifiers.predictions(config, wildcards.legal),
    output:
        out=shown("<results>/tables/legal_{legal}_calibration.csv"),
        bins_out=shown("<results>/tables/legal_{legal}_calibration_bins.csv"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage("legal.measure_calibration", about(), plugins=kind_module),
    shell:
        run("legal.measure_calibration")


rule measure_counterfactual:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        predictions=lambda wildcards: plan_classifiers.with_counterfactuals(config, wildcards.legal),
    output:
        shown("<results>/tables/legal_{legal}_counterfactual.csv"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage(
            "legal.measure_counterfactual",
            about(),
            options("legal", "resamples"),
            plugins=kind_module,
        ),
    shell:
        run("legal.measure_counterfactual")


rule tabulate_curves:
    input:
        histories=lambda wildcards: plan_classifiers.histories(config, wildcards.legal),
    output:
        shown("<results>/tables/legal_{legal}_curves.csv"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage("legal.tabulate_curves"),
    shell:
        run("legal.tabulate_curves", "--dataset {wildcards.legal}")


rule tabulate_classifiers:
    input:
        scores="<results>/tables/legal_{legal}_scores.csv",
        groups="<results>/tables/legal_{legal}_group_scores.csv",
        sizes="<results>/tables/legal_{legal}_sizes.csv",
        anchors="resources/legal/published_scores.csv",
        claims="resources/legal/published_claims.csv",
    output:
        out=shown("<results>/tables/legal_{legal}_table_4.csv"),
        claims_out=shown("<results>/tables/legal_{legal}_claims.csv"),
    conda:
        "../../envs/score.yaml"
    params:
        **stage(
            "legal.tabulate_classifiers",
            about(),
            lambda wildcards: derived(
                "legal.classifiers",
                plan_classifiers.standing(config, wildcards.legal),
                compat_objectives="legal.objectives",
            ),
            plugins=kind_module,
        ),
    shell:
        run("legal.tabulate_classifiers")


rule write_classifier_findings:
    input:
        **plan_classifiers.finding_files(config),
        claims="resources/legal/published_claims.csv",
    output:
        "<results>/tables/legal_classifier_findings.json",
    conda:
        "../../envs/score.yaml"
    params:
        **stage(
            "legal.write_classifier_findings",
            Options(
                None,
                plan_classifiers.objective_titles(config)
                | plan_classifiers.attribute_titles(config),
            ),
        ),
    shell:
        run("legal.write_classifier_findings")
