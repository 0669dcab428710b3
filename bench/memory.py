"""Peak extra memory of a call, as a share of X. `python -m bench.memory PEER TASK SHRINK` measures one.

Each call runs in a new process. After X is made, writing 5 to /proc/self/clear_refs sets the kernel's
high-water mark of resident memory (VmHWM) back to what is resident now; its growth during the call is the
peak. The kernel keeps the mark itself, so no peak is missed, however short, as one would be by polling.
What the call returns (the pickled size of the model, or of the probabilities) is then taken off; a model
about to predict has predicted one row before, so that parameters made when first asked for are part of it. Two
things would blur it: costs paid once a process (code pages, thread stacks, BLAS buffers), so a small
model goes first; and freed memory that malloc keeps for later, so malloc is set to map every block over
64 kB by itself and give it back. Linux only.
"""

import gc
import json
import os
import pickle
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bench import peers
from bench.data import head, load, size
from bench.tasks import TASKS, Task

MOST = 0.10  # accepted, of the bytes of X
WARM_UP_ROWS = 2000
MALLOC = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}


@dataclass(frozen=True)
class Peak:
    task: Task
    peer: str
    x_bytes: int
    extra_bytes: int

    @property
    def share(self) -> float:
        return self.extra_bytes / self.x_bytes

    @property
    def missed(self) -> bool:
        return self.peer == peers.OURS and self.share > MOST


def measure(task: Task, peer: str, shrink: int = 1) -> Peak:
    """Peak of `task`, one of TASKS, on 1/shrink of its rows."""
    command = [sys.executable, "-m", "bench.memory", peer, task.name, str(shrink)]
    done = subprocess.run(command, env=os.environ | MALLOC, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"memory of {task.name} with {peer}: {last}")
    return Peak(task, peer, **json.loads(done.stdout))


def _measure_here(task: Task, peer: peers.Peer) -> dict[str, int]:
    X, y = load(task.recipe)

    def prepare(rows: int | None):
        """The call to measure, on so many rows, with what comes before it done."""
        x = head(X, rows)
        model = peer.make(task.model, **task.kwargs)
        if task.verb == "fit":
            return lambda: model.fit(x, y[:rows])
        model.fit(x, y[:rows]).predict_proba(x[:1])
        return lambda: model.predict_proba(x)

    prepare(WARM_UP_ROWS)()
    call = prepare(None)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    before = _high_water()
    answer = call()
    peak = _high_water()
    extra = max(0, peak - before - len(pickle.dumps(answer)))
    return {"x_bytes": size(X), "extra_bytes": extra}


def _high_water() -> int:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return 1024 * int(found[1])


def _main(peer: str, name: str, shrink: str) -> None:
    task = next(task for task in TASKS if task.name == name).smaller(int(shrink))
    print(json.dumps(_measure_here(task, peers.found()[peer])))


if __name__ == "__main__":
    _main(*sys.argv[1:])
