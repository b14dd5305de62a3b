"""Shows a real window under Xvfb, holds a conversation in it and saves pictures.

    python tests/desktop_app/screenshot.py --out build/screenshots --worker demo --theme dark
    python tests/desktop_app/screenshot.py --out build/screenshots --worker real

"demo" plays canned answers; "real" starts the library worker and the engine on the samples.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
QUESTIONS = (
    "What are the main terms?",
    "How is payment made?",
    "How is liability for breach determined?",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "screenshots")
    parser.add_argument("--worker", choices=("demo", "real"), default="demo")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--sample", default="supply-agreement")
    parser.add_argument("--document", type=Path, help="another document than a sample")
    parser.add_argument("--size", default="1440x900")
    parser.add_argument("--scale", type=int, default=1, help="physical pixels of a logical one")
    parser.add_argument("--final", type=Path, help="where the last picture is kept as well")
    parser.add_argument("--question", action="append", default=[])
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.inside:
        return run_under_xvfb(arguments.size, arguments.scale)
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        os.environ["CLAUSEBOOK_HOME"] = home
        Driver(arguments).run()
    return 0


def run_under_xvfb(size: str, scale: int) -> int:
    """Starts a display of its own, and this script again inside it."""
    size = "x".join(str(int(n) * scale) for n in size.split("x"))
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", f"{size}x24", "-nolisten", "tcp"],
        pass_fds=(writer,), stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(writer)
    try:
        display = os.read(reader, 32).decode().strip()
        environment = os.environ | {"DISPLAY": f":{display}", "QT_QPA_PLATFORM": "xcb"}
        environment["QT_SCALE_FACTOR"] = str(scale)
        command = [sys.executable, *sys.argv, "--inside"]
        return subprocess.run(command, env=environment, check=False).returncode
    finally:
        server.terminate()
        server.wait()


class Driver:
    """Plays the user: asks, waits, and takes pictures."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.number = 0

    def run(self) -> None:
        from desktop_app import settings as settings_module
        from desktop_app.window.app import build_window, make_application
        from desktop_app.window.window_state import WindowState

        arguments = self.arguments
        self.application = make_application(["screenshot"])
        settings = settings_module.change(settings_module.Settings(), {"theme": arguments.theme})
        state = WindowState(Path(os.environ["CLAUSEBOOK_HOME"]) / "window.ini")
        began = time.monotonic()
        self.controller = build_window(self.application, self.make_client(), settings, state)
        self.window = self.controller.window
        width, height = (int(n) for n in arguments.size.split("x"))
        self.window.setGeometry(0, 0, width, height)
        self.window.show()
        self.window.windowHandle().requestActivate()
        self.spin(0.05)
        print(f"shown after {time.monotonic() - began:.2f} s")
        self.controller.start()
        if arguments.worker == "demo":
            self.tour()
        else:
            self.converse()
        if arguments.final:
            arguments.final.parent.mkdir(parents=True, exist_ok=True)
            self.application.primaryScreen().grabWindow(0).save(str(arguments.final))
        self.window.close()

    def make_client(self) -> Any:
        if self.arguments.worker == "real":
            from desktop_app.worker_client import WorkerClient, WorkerOptions

            return WorkerClient(WorkerOptions())
        from tests.desktop_app.demo_script import demo_worker

        return demo_worker(self.arguments.sample)

    def tour(self) -> None:
        """Every state of the window, with canned answers."""
        worker, controller, window = self.controller.jobs.client, self.controller, self.window
        kept, worker.documents = worker.documents, []
        controller.documents.refresh()
        self.shot("empty", 0.4)
        worker.documents = []
        controller.documents.open_sample()
        self.shot("reading", 0.35)
        self.spin(1.0)
        worker.documents = kept
        controller.documents.refresh()
        worker.trouble(controller.documents.add)
        self.shot("ready", 0.4)
        questions = self.arguments.question or [*worker.script]
        for question in questions:
            window.chat.composer.edit.setPlainText(question)
            window.chat.composer.send.click()
            self.shot("evidence", 0.65)
            self.spin(1.0)
            self.shot("streaming", 0.15)
            self.wait(lambda: controller.session.run is None)
            self.shot("answered", 1.4)
        window.pdf.open_search()
        window.pdf.pages.find_bar.field.setText("Goods")
        self.shot("search", 0.8)
        controller.escape()
        window.cache.pop_up(window.status.details)
        self.shot("cache", 0.3)
        window.cache.hide()
        controller.preferences.open()
        self.shot("settings", 0.4)
        controller.preferences.dialog.reject()
        window.chat.banners.error(
            "The model file SmolLM2.gguf is cut short.", "Download it again.", "Settings…", print
        )
        window.chat.banners.info("The library worker stopped and was started again.")
        window.chat.turns[-1].question.edit.click()
        self.shot("banners", 0.3)
        controller.documents._confirm_removal(worker.documents[0].name)
        self.shot("confirm", 0.3)

    def converse(self) -> None:
        """The seed conversation with the real worker."""
        controller, window = self.controller, self.window
        sample = ROOT / "assets" / "samples" / f"{self.arguments.sample}.pdf"
        controller.documents.add([str((self.arguments.document or sample).resolve())])
        self.shot("reading", 2.5)
        self.wait(lambda: bool(controller.model.document_names()), 600)
        self.shot("ready", 1.0)
        for question in self.arguments.question or QUESTIONS:
            window.chat.composer.edit.setPlainText(question)
            window.chat.composer.send.click()
            self.wait(lambda: bool(controller.session.run and controller.session.run.hits)
                      or controller.session.run is None, 120)  # fmt: skip
            self.shot("evidence", 0.3)
            self.wait(lambda: bool(controller.session.run and controller.session.run.text)
                      or controller.session.run is None, 240)  # fmt: skip
            self.shot("streaming", 0.3)
            self.wait(lambda: controller.session.run is None, 600)
            self.shot("answered", 2.0)
            answer = window.chat.turns[-1].answer.answer
            print(f"Q: {question}\nA: {answer.text if answer else window.chat.banners.texts()}")
            if answer:
                for citation in answer.citations:
                    print(f"   [{citation.page}] {citation.quote[:100]}")
                print(f"   {answer.stats}")

    def shot(self, name: str, after: float = 0.2) -> None:
        """Saves what is on the screen."""
        self.spin(after)
        self.number += 1
        path = self.arguments.out / f"{self.arguments.theme}-{self.number:02d}-{name}.png"
        self.application.primaryScreen().grabWindow(0).save(str(path))

    def spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.application.processEvents()
            time.sleep(0.01)

    def wait(self, done: Callable[[], bool], seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while not done():
            if time.monotonic() > end:
                self.shot("timeout")
                raise TimeoutError(f"gave up after {seconds} s")
            self.spin(0.02)


if __name__ == "__main__":
    sys.exit(main())
