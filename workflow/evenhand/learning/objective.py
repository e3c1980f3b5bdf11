"""Training objectives: their interface and shared functions.

An objective is a module of `evenhand.learning.objectives` with the names that `Objective` lists.
Its functions are pure: any memory between steps is a state of tensors, which is passed in and
returned, and which a checkpoint can save. They work under torch.func.vmap and grad, so that many
runs can be trained at once: group membership is a weight, not an index, and no branch depends on a
value.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from evenhand.core.families import load_member
from evenhand.errors import InputError
from evenhand.learning.pairs import GRAPH, kind_of_pairs

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

#: The package of the objectives: ``Annotated[str, Plugin(PACKAGE)]`` in a stage.
PACKAGE = "evenhand.learning.objectives"

#: Kinds of tasks: one label per case, or any number of labels.
TASKS = ("multi_class", "multi_label")

#: The possible aims of an objective: to improve the worst cell of label x group, also where
#: groups need different classifiers, so that balanced batches are not enough; to improve the worst
#: cell, and to bring nearer to each other, by groups, the mean losses or their slopes in a scale of
#: the logits (0 where the classifier is optimal for the group); to improve the worst cell; to make
#: outputs for a text and its counterfactual more similar; to make the groups unpredictable from the
#: representation; or less predictable. The last two remove the groups, so that their groups must be
#: those of an attribute, not labels.
AIMS = ("worst_loss", "equal_losses", "equal_slopes", "worst_group", "ifr_p", "erase", "hide")
REMOVES = AIMS[-2:]

#: The value of an option; its type is that of the default.
Options = Mapping[str, float | bool | str]

State = dict[str, "Tensor"]


@dataclass(frozen=True)
class Batch:
    """One training batch.

    Attributes
    ----------
    logits : tensor, shape (n, classes)
        The classifier's logits.
    labels : tensor
        ``multi_class``: numbers of the labels, int64, shape (n,); ``multi_label``: 0 and 1,
        float, shape (n, classes).
    groups : tensor of int64, shape (n,)
        Codes of the groups, the unknown one last.
    features : tensor, shape (n, d)
        The classifier's input.
    task : str
        One of `TASKS`.
    step : int
        Number of optimiser steps so far.
    partner_logits : tensor or None, shape (n, classes)
        The logits of each case's counterfactual, the text with swapped words. Any finite numbers
        for cases without one.
    has_partner : tensor of bool or None, shape (n,)
        Whether a case has a counterfactual; None without `partner_logits`.
    partner : tensor of int64 or None, shape (n,)
        The row of this batch with the case's neighbour in a given graph; -1: not in the batch.
    """

    logits: "Tensor"
    labels: "Tensor"
    groups: "Tensor"
    features: "Tensor"
    task: str
    step: int
    partner_logits: "Tensor | None" = None
    has_partner: "Tensor | None" = None
    partner: "Tensor | None" = None


def no_state(present: "Tensor", options: Options) -> State:
    """Return an empty state."""
    return {}


def keep_present(present: "Tensor", options: Options) -> State:
    """Return ``present``, which holds the number of groups and never changes."""
    return {"present": present}


def no_modules(features: int, groups: int, options: Options) -> None:
    """Return None: no further network is trained."""


def mean_loss(
    batch: Batch, state: State, options: Options, modules: None
) -> tuple["Tensor", State]:
    """Return the mean loss of the batch."""
    return losses_of(batch).mean(), state


@dataclass(frozen=True)
class Objective:
    """The names that a module of `evenhand.learning.objectives` defines; most are optional.

    Attributes
    ----------
    NAME : str
        The module's name, which it does not define itself.
    TITLE : str
        The objective's name in tables.
    loss(batch, state, options, modules) : function
        Returns the loss of a `Batch`, a scalar, and the next state, without gradients. `modules` is
        the result of the function of that name, or an equivalent callable
        (torch.func.functional_call with other parameters). By default the mean loss.
    SAMPLER : str
        The sampler of `evenhand.learning.sampling` that makes the batches.
    COMPAT_SAMPLER : str
        The sampler with the option ``compat``, if the reference uses another one.
    USES_GROUPS : bool
        Whether it depends on the groups. Otherwise it is trained once for all attributes.
    OPTIONS : dict
        The options and their defaults, the published values. ``compat`` reproduces the reference's
        quirks (github.com/coastalcph/fairlex at b3f539a), listed in the module's docstring.
        ``pairs`` selects the pairs to compare: see `evenhand.learning.pairs`.
    FEATURES : mapping
        Options with which the loss uses `Batch.features` directly (not through `modules`).
    AIM : str
        Its aim, one of `AIMS`, tested by `evenhand.legal.certificate`.
    AIM_FOR : sequence of str
        The kinds of classifiers (`evenhand.legal.classifiers`) it should hold for; default: all.
    initial_state(present, options) : function
        Returns the state before the first step. `present` is a tensor of bool, shape (groups,):
        which groups occur in the training split; `options` is the result of `parse_options`.
    modules(features, groups, options) : function
        Returns a network on (n, features) to train with the classifier; None: no network.
    last_layer(features, problem, fresh) : function
        Returns the `evenhand.learning.erasure.LastLayer` that replaces the trained one, from the
        features of all cases of a `evenhand.learning.problem.Problem`. `fresh` are the training and
        development rows to which the features were not fitted.
    again(examples, logits, options) : function
        Returns the examples of the training, from the logits of an ERM of ``first_epochs``.
    inner_loss(batch, options, modules) : function
        The loss of its modules without ``compat``: they are trained by ``inner_steps`` steps of
        Adam with the rate ``inner_rate`` on each batch, with constant features. `loss` does not
        train them.
    """

    NAME: str
    TITLE: str
    SAMPLER: str = "shuffle"
    COMPAT_SAMPLER: str | None = None
    USES_GROUPS: bool = False
    OPTIONS: dict[str, float | bool | str] = field(default_factory=dict)
    FEATURES: Mapping[str, Any] | None = None
    AIM: str = ""
    AIM_FOR: Sequence[str] | None = None
    initial_state: "Callable[[Tensor, Options], State]" = no_state
    loss: "Callable[[Batch, State, Options, nn.Module | None], tuple[Tensor, State]]" = mean_loss
    modules: "Callable[[int, int, Options], nn.Module | None]" = no_modules
    last_layer: Callable[..., Any] | None = None
    again: Callable[..., Any] | None = None
    inner_loss: "Callable[[Batch, Options, nn.Module], Tensor] | None" = None


def load_objective(name: str) -> Objective:
    """Return the objective of this name.

    Raises
    ------
    InputError
        There is no such objective.
    """
    module = load_member(PACKAGE, name, "objective")
    known = [attribute.name for attribute in fields(Objective) if hasattr(module, attribute.name)]
    return Objective(**{key: getattr(module, key) for key in known} | {"NAME": name})


def parse_options(
    owner: str, what: str, defaults: Mapping[str, Any], settings: Sequence[str]
) -> dict[str, Any]:
    """Return options by name: the defaults, overridden by settings ``key=value``.

    Parameters
    ----------
    owner, what : str
        For messages: the owner of the options ("the objective irm"), and their name ("option").
    defaults : mapping
        The default values, which also determine the types.
    settings : sequence of str
        Settings ``key=value``.

    Raises
    ------
    InputError
        An option is unknown, set twice, or has a value of another type than the default.
    """
    options = dict(defaults)
    seen = set()
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or key not in options:
            remedy = f"write key=value; it has {', '.join(options) or 'none'}"
            raise InputError(f"{owner} has no {what} {key!r}", remedy=remedy)
        if key in seen:
            raise InputError(f"the {what} {key} of {owner} is given twice")
        seen.add(key)
        options[key] = _value(f"the {what} {key}={value} of {owner}", value, options[key])
    return options


def _value(described: str, value: str, default: Any) -> float | bool | str:
    if isinstance(default, bool):
        if value.lower() in ("true", "false"):
            return value.lower() == "true"
        raise InputError(f"{described} is neither true nor false")
    if isinstance(default, str):
        return value
    kind = type(default)
    try:
        number = kind(value)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise InputError(f"{described} is no {'whole ' * (kind is int)}number from 0")
    return number


def sampler_of(objective: Objective, options: Options) -> str:
    """Return the name of the objective's sampler with these options.

    If the pairs of a graph are compared, they have to be in one batch.
    """
    if kind_of_pairs(options) == GRAPH:
        return "neighbours"
    if options.get("compat"):
        return objective.COMPAT_SAMPLER or objective.SAMPLER
    return objective.SAMPLER


def reads_features(objective: Objective, options: Options) -> bool:
    """Return whether the loss uses `Batch.features` directly (not through its modules)."""
    when = objective.FEATURES
    return when is not None and all(options[name] == value for name, value in when.items())


def whole(options: Options, name: str) -> int:
    """Return an option that is a whole number of at least 1.

    Raises
    ------
    InputError
        It is another number.
    """
    value = options[name]
    if value < 1 or value != int(value):
        raise InputError(f"{name} is {value:g}", remedy="give a whole number of at least 1")
    return int(value)


def trains_inside(objective: Objective, options: Options) -> bool:
    """Return whether its modules are trained by separate steps (`inner_loss`)."""
    return objective.inner_loss is not None and not options.get("compat")


def full_precision(values: "Tensor") -> "Tensor":
    """Return half precision as float32, other values unchanged; used for sums of losses."""
    import torch

    return values.float() if values.dtype in (torch.bfloat16, torch.float16) else values


def element_losses(logits: "Tensor", labels: "Tensor", task: str) -> "Tensor":
    """Return the losses whose mean is `per_example_loss`.

    Returns
    -------
    tensor
        ``multi_class``: the cross-entropy, shape (n, 1); ``multi_label``: the binary
        cross-entropy of each label, shape (n, classes).
    """
    from torch.nn import functional

    logits = full_precision(logits)
    if task == "multi_label":
        labels = labels.to(logits.dtype)
        return functional.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    return -logits.log_softmax(dim=-1).gather(-1, labels[..., None])


def per_example_loss(logits: "Tensor", labels: "Tensor", task: str) -> "Tensor":
    """Return the cross-entropy, or the mean over labels of the binary cross-entropy.

    Parameters
    ----------
    logits, labels, task
        As in `Batch`.

    Returns
    -------
    tensor, shape (n,)
        In float32, or float64 if the logits are.
    """
    return element_losses(logits, labels, task).mean(dim=-1)


def losses_of(batch: Batch) -> "Tensor":
    """Return the loss of each case of a batch, shape (n,)."""
    return per_example_loss(batch.logits, batch.labels, batch.task)


def membership(groups: "Tensor", count: int, dtype: "torch.dtype") -> "Tensor":
    """Return one-hot group membership, shape (n, count), from codes (n,)."""
    import torch

    codes = torch.arange(count, device=groups.device)
    return (groups[..., None] == codes).to(dtype)


def group_means(values: "Tensor", members: "Tensor") -> tuple["Tensor", "Tensor"]:
    """Return the mean of each group.

    Parameters
    ----------
    values : tensor, shape (n,)
        One value per case.
    members : tensor of 0 and 1, shape (n, groups)
        The result of `membership`.

    Returns
    -------
    means, present : tensors, shape (groups,)
        The mean (0 for an empty group), and 1 for groups that occur, 0 for empty ones.
    """
    sizes = members.sum(dim=0)
    present = (sizes > 0).to(values.dtype)
    return (values @ members) / at_least_one(sizes), present


def mean_over(values: "Tensor", present: "Tensor") -> "Tensor":
    """Return the mean of the values (groups,) where `present` is 1; 0 if there is none."""
    return (values * present).sum() / at_least_one(present.sum())


def at_least_one(counts: "Tensor") -> "Tensor":
    """Return counts with 1 instead of 0, for use as a divisor."""
    return counts.clamp(min=1)


def class_means(batch: Batch) -> tuple["Tensor", "Tensor"]:
    """Return the loss of each class, independent of its share of the batch.

    ``multi_class``: the mean over the cases of the class. ``multi_label``: the mean of two means,
    over the cases with and without the label; if one of these is empty, the other mean.

    Returns
    -------
    means, present : tensors, shape (classes,)
        As from `group_means`. A label is always present.
    """
    elements = element_losses(batch.logits, batch.labels, batch.task)
    if batch.task == "multi_class":
        members = membership(batch.labels, batch.logits.shape[-1], elements.dtype)
        return group_means(elements[..., 0], members)
    has = batch.labels.to(elements.dtype)
    sizes = has.sum(dim=0), (1 - has).sum(dim=0)
    sums = (elements * has).sum(dim=0), (elements * (1 - has)).sum(dim=0)
    sides = sum((size > 0).to(elements.dtype) for size in sizes)
    total = sum(part / at_least_one(size) for part, size in zip(sums, sizes, strict=True))
    return total / at_least_one(sides), (sides > 0).to(elements.dtype)
