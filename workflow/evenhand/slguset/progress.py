"""The progress of a scoring, in sentences."""

from collections.abc import Callable


class Share:
    """Convert scored tokens to scored sentences, for a progress bar of sentences."""

    def __init__(
        self, sentences: int, tokens: int, progress: Callable[[int], object] | None
    ) -> None:
        self.sentences, self.tokens, self.progress = sentences, tokens, progress
        self.tokens_done = self.told = 0

    def add(self, tokens: int) -> None:
        """Report that further tokens are done."""
        self.tokens_done += tokens
        self._tell(self.sentences * self.tokens_done // self.tokens)

    def finish(self) -> None:
        """Report that all sentences are done, including those without tokens."""
        self._tell(self.sentences)

    def _tell(self, done: int) -> None:
        if self.progress:
            self.progress(done - self.told)
        self.told = done
