"""Errors in the words of a command line, in one sentence."""

import inspect

from cyclopts import App, CycloptsError, MissingArgumentError, UnusedCliTokensError

from evenhand.errors import InputError, nearest


def call(app: App, words: list[str]) -> object:
    """Return the result of a program; InputError if it does not take these words."""
    try:
        return app(words, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        raise InputError(problem_of(error), remedy=f"see `{app.name[0]} --help`") from None


def problem_of(error: CycloptsError) -> str:
    """Return the problem with the words, without a final dot."""
    problem, _, near = str(error).partition(" Available")[0].partition(" Did you mean ")
    problem = problem.rstrip("., ")
    if near and nearest(problem.split()[-1].strip('-"'), [near.strip('-"? ')]):
        problem += f". Did you mean {near.rstrip()}"
    if isinstance(error, UnusedCliTokensError):
        problem = f"nothing takes the argument {' and '.join(error.unused_tokens)}"
    elif isinstance(error, MissingArgumentError) and error.keyword is None:
        is_option = error.argument.field_info.kind is inspect.Parameter.KEYWORD_ONLY
        name = error.argument.name
        problem = f"{f'`{name}`' if is_option else name.strip('-').upper()} is missing"
        unused = (word.partition("=")[0] for word in error.unused_tokens or ())
        if is_option and (wrong := nearest(name, unused)):
            problem = f"Unknown option: {wrong}. Did you mean {name}?"
    return problem
