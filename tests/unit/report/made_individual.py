"""Results of individual fairness with few rows: what the page's tests read."""

import json
from pathlib import Path

SETTING = "dataset,method,individual,reduction,lambda,epsilon,epsilon_unit,mu,js_base,split"


def plain(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def results(
    folder: Path, dataset: str = "adult", method: str = "my_loss", title: str = ""
) -> dict[str, Path]:
    """A file of each kind, with few rows."""
    data, own = plain(dataset), plain(method)
    table = (
        "dataset,method,individual,group,reduction,lambda,epsilon,epsilon_unit,mu,js_base,split,"
        "choice,metric,paper,ours_mean,ours_sd,ours_low,ours_high,seeds,diverged,empty,verdict,"
        "reason\n"
        f"{data},mlp,none,{{g}},,0,,,,e,random,named,acc,85.5,84.6,0.5,84,85,20,1,2,reproduced,\n"
        f"{data},mlp,none,{{g}},,0,,,,e,random,named,ddp,.5,.192,.01,.19,.2,20,1,2,not_reproduced,"
        "far away\n"
        f"{data},{own},none,{{g}},,0,,,3,2,random,first,acc,,,,,,0,0,0,not_run,there is no run\n"
        f"{data},eidig_integers,none,{{g}},,0,,,,e,random,named,acc,,1,,,,1,0,0,undecided,\n"
    )
    texts = {f"table_{n}": table.replace("{g}", "1" if n == "6" else "") for n in "4678"}
    runs = [(f"{data},mlp,none,,0,,,,e,random", 0.1)]
    runs += [(f"{data},{own},iifr_counterfactual,sum,{lam},,,,e,random", lam) for lam in (0.1, 1)]
    texts["sweeps"] = f"{SETTING},metric,mean,sd,low,high,seeds,diverged\n" + "".join(
        f"{key},{metric},{50 + y},1,49,51,3,0\n"
        for key, y in runs
        for metric in ("balanced_acc", "ifr_p", "ddp", "positive_rate")
    )
    texts["fronts"] = (
        f"front,{SETTING},point,balanced_acc,balanced_acc_sd,unfairness,unfairness_sd,seeds,"
        "diverged,on_front,dominated_by\n"
    ) + "".join(
        f"{front},{key},p,{50 + y},1,{0.5 - y / 4},,3,0,{'true' if y == 1 else 'false'},\n"
        for front in ("ddp", "ifr_p")
        for key, y in runs
    )
    official = runs[1][0].replace("random", "official")
    texts["tests"] = (
        f"{SETTING},choice,against,against_mu,metric,seeds,mean,against_mean,difference,difference_low,"
        "difference_high,p_value,p_adjusted,p_resampled,p_resampled_adjusted,reason\n"
        f"{runs[1][0]},first,mlp,,ifr_p,20,90,60,-30.04,-35,-25,.0001,.0002,.2,.4,\n"
        f"{runs[1][0]},first,mlp,,ddp,1,.1,.1,.0,,,,,,,one seed\n"
        f"{official},named,none,,ddp,2,.1,.1,.0,,,,,,,\n"
    )
    texts["inconsistencies"] = (
        "kind,table,dataset,method,individual,metric,paper,computed,difference,tolerance,result,"
        "listed,known_error,words\n"
        f"mix,6,{data},alfr,none,ifr_p,30.5,15.1,-15.4,.1,contradiction,true,"
        f"one-error other-error,{own} + 1\n"
        f"mix,6,{data},mlp,none,ifr_p,61.4,61.5,.1,.1,agrees,false,,fine\n"
    )
    finding = {"id": "x", "holds": True, "numbers": {}}
    sentence = f"On {title or ('Adult' if dataset == 'adult' else dataset)}, all is {method}."
    document = {
        "headline": [f"The headline of {method}."],
        "findings": [{**finding, "dataset": dataset, "sentence": sentence}],
        "left_out": {},
    }
    texts["findings"] = json.dumps(document)
    folder.mkdir(exist_ok=True)
    paths = {}
    for name, text in texts.items():
        paths[name] = folder / f"{name}.{'json' if name == 'findings' else 'csv'}"
        paths[name].write_text(text, encoding="utf-8")
    return paths
