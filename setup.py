"""Adds the workflow's own files to the wheel, as the folder `evenhand_workflow`."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

#: A checkout's files beside the library that a run reads.
PARTS = ("Snakefile", "config", "docs/*.md", "envs", "profiles", "requirements", "resources")
PARTS += ("workflow/*.py", "workflow/report", "workflow/rules", "workflow/schemas")


class BuildWithWorkflow(build_py):
    """Builds the packages, and copies `PARTS` beside them."""

    def run(self) -> None:
        """Build."""
        super().run()
        if self.editable_mode:  # a checkout has them in place
            return
        for part in (path for pattern in PARTS for path in sorted(Path().glob(pattern))):
            for path in [part] if part.is_file() else sorted(part.rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    target = Path(self.build_lib, "evenhand_workflow", path)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    self.copy_file(str(path), str(target))


setup(cmdclass={"build_py": BuildWithWorkflow})
