# Where every file came from, and the page.


def result_files():
    """The results of this configuration, by the name of the page's argument."""
    files = {}
    slguset, tables = "<results>/slguset", "<results>/tables"
    if SHARDS:
        files |= {
            "funnel": f"{slguset}/funnel.csv",
            "candidates": f"{slguset}/candidates.parquet",
            "counts": of_shards(f"{slguset}/sentences/{{shard}}.counts.json"),
            "quarantine": of_shards(f"{slguset}/sentences/{{shard}}.quarantine.parquet"),
            "samples": expand(f"{slguset}/annotation/{{round}}/sample.parquet", round=ROUNDS),
            "drawn": f"{slguset}/annotation/{SLGUSET['annotation']['round']}/drawn.csv",
        }
    if SHARDS and ANNOTATED:
        files |= {
            "answers": expand(f"{slguset}/annotation/{{round}}/answers.parquet", round=ANNOTATED),
            "agreement": f"{slguset}/agreement.csv",
        }
    if PUBLISHED:
        files |= {
            "published_filters": "<results>/slguset_published/filters.csv",
            "published_report": "<results>/slguset_published/report.json",
        }
    for prefix, edition in editions().items():
        files |= {
            f"{prefix}dataset": f"<results>/{edition}/slguset.parquet",
            f"{prefix}table_1": f"<results>/{edition}/table_1.csv",
            f"{prefix}statistics": f"<results>/{edition}/statistics.json",
        }
        if MODELS:
            files |= {
                f"{prefix}bias": f"{tables}/{edition}_bias.csv",
                f"{prefix}bias_by_pair": f"{tables}/{edition}_bias_by_pair.csv",
                f"{prefix}bias_correlations": f"{tables}/{edition}_bias_correlations.csv",
                f"{prefix}bias_scores": expand(
                    f"<results>/{edition}/bias/{{model}}.parquet", model=MODELS
                ),
            }
    return files


def editions():
    """The data sets of this configuration, by the prefix of the page's arguments."""
    own = {"": "slguset"} if SHARDS and ANNOTATED else {}
    return own | ({"published_": "slguset_published"} if PUBLISHED else {})


def other_files():
    """Results that the page does not read, but that are traced like the rest."""
    files = []
    if SHARDS:
        files += expand("<results>/slguset/annotation/{round}/sheets", round=ROUNDS)
    if SHARDS and ANNOTATED:
        files += [
            "<results>/slguset/annotation/disagreements.csv",
            "<results>/slguset/slguset.csv",
            "<results>/slguset/README.md",
        ]
    if PUBLISHED:
        files.append("<results>/slguset_published/problems.csv")
    if editions():
        trained = [name for name, model in config["models"].items() if "train" in model]
        files += expand("<results>/models/{model}", model=trained)
    return files


rule collect_provenance:
    input:
        results=[
            file
            for files in result_files().values()
            for file in ([files] if isinstance(files, str) else files)
        ],
        others=other_files(),
    output:
        "<results>/provenance.json",
    log:
        "<logs>/collect_provenance/all.log",
    benchmark:
        "<benchmarks>/collect_provenance/all.jsonl"
    conda:
        "../../envs/report.yaml"
    params:
        code=code("evenhand.report.collect_provenance"),
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
    shell:
        "python -m evenhand.report.collect_provenance --files {input.results} {input.others}"
        " --records $EVENHAND_STATE/records --out {output} 2> {log}"


rule write_page:
    input:
        **result_files(),
        provenance="<results>/provenance.json",
        templates=sorted(map(str, Path("workflow/evenhand/report/templates").iterdir())),
    output:
        "<results>/report/index.html",
    log:
        "<logs>/write_page/all.log",
    benchmark:
        "<benchmarks>/write_page/all.jsonl"
    conda:
        "../../envs/report.yaml"
    params:
        given=given,
        code=code("evenhand.report.write_page"),
        options=options("slguset.annotation", "notice"),
        results=config["results"],
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
    shell:
        "python -m evenhand.report.write_page {params.given} {params.options}"
        " --results {params.results} --out {output} 2> {log}"
