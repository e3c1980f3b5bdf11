# What the classifiers of legal cases do to groups: scores, tests, causes, the paper beside them.


rule score_groups:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        predictions=lambda wildcards: plan_classifiers.predictions(config, wildcards.legal),
    output:
        out=shown("<results>/tables/legal_{legal}_scores.csv"),
        groups_out=shown("<results>/tables/legal_{legal}_group_scores.csv"),
    log:
        "<logs>/score_groups/{legal}.log",
    benchmark:
        "<benchmarks>/score_groups/{legal}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=of_kind("evenhand.legal.score_groups"),
        about=about(),
        options=options("legal", "resamples"),
    shell:
        "python -m evenhand.legal.score_groups {params.given} {params.about} {params.options}"
        " --out {output.out} --groups-out {output.groups_out} 2> {log}"


rule compare_objectives:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        predictions=lambda wildcards: plan_classifiers.predictions(config, wildcards.legal),
    output:
        shown("<results>/tables/legal_{legal}_tests.csv"),
    log:
        "<logs>/compare_objectives/{legal}.log",
    benchmark:
        "<benchmarks>/compare_objectives/{legal}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=of_kind("evenhand.legal.compare_objectives"),
        about=about(),
    shell:
        "python -m evenhand.legal.compare_objectives {params.given} {params.about}"
        " --out {output} 2> {log}"


rule explain_groups:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        predictions=lambda wildcards: plan_classifiers.predictions(config, wildcards.legal),
        shift="<results>/tables/legal_{legal}_shift.csv",
    output:
        shown("<results>/tables/legal_{legal}_table_2.csv"),
    log:
        "<logs>/explain_groups/{legal}.log",
    benchmark:
        "<benchmarks>/explain_groups/{legal}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=of_kind("evenhand.legal.explain_groups"),
        about=about(),
    shell:
        "python -m evenhand.legal.explain_groups {params.given} {params.about}"
        " --out {output} 2> {log}"


rule measure_calibration:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        predictions=lambda wildcards: plan_classifiers.predictions(config, wildcards.legal),
    output:
        out=shown("<results>/tables/legal_{legal}_calibration.csv"),
        bins_out=shown("<results>/tables/legal_{legal}_calibration_bins.csv"),
    log:
        "<logs>/measure_calibration/{legal}.log",
    benchmark:
        "<benchmarks>/measure_calibration/{legal}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=of_kind("evenhand.legal.measure_calibration"),
        about=about(),
    shell:
        "python -m evenhand.legal.measure_calibration {params.given} {params.about}"
        " --out {output.out} --bins-out {output.bins_out} 2> {log}"


rule measure_counterfactual:
    input:
        data="<results>/legal/{legal}/{legal}.parquet",
        predictions=lambda wildcards: plan_classifiers.with_twins(config, wildcards.legal),
    output:
        shown("<results>/tables/legal_{legal}_counterfactual.csv"),
    log:
        "<logs>/measure_counterfactual/{legal}.log",
    benchmark:
        "<benchmarks>/measure_counterfactual/{legal}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=given,
        code=of_kind("evenhand.legal.measure_counterfactual"),
        about=about(),
        options=options("legal", "resamples"),
    shell:
        "python -m evenhand.legal.measure_counterfactual {params.given} {params.about}"
        " {params.options} --out {output} 2> {log}"


rule tabulate_curves:
    input:
        histories=lambda wildcards: plan_classifiers.histories(config, wildcards.legal),
    output:
        shown("<results>/tables/legal_{legal}_curves.csv"),
    log:
        "<logs>/tabulate_curves/{legal}.log",
    benchmark:
        "<benchmarks>/tabulate_curves/{legal}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.legal.tabulate_curves"),
    shell:
        "python -m evenhand.legal.tabulate_curves {params.given} --dataset {wildcards.legal}"
        " --out {output} 2> {log}"


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
    log:
        "<logs>/tabulate_classifiers/{legal}.log",
    benchmark:
        "<benchmarks>/tabulate_classifiers/{legal}.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=of_kind("evenhand.legal.tabulate_classifiers"),
        about=about(),
        stands=lambda wildcards: derived(
            "legal.classifiers",
            plan_classifiers.standing(config, wildcards.legal),
            compat_objectives="legal.objectives",
        ),
    shell:
        "python -m evenhand.legal.tabulate_classifiers {params.given} {params.about}"
        " {params.stands}"
        " --out {output.out} --claims-out {output.claims_out} 2> {log}"


rule write_classifier_findings:
    input:
        **plan_classifiers.finding_files(config),
        claims="resources/legal/published_claims.csv",
    output:
        "<results>/tables/legal_classifier_findings.json",
    log:
        "<logs>/write_classifier_findings/all.log",
    benchmark:
        "<benchmarks>/write_classifier_findings/all.jsonl"
    conda:
        "../../envs/score.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=given,
        code=code("evenhand.legal.write_classifier_findings"),
        titles=file_options(
            plan_classifiers.objective_titles(config) | plan_classifiers.attribute_titles(config)
        ),
    shell:
        "python -m evenhand.legal.write_classifier_findings {params.given} {params.titles}"
        " --out {output} 2> {log}"
