"""What an objective of training is, and what all of them share.

An objective is a module of `evenhand.learning.objectives` with the names that `Objective` lists.
Its functions are pure: what it remembers from one step to the next is the state that goes in and
comes out, tensors that a checkpoint can hold. They work under torch.func.vmap and grad, so that
many runs can be trained at once: who belongs to a group is a weight, not an index, and no
branch depends on a value.
"""

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from evenhand.errors import InputError
from evenhand.learning.pairs import GRAPH, asked_for

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

#: Where the objectives are: ``Annotated[str, Plugin(PACKAGE)]`` in a stage.
PACKAGE = "evenhand.learning.objectives"

#: Kinds of tasks: one label a case, or any number of them.
TASKS = ("multi_class", "multi_label")

#: What an objective may promise: the worst of label x group gains; the groups cannot be read from
#: the representation; or they can be read less well. The last two remove the groups, so that
#: these are of attributes only: the label is not to be removed.
AIMS = ("worst_group", "erase", "hide")
REMOVES = AIMS[1:]

#: The value of an option; its type is that of the default.
Options = Mapping[str, float | bool | str]

State = dict[str, "Tensor"]


@dataclass(frozen=True)
class Batch:
    """One training batch.

    Attributes
    ----------
    logits : tensor, shape (n, classes)
        What the classifier says.
    labels : tensor
        ``multi_class``: numbers of the labels, int64, shape (n,); ``multi_label``: 0 and 1,
        float, shape (n, classes).
    groups : tensor of int64, shape (n,)
        Codes of the groups, the unknown one last.
    features : tensor, shape (n, d)
        What the classifier saw.
    task : str
        One of `TASKS`.
    step : int
        Optimiser steps done so far.
    partner_logits : tensor or None, shape (n, classes)
        The logits of each case's counterfactual, the text with swapped words. A case that has
        none may have any finite numbers there.
    has_partner : tensor of bool or None, shape (n,)
        Who has a counterfactual. None: all, if there are `partner_logits`.
    partner : tensor of int64 or None, shape (n,)
        The row of this batch that holds the case's neighbour in a given graph; -1: none does.
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


class Objective(Protocol):
    """The names that a module of `evenhand.learning.objectives` has.

    Attributes
    ----------
    NAME : str
        The module's name.
    TITLE : str
        What tables call it.
    SAMPLER : str
        The sampler of `evenhand.learning.sampling` that makes its batches.
    FEATURES : mapping, optional
        Options with which its loss reads `Batch.features` itself (not through `modules`).
    COMPAT_SAMPLER : str, optional
        The sampler with the option ``compat``, where the reference had another one.
    USES_GROUPS : bool
        Whether it depends on the groups. One that does not is trained once for all attributes.
    OPTIONS : dict
        Its options and their defaults, the published values. With ``compat`` it repeats the
        reference's quirks (github.com/coastalcph/fairlex at b3f539a), which its docstring lists.
        With the option ``pairs`` it gets those pairs: see `evenhand.learning.pairs`.
    AIM : str, optional
        What it promises, one of `AIMS`: `evenhand.legal.certificate` tests it.
    AIM_FOR : sequence of str, optional
        The kinds of classifiers (`evenhand.legal.classifiers`) for which it does; all by default.
    last_layer(features, examples, fresh, options) : function, optional
        Returns the `evenhand.learning.erasure.LastLayer` that replaces the trained one. `fresh`
        are the rows of training and development to which the features were not fitted.
    again(examples, logits, options) : function, optional
        Returns the examples of the training, from the logits of an ERM of ``first_epochs``.
    inner_loss(batch, options, modules) : function, optional
        The loss by which its modules learn, without ``compat``: ``inner_steps`` steps of Adam
        with the rate ``inner_rate`` on each batch, whose features are then constants. `loss`
        does not train them.
    """

    NAME: str
    TITLE: str
    SAMPLER: str
    USES_GROUPS: bool
    OPTIONS: dict[str, float | bool | str]

    def initial_state(self, present: "Tensor", options: Options) -> State:
        """What it remembers before the first step.

        Parameters
        ----------
        present : tensor of bool, shape (groups,)
            Which groups occur in the training split.
        options : dict
            As `parse_options` gives them.
        """

    def modules(self, features: int, groups: int, options: Options) -> "nn.Module | None":
        """What is trained along with the classifier, from (n, features); None: nothing."""

    def loss(
        self, batch: Batch, state: State, options: Options, modules: "nn.Module | None"
    ) -> tuple["Tensor", State]:
        """The loss of a batch, a scalar, and the state after it, without gradients.

        `modules` is what the function of that name made, or any callable that does the same
        (torch.func.functional_call with other parameters).
        """


def load_objective(name: str) -> Objective:
    """The objective of this name.

    Raises
    ------
    InputError
        There is none.
    """
    module = f"{PACKAGE}.{name}"
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:  # a module that it imports is missing
            raise
        raise InputError(
            f"there is no objective {name!r}", remedy=f"each is a module of {PACKAGE}"
        ) from error


def parse_options(
    owner: str, what: str, defaults: Mapping[str, Any], given: Sequence[str]
) -> dict[str, Any]:
    """Return options by name, with what is given as ``key=value``.

    Parameters
    ----------
    owner, what : str
        For messages: who has the options ("the objective irm"), and their name ("option").
    defaults : mapping
        The options; a value is of the type of its default.
    given : sequence of str
        ``key=value``.

    Raises
    ------
    InputError
        One is unknown, given twice, or has a value of another type than the default.
    """
    options = dict(defaults)
    seen = set()
    for one in given:
        key, equals, value = one.partition("=")
        if not equals or key not in options:
            raise InputError(
                f"{owner} has no {what} {key!r}",
                remedy=f"write key=value; it has {', '.join(options) or 'none'}",
            )
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
    """The name of the sampler that makes its batches with these options.

    Where the pairs of a graph are compared, they have to be in one batch.
    """
    if asked_for(options) == GRAPH:
        return "neighbours"
    if options.get("compat"):
        return getattr(objective, "COMPAT_SAMPLER", objective.SAMPLER)
    return objective.SAMPLER


def reads_features(objective: Objective, options: Options) -> bool:
    """Return whether the loss reads `Batch.features`, other than through its modules."""
    when = getattr(objective, "FEATURES", None)
    return when is not None and all(options[name] == value for name, value in when.items())


def whole(options: Options, name: str) -> int:
    """Return an option that counts something.

    Raises
    ------
    InputError
        It is not a whole number of at least 1.
    """
    value = options[name]
    if value < 1 or value != int(value):
        raise InputError(f"{name} is {value:g}", remedy="give a whole number of at least 1")
    return int(value)


def trains_inside(objective: Objective, options: Options) -> bool:
    """Return whether its modules learn by steps of their own (`inner_loss`)."""
    return hasattr(objective, "inner_loss") and not options.get("compat")


def full_precision(values: "Tensor") -> "Tensor":
    """Half precision as float32; float32 and float64 as they are. Losses are summed in it."""
    import torch

    return values.float() if values.dtype in (torch.bfloat16, torch.float16) else values


def element_losses(logits: "Tensor", labels: "Tensor", task: str) -> "Tensor":
    """The losses that `per_example_loss` takes the mean of.

    Returns
    -------
    tensor
        ``multi_class``: the cross entropy, shape (n, 1); ``multi_label``: the binary cross
        entropy of each label, shape (n, classes).
    """
    from torch.nn import functional

    logits = full_precision(logits)
    if task == "multi_label":
        labels = labels.to(logits.dtype)
        return functional.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    if task == "multi_class":
        log_p = logits.log_softmax(dim=-1)
        return -log_p.gather(-1, labels[..., None])
    raise ValueError(f"there is no task {task}")


def per_example_loss(logits: "Tensor", labels: "Tensor", task: str) -> "Tensor":
    """Cross entropy, or the mean over labels of the binary cross entropy.

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
    """The loss of each case of a batch, shape (n,)."""
    return per_example_loss(batch.logits, batch.labels, batch.task)


def membership(groups: "Tensor", count: int, dtype: "torch.dtype") -> "Tensor":
    """Who belongs to which group: 0 and 1, shape (n, count), from codes (n,)."""
    import torch

    codes = torch.arange(count, device=groups.device)
    return (groups[..., None] == codes).to(dtype)


def group_means(values: "Tensor", members: "Tensor") -> tuple["Tensor", "Tensor"]:
    """The mean of each group.

    Parameters
    ----------
    values : tensor, shape (n,)
        One a case.
    members : tensor of 0 and 1, shape (n, groups)
        As `membership` gives it.

    Returns
    -------
    means, present : tensors, shape (groups,)
        The mean, 0 where nobody is; 1 where somebody is, 0 elsewhere.
    """
    sizes = members.sum(dim=0)
    present = (sizes > 0).to(values.dtype)
    return (values @ members) / at_least_one(sizes), present


def mean_over(values: "Tensor", present: "Tensor") -> "Tensor":
    """The mean of those values (groups,) where `present` is 1; 0 if there is none."""
    return (values * present).sum() / at_least_one(present.sum())


def at_least_one(counts: "Tensor") -> "Tensor":
    """Counts to divide by: 1 instead of 0."""
    return counts.clamp(min=1)


def class_means(batch: Batch) -> tuple["Tensor", "Tensor"]:
    """The loss of each class, whatever its share of the batch.

    ``multi_class``: the mean over the cases of the class. ``multi_label``: the mean of two means,
    over the cases that have the label and over those that have not; of the one that there is.

    Returns
    -------
    means, present : tensors, shape (classes,)
        As `group_means` gives them. A label is always present.
    """
    elements = element_losses(batch.logits, batch.labels, batch.task)
    if batch.task == "multi_class":
        members = membership(batch.labels, batch.logits.shape[-1], elements.dtype)
        return group_means(elements[..., 0], members)
    has = batch.labels.to(elements.dtype)
    sizes = has.sum(dim=0), (1 - has).sum(dim=0)
    sums = (elements * has).sum(dim=0), (elements * (1 - has)).sum(dim=0)
    sides = sum((size > 0).to(elements.dtype) for size in sizes)
    total = sum(one / at_least_one(size) for one, size in zip(sums, sizes, strict=True))
    return total / at_least_one(sides), (sides > 0).to(elements.dtype)
