"""How far a scoring is, in sentences."""

from collections.abc import Callable


class Share:
    """Turns tokens done into sentences done, for a progress bar of sentences."""

    def __init__(
        self, sentences: int, tokens: int, progress: Callable[[int], object] | None
    ) -> None:
        self.sentences, self.tokens, self.progress = sentences, tokens, progress
        self.tokens_done = self.told = 0

    def add(self, tokens: int) -> None:
        """So many tokens more are done."""
        self.tokens_done += tokens
        self._tell(self.sentences * self.tokens_done // self.tokens)

    def finish(self) -> None:
        """All sentences are done, those without tokens too."""
        self._tell(self.sentences)

    def _tell(self, done: int) -> None:
        if self.progress:
            self.progress(done - self.told)
        self.told = done
