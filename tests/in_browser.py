"""The report in a real browser: Debian's Chromium, driven by Playwright."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evenhand.report.page_list import BESIDE

#: Milliseconds after which something that should show up is missing, on a busy machine too.
PATIENCE = 30_000

#: What Chromium leaves out. Its popups below the address bar, two pages that each window loads
#: and nobody sees, take longer than most of ours; the others are those that Playwright leaves
#: out, whose own argument this one replaces.
LEFT_OUT = [
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
]

#: Chromium as it asks nothing of the network and nothing of the machine.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    f"--disable-features={','.join(LEFT_OUT)}",
]


def chromium() -> str:
    """Where Chromium is; it is installed if it is not there and may be."""
    found = shutil.which("chromium")
    if found:
        return found
    remedy = "install Debian's package chromium, then run this again"
    if not shutil.which("apt-get") or os.geteuid() != 0:
        pytest.exit(f"Chromium is not installed, and only root may install it; {remedy}.", 1)
    quiet = {"env": os.environ | {"DEBIAN_FRONTEND": "noninteractive"}, "text": True}
    for command in ("update -qq", "install -y -qq --no-install-recommends chromium fonts-noto-cjk"):
        done = subprocess.run(["apt-get", *command.split()], capture_output=True, **quiet)
        if done.returncode:
            lines = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()
            pytest.exit(f"Chromium could not be installed by apt-get: {lines[-1]}; {remedy}.", 1)
    return shutil.which("chromium")


@contextmanager
def browser() -> Iterator[Any]:
    """A browser, closed at the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        one = driver.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        try:
            yield one
        finally:
            one.close()


class View:
    """A page in a browser.

    Attributes
    ----------
    page : playwright.sync_api.Page
    heard : list of str
        What went wrong or should not have been: messages of the console, errors, dialogs,
        violations of the policy, and each request but that for the page itself.

    Parameters
    ----------
    browser : playwright.sync_api.Browser
    file : Path
        The page.
    address : str
        What follows it in the URL, such as ``#an-id``.
    **settings
        Of `Browser.new_context`, such as ``color_scheme``.
    """

    def __init__(self, browser: Any, file: Path, address: str = "", **settings: Any) -> None:
        self.file = file
        self.context = browser.new_context(**settings)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.heard: list[str] = []
        self.page.on("console", lambda message: self.heard.append(message.text))
        self.page.on("pageerror", lambda error: self.heard.append(str(error)))
        self.page.on("dialog", self._dismiss)
        self.page.on("request", self._judge)
        self.page.add_init_script(
            "window.violations = []; addEventListener('securitypolicyviolation',"
            " (event) => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`))"
        )
        self.page.goto(file.as_uri() + address)
        self.settle()

    def settle(self) -> None:
        """Wait until each figure is drawn as wide as its place, and an explorer has its data."""
        self.page.wait_for_function(
            "() => [...document.querySelectorAll('.chart')].every((chart) =>"
            " Number(chart.querySelector('svg')?.getAttribute('width')) === chart.clientWidth)"
            " && !document.querySelector('.explorer[aria-busy]')"
        )

    def _dismiss(self, dialog: Any) -> None:
        self.heard.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def _judge(self, request: Any) -> None:
        if request.url.partition("#")[0] not in (
            self.file.as_uri(),
            self.file.with_name(BESIDE).as_uri(),
        ):
            self.heard.append(f"a request: {request.url}")

    def close(self) -> None:
        """Close it; what was heard is a failure."""
        violations = self.page.evaluate("window.violations ?? []")  # of none without scripts
        self.context.close()
        assert self.heard + violations == []
