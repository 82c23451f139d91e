"""The benchmark runner, on a toy case in fresh processes, and the arithmetic of its tables."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest
from benchmarks import __main__ as command
from benchmarks import case, child, compare, internal, machine, maps, meter, runner, table
from benchmarks.meter import LIMIT, Counts, Guard, Share, Watch
from benchmarks.page import page
from benchmarks.runner import Entry, Runner, reference, summary
from benchmarks.store import COMPARISONS, Store

TOY = '''
"""A toy

*Error*: distance from the truth.
"""

import os
import time

import numpy as np

from benchmarks.case import Contender, Skip

sizes = {"quick": [{"n": 1000}], "full": [{"n": 2000}]}


def data(size):
    if size["n"] == 0:
        raise Skip("needs toys.npz")
    return {"x": np.arange(size["n"])}


def adds(pause, error=0, clock="call"):
    def prepare(data, size, threads):
        calls = []

        def run():
            calls.append(1)
            time.sleep(0.5 if clock == "warm" and len(calls) == 1 else pause)
            block = np.ones(int(1e9 * pause))  # 8 GB for a second
            environment = int(os.environ["OMP_NUM_THREADS"])
            return {"sum": data["x"].sum() + error, "threads": environment, "asked": threads, "all": data["x"]}

        return run

    return Contender(prepare, "numpy", clock)


def refuses(data, size, threads):
    raise Skip("too large")


def breaks(data, size, threads):
    return lambda: {"sum": np.nan / data["nothing"]}


ours = {"toy": adds(0.01), "toy (cold)": adds(0.01, clock="process")}
peers = {
    "slow": adds(0.04, error=1),
    "compiling": adds(0.01, clock="warm"),
    "slow (cold)": adds(0.04, clock="process"),
    "absent": Contender(adds, "no_such_module_here.at_all"),
    "refusing": Contender(refuses, "numpy"),
    "broken": Contender(breaks, "numpy"),
}


def kept(result, data, size):
    return {name: value for name, value in result.items() if name != "all"}


def quality(data, size, results):
    assert not any("all" in found for found in results.values())
    truth = size["n"] * (size["n"] - 1) // 2
    return {
        name: {"error": found["sum"] - truth, "threads": found["threads"], "asked": found["asked"]}
        for name, found in results.items()
    }
'''


class Scripted(Guard):
    """Says what it is told: a share before and a share during each run; a quiet machine when that is used up."""

    def __init__(self, *shares):
        self.shares, self.waited = list(shares), []

    def before(self, longest):
        self.waited.append(longest)
        self.now = self.shares.pop(0) if self.shares else (0.0, 0.0)
        return Share(self.now[0], 0.0)

    def start(self):
        pass

    def during(self, measured):
        return Share(self.now[1], self.now[1] / 2)


@pytest.fixture(scope="module", autouse=True)
def short():
    """Calls are repeated for less long than for a number that is kept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "REPEATED", 0.05)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("cases")
    (made / "toy_sum.py").write_text(TOY)
    return made


@pytest.fixture(scope="module")
def toy(folder, tmp_path_factory):
    """One run of the toy case from the command line: what it printed and what it wrote."""
    out, said = tmp_path_factory.mktemp("out") / "results.json", []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "_say", said.append)
        options = ["toy-sum", "--quick", "--repeats", "2", "--threads", "2", "--json", str(out)]
        status = command.main([*options, "--cases-folder", str(folder)], guard=Scripted())
    return status, "\n".join(said), json.loads(out.read_text())["tasks"]


def named(lines):
    return {line["name"]: line for line in lines}


def test_every_contender_is_measured_in_turn(toy):
    status, _, (task,) = toy
    assert status == 0
    assert [line["name"] for line in task["results"]] == ["toy", "toy (cold)", "slow", "compiling", "slow (cold)"]
    for line in task["results"]:
        assert len(line["seconds"]) == 2
        assert min(line["seconds"]) <= line["median"] <= max(line["seconds"])
        assert 0 < line["added_bytes"] <= line["peak_bytes"] < 2**40


def test_clocks(toy):
    """A call takes its pause; a warm one leaves the first call out; a cold one has the whole process in it."""
    lines = named(toy[2][0]["results"])
    assert lines["toy"]["median"] >= 0.01
    assert lines["slow"]["median"] >= 0.04
    assert 0.01 <= min(lines["compiling"]["seconds"]) < 1.0
    # By processor time: on a busy machine a call may wait for longer than a whole process works.
    assert lines["toy (cold)"]["processor"] > lines["toy"]["processor"] + 0.02


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux counts the memory of a call")
def test_memory_is_that_of_the_call(toy):
    lines = named(toy[2][0]["results"])
    assert 50e6 < lines["toy"]["added_bytes"] < 200e6
    assert 250e6 < lines["slow"]["added_bytes"] < 400e6
    assert lines["slow"]["peak_bytes"] > lines["slow"]["added_bytes"] + 10e6


def test_quality_and_threads_come_from_the_contenders(toy):
    lines = named(toy[2][0]["results"])
    assert lines["toy"]["quality"] == {"error": 0, "threads": 2, "asked": 2}
    assert lines["slow"]["quality"]["error"] == 1


def test_who_is_missing_is_said(toy):
    _, said, (task,) = toy
    missing = named(task["skipped"])
    assert missing["absent"]["reason"] == "needs no_such_module_here.at_all, which is not installed"
    assert missing["refusing"]["reason"] == "too large"
    assert "nothing" in missing["broken"]["reason"]
    assert [missing[name]["failed"] for name in ("absent", "refusing", "broken")] == [False, False, True]
    assert "  refusing: skipped, too large" in said
    assert "  broken: failed, KeyError" in said


def test_circumstances_are_recorded(toy):
    task = toy[2][0]
    assert task["case"] == "toy-sum"
    assert task["title"] == "A toy"
    assert task["quick"]
    assert task["threads"] == 2
    assert task["machine"]["cpu"]
    assert task["machine"]["cores"] >= 1
    assert task["versions"]["ours"]["numpy"] == task["versions"]["peers"]["numpy"]
    assert len(task["load"]) == 2
    assert task["date"][:2] == "20"


def test_the_table_is_printed(toy):
    _, said, (task,) = toy
    lines = named(task["results"])
    assert "toy-sum (n 1,000), 2 threads, 2 runs, other processes up to 0% of the machine" in said
    assert table.DISTURBED not in said
    assert f"{lines['slow']['ratio']:.2f}" in said
    assert lines["slow"]["ratio"] == lines["slow"]["median"] / lines["toy"]["median"]
    assert lines["slow (cold)"]["ratio"] == lines["slow (cold)"]["median"] / lines["toy (cold)"]["median"]


def entry(name, seconds, *, ours=False, clock="call"):
    usual = {"peak": 3000, "before": 1000, "load": 0.5, "others": None, "others_before": 0.1, "steal": 0.0}
    usual |= {"attempts": 1, "disturbed": False}
    reports = [{**usual, "seconds": s, "processor": 2 * s} for s in seconds]
    return Entry(name, ours, clock, reports)


def test_ratios_are_of_medians_and_like_with_like():
    entries = [
        entry("mine", [1, 2, 9], ours=True),
        entry("mine too", [5], ours=True),
        entry("mine cold", [4], ours=True, clock="process"),
        entry("peer", [6, 1, 7]),
        entry("peer cold", [2], clock="process"),
        entry("peer warm", [1], clock="warm"),
    ]
    lines = named(summary(entries, {"peer": {"recall": 0.5}})["results"])
    assert {name: line["ratio"] for name, line in lines.items()} == {
        "mine": 1,
        "mine too": 2.5,
        "mine cold": 1,
        "peer": 3,
        "peer cold": 0.5,
        "peer warm": 0.5,
    }
    assert lines["peer"]["quality"] == {"recall": 0.5}
    assert lines["peer"]["added_bytes"] == 2000
    assert lines["peer"]["processor"] == 12


def test_the_meter_tells_own_work_from_that_of_others():
    """Sleeping takes no processor time; a loop takes all of its own, which is not the work of others.

    In a process of its own: threads that other tests left behind here work too.
    """
    code = """
        import json, time
        from benchmarks.meter import Meter
        rest = Meter()
        time.sleep(0.5)
        slept = rest.read()
        work, end = Meter(), time.process_time() + 0.4  # its own: a busy machine gives it less of any second
        while time.process_time() < end:
            pass
        print(json.dumps([slept, work.read()]))
    """
    command = [sys.executable, "-c", dedent(code)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=machine.ROOT)
    slept, worked = json.loads(said.stdout)
    assert slept["seconds"] >= 0.5
    assert slept["processor"] < 0.25
    assert 0.35 < worked["processor"] <= worked["seconds"] + 0.02
    if worked["others"] is not None:
        own = worked["processor"] / worked["seconds"] / os.cpu_count()
        assert 0 <= worked["others"] <= 1.1 - own


def watched(seconds, worked, stolen, own, processors=2):
    """The share that a watch reports when counters have moved on by so much."""
    counters, owned, clocks = (
        [Counts(50.0, 7.0), Counts(50.0 + worked, 7.0 + stolen)],
        [3.0, 3.0 + own],
        [9.0, 9.0 + seconds],
    )
    return Watch(lambda: counters.pop(0), lambda: owned.pop(0), lambda: clocks.pop(0), processors).share()


def test_other_processes_are_what_the_machine_did_and_this_program_did_not():
    assert watched(10, 12, 0, 12) == Share(0, 0)
    assert watched(10, 12, 0, 7) == Share(0.25, 0)
    assert watched(10, 12, 4, 12) == Share(0.2, 0.2)
    assert watched(10, 12, 4, 7) == Share(0.45, 0.2)
    # Steal time that the kernel counted as work of the program is foreign all the same.
    assert watched(10, 12, 4, 16) == Share(0.2, 0.2)
    assert watched(10, 90, 0, 0) == Share(1, 0)
    assert watched(0.1, 12, 0, 0) == Share(None, None)
    assert Watch(read=lambda: None).share() == Share(None, None)


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="only Linux counts the work of the machine")
def test_the_work_of_the_machine_is_counted(tmp_path, monkeypatch):
    first, start, end = meter.counts(), time.perf_counter(), time.process_time() + 0.3
    while time.process_time() < end:
        pass
    worked = meter.counts().worked - first.worked
    assert 0.1 < worked < (time.perf_counter() - start) * os.cpu_count() + 5
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 20 30 4000 500 6 7 80 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n")
    monkeypatch.setattr(meter, "Path", lambda name: stat)
    unit = os.sysconf("SC_CLK_TCK")
    assert meter.counts() == Counts(163 / unit, 80 / unit)


def test_waiting_for_a_quiet_machine_ends(monkeypatch):
    """At once when it is quiet, after the given time when it never is."""
    monkeypatch.setattr(meter, "SAMPLE", 0.01)
    shares = [0.9, 0.5, 0.1, 0.9]
    monkeypatch.setattr(Watch, "share", lambda self: Share(shares.pop(0), 0.0))
    assert Guard().before(60) == Share(0.1, 0.0)
    assert shares == [0.9]
    monkeypatch.setattr(Watch, "share", lambda self: Share(0.9, 0.0))
    start = time.perf_counter()
    assert Guard().before(0.1) == Share(0.9, 0.0)
    assert 0.1 <= time.perf_counter() - start < 60


def test_a_run_is_judged_by_its_own_share_or_by_that_of_its_process(monkeypatch):
    monkeypatch.setattr(Watch, "share", lambda self: Share(0.3, 0.1))
    guard = Guard()
    guard.start()
    assert guard.during(Share(0.05, 0.0)) == Share(0.05, 0.0)
    assert guard.during(Share()) == guard.during(None) == Share(0.3, 0.1)


def toy_task(folder, guard, **settings):
    runner = Runner(threads=1, repeats=1, only=("toy",), exact=True, guard=guard, **settings)
    return runner.task(case.read(folder / "toy_sum.py"), {"n": 10}, quick=False)


@pytest.mark.parametrize("disturbance", [(0.0, LIMIT + 0.01), (LIMIT + 0.01, 0.0)], ids=["during", "before"])
def test_a_disturbed_run_is_repeated(folder, disturbance):
    guard = Scripted(disturbance, disturbance, (0.01, LIMIT), (0.0, 0.9))
    task = toy_task(folder, guard, wait=7)
    (line,) = task["results"]
    assert len(line["seconds"]) == 1
    assert (line["attempts"], line["disturbed"]) == ([3], 0)
    assert (line["others"], line["others_before"]) == ([LIMIT], [0.01])
    assert guard.shares == [(0.0, 0.9)]
    assert guard.waited == [7, 7, 7]
    assert table.DISTURBED not in table.plain(task)


def test_a_machine_that_never_gets_quiet_is_said(folder):
    """The repetitions are bounded, the least disturbed run counts, and its number is marked everywhere."""
    guard = Scripted((0.0, 0.6), (0.3, 0.1), (0.0, 0.5), (0.0, 0.0))
    task = toy_task(folder, guard, again=2)
    (line,) = task["results"]
    assert guard.shares == [(0.0, 0.0)]
    assert (line["attempts"], line["disturbed"]) == ([3], 1)
    assert (line["others"], line["others_before"], line["steal"]) == ([0.1], [0.3], [0.05])
    for text in (table.plain(task), page([task])):
        assert f"{line['median']:.3g} {table.DISTURBED}" in text
        assert f"{table.DISTURBED} other processes used more than 20% of the machine: toy (up to 30%)" in text


def test_short_calls_are_repeated():
    """The median of the calls counts: a slow first one does not."""
    calls = []

    def run():
        calls.append(1)
        time.sleep(0.1 if len(calls) == 1 else 0.01)

    report = child._repeated(run, 0.4)
    assert len(calls) > 4
    assert 0.01 <= report["seconds"] < 0.1
    assert report["processor"] < 0.1
    assert set(report) == {"seconds", "processor", "others", "steal"}


def test_no_ratio_without_ours():
    lines = summary([entry("peer", [2])], {})["results"]
    assert lines[0]["ratio"] is None
    assert reference(lines[0], lines) is None
    cold = summary([entry("mine", [1], ours=True), entry("peer", [2], clock="process")], {})["results"]
    assert cold[1]["ratio"] is None


def test_missing_data_is_said_and_nothing_is_measured(folder):
    said = []
    runner = Runner(threads=1, repeats=1, say=said.append, guard=Scripted())
    task = runner.task(case.read(folder / "toy_sum.py"), {"n": 0}, quick=True)
    assert task["results"] == []
    assert {line["reason"] for line in task["skipped"]} == {"needs toys.npz"}
    assert "  toy: skipped, needs toys.npz" in said


def test_what_takes_too_long_is_stopped_or_run_once(folder, tmp_path):
    toy = case.read(folder / "toy_sum.py")
    settings = {"threads": 1, "repeats": 2, "only": ("slow",), "guard": Scripted()}
    stopped = Runner(**settings, timeout=0.001).task(toy, {"n": 10}, quick=True)
    assert stopped["skipped"][0]["reason"] == "no data: not done after 0.001 s"
    once = Runner(**settings, patience=0.02).task(toy, {"n": 10}, quick=True)
    assert [len(line["seconds"]) for line in once["results"]] == [1, 1]


def test_a_failure_of_ours_is_an_exit_status(tmp_path):
    (tmp_path / "bad.py").write_text(TOY.replace("ours = {", 'ours = {"bad": Contender(breaks, "numpy")}\n_ = {'))
    options = ["bad", "--quick", "--repeats", "1", "--only", "bad", "--cases-folder", str(tmp_path)]
    assert command.main(options, guard=Scripted()) == 1


def stored(label, threads, *seconds, failed=False):
    skipped = [{"name": "lowdim", "ours": True, "reason": "none", "failed": failed}] if not seconds else []
    results = [{"name": "lowdim", "ours": True, "seconds": s} for s in seconds]
    return {"case": "a", "label": label, "threads": threads, "quick": False, "results": results, "skipped": skipped}


def test_results_replace_older_ones_of_the_same_task(tmp_path):
    path = tmp_path / "deep" / "results.json"
    for seconds in (1, 2):
        Store(path).add(stored("n 1", 2, seconds))
    Store(path).add(stored("n 1", 1, 3))
    assert [task["results"][0]["seconds"] for task in Store(path).tasks] == [2, 3]
    path.write_text('{"format": 99}')
    with pytest.raises(ValueError, match="must have format 1; got 99"):
        Store(path)


def test_an_older_measurement_stays_where_nothing_could_be_measured(tmp_path):
    store = Store(tmp_path / "results.json")
    store.add(stored("n 1", 2, 5))
    store.add(stored("n 1", 2))
    store.add(stored("n 2", 2))
    assert [task["results"][0]["seconds"] for task in store.tasks] == [5]
    store.add(stored("n 1", 2, failed=True))
    assert [task["results"] for task in Store(tmp_path / "results.json").tasks] == [[]]


def test_comparisons_and_results_are_not_mixed(tmp_path):
    Store(tmp_path / "both.json", COMPARISONS).add(stored("n 1", 2, 5))
    with pytest.raises(ValueError, match="must have format 1; got 'comparisons 1'"):
        Store(tmp_path / "both.json")


def refused(arguments, capsys, **kwargs):
    """The message with which the command line refuses."""
    with pytest.raises(SystemExit) as stop:
        command.main(arguments, **kwargs)
    assert stop.value.code == 2
    return " ".join(capsys.readouterr().err.split())


def test_a_table_without_lowdim_is_refused(toy, tmp_path, capsys):
    results, out = tmp_path / "results.json", tmp_path / "page.md"
    task = {**toy[2][0], "quick": False}
    peers = [line for line in task["results"] if not line["ours"]]
    missing = {"name": "toy", "ours": True, "reason": "out of memory", "failed": True}
    Store(results).add({**task, "results": peers, "skipped": [*task["skipped"], missing]})
    message = refused(["--write-docs", str(results), "--out", str(out)], capsys)
    assert "toy-sum (n 1,000, threads 2) has no line of lowdim (toy: out of memory)" in message
    assert "python -m benchmarks toy-sum --size 'n 1,000' --threads 2 --json FILE" in message
    assert not out.exists()
    Store(results).add(task)
    assert command.main(["--write-docs", str(results), "--out", str(out)]) == 0


def test_peers_alone_are_not_kept(folder, tmp_path, capsys):
    results = tmp_path / "results.json"
    options = ["--only", "slow", "--json", str(results), "--cases-folder", str(folder)]
    assert "--only leaves no line of lowdim in toy-sum" in refused(options, capsys)
    assert not results.exists()


def test_the_overview_has_the_fastest_peer_that_was_judged():
    judged = {"mine": {"recall": 0.9}, "fast": {}, "good": {"area": 1, "recall": 0.8}, "slow": {"recall": 1}}
    entries = [
        entry(name, [s], ours=name == "mine") for name, s in (("mine", 2), ("fast", 1), ("good", 3), ("slow", 9))
    ]
    facts = {"case": "gone", "title": "Title", "about": "Text.", "label": "n 1", "quick": False, "date": "2026-01-01"}
    where = {"cpu": "chip", "cores": 2, "memory_gb": 1, "system": "Linux"}
    facts |= {"threads": 2, "machine": where, "commit": "abc", "versions": {"ours": {}, "peers": {}}}
    text = page([{**facts, **summary([*entries, entry("cold", [0.1], clock="process")], judged)}])
    assert "| Title | n 1 | 2 | 2 | good | 3 | 1.50 | recall 0.9 | recall 0.8 |" in text
    assert "Measured from 2026-01-01 to 2026-01-01 on: chip, 2 cores, 1 GB, Linux. Threads: 2." in text


def test_the_page(toy, tmp_path):
    task = {**toy[2][0], "quick": False}
    results, out = tmp_path / "results.json", tmp_path / "page.md"
    Store(results).add(task)
    Store(results).add({**task, "quick": True, "label": "n 17"})
    assert command.main(["--write-docs", str(results), "--out", str(out)]) == 0
    text = out.read_text()
    assert "## A toy\n\n*Error*: distance from the truth.\n" in text
    assert "**n 1,000** (2 threads, 2 runs" in text
    assert "n 17" not in text
    head, rule, first = text[text.index("|  | time (s)") :].splitlines()[:3]
    assert head.count("|") == rule.count("|") == first.count("|")
    assert "refusing: skipped, too large" in text
    assert task["machine"]["cpu"] in text


def test_the_page_in_the_documentation_is_that_of_the_results():
    results = Store(machine.ROOT / "benchmarks" / "results.json").tasks
    assert (machine.ROOT / "docs" / "benchmarks.md").read_text() == page(results)


def test_unknown_cases_and_real_data_that_is_not_there(folder, monkeypatch, tmp_path):
    from benchmarks import data

    with pytest.raises(KeyError, match=r"no case 'tyo'\. There are: toy-sum"):
        case.find(["tyo"], folder)
    monkeypatch.delenv("LOWDIM_DATA", raising=False)
    with pytest.raises(case.Skip, match="set LOWDIM_DATA to the folder that holds it"):
        data.real("mnist")
    monkeypatch.setenv("LOWDIM_DATA", str(tmp_path))
    with pytest.raises(case.Skip, match=r"mnist\.npz, which is not in the folder"):
        data.real("mnist")


CASES = case.find([])


@pytest.mark.parametrize("found", CASES, ids=[found.name for found in CASES])
def test_cases_are_complete(found):
    assert found.title
    assert "\n" not in found.title
    assert found.about
    for quick in (True, False):
        labels = [case.label(size) for size in found.sizes(quick=quick)]
        assert labels
        assert len(set(labels)) == len(labels)
    assert all(isinstance(contender, case.Contender) for contender in found.contenders.values())
    assert callable(found.module.data)
    assert callable(found.module.quality)
    assert found.name in table.listing(found)


def test_a_clock_must_exist():
    with pytest.raises(ValueError, match="clock must be"):
        case.Contender(len, "numpy", "sundial")


FAKE = """
import time
class Isomap: pass
def solve():
    time.sleep({pause})
    return {answer}
"""
USING = '''
"""Two checkouts

*answer*: what is returned.
"""

from benchmarks.case import Contender

sizes = {"quick": [{"n": 1}], "full": [{"n": 2}]}


def data(size):
    return {"x": size["n"]}


def solving(name):
    def prepare(data, size, threads):
        import lowdim

        solve = getattr(lowdim, name)
        return lambda: {"answer": data["x"] * solve()}

    return prepare


ours = {"lowdim": Contender(solving("solve"), "lowdim"), "lowdim new": Contender(solving("solve_newly"), "lowdim")}
peers = {"peer": Contender(solving("no_such"), "numpy")}


def quality(data, size, results):
    return {name: {"answer": found["answer"], "zero": 0} for name, found in results.items()}
'''


@pytest.fixture
def checkouts(tmp_path):
    for side, pause, answer in (("before", 0.06, 4), ("after", 0.15, 5)):
        package = tmp_path / side / "src" / "lowdim"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(FAKE.format(pause=pause, answer=answer))
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "using.py").write_text(USING)
    return tmp_path


def test_two_checkouts_take_turns(checkouts, monkeypatch):
    """Each is imported from its own folder, whatever is installed; a ratio is after / before."""
    said = []
    monkeypatch.setattr(command, "_say", said.append)
    monkeypatch.setattr(compare, "_check_import", lambda side, source: None)
    sides = ["--before", str(checkouts / "before"), "--after", str(checkouts / "after" / "src")]
    options = ["--repeats", "2", "--threads", "1", "--json", str(checkouts / "out.json")]
    guard = Scripted((0.0, 0.0), (0.0, 0.5))
    status = command.main(
        ["using", *sides, *options, "--again", "0", "--cases-folder", str(checkouts / "cases")], guard=guard
    )
    assert status == 1  # the new function is in none of them
    (record,) = Store(checkouts / "out.json", COMPARISONS).tasks
    (line,) = record["results"]
    assert min(line["seconds"]["before"]) >= 0.06
    assert min(line["seconds"]["after"]) >= 0.15
    assert [len(line["seconds"][side]) for side in ("before", "after")] == [2, 2]
    assert line["ratio"] > 1.3
    assert min(line["ratios"]) > 1
    assert line["verdict"] == "unclear"
    assert line["quality"] == {"before": {"answer": 8, "zero": 0}, "after": {"answer": 10, "zero": 0}}
    assert line["quality_ratio"] == {"answer": 1.25, "zero": 1}
    assert line["disturbed"] == 1
    text = "\n".join(said)
    turns = [line.split(": ")[0] for line in said if line.startswith("  lowdim, ")]
    assert turns == [f"  lowdim, {side}" for side in ("before", "after", "after", "before")]
    assert "answer 8 -> 10 (ratio 1.2500); zero 0 -> 0 (ratio 1.0000)" in text
    assert "over 1 lines; 0 slower, 0 same, 0 faster, 1 unclear." in text
    assert f"lowdim{table.DISTURBED} " in text
    assert "lowdim new, before failed, AttributeError" in text
    assert "peer" not in text


def test_a_checkout_must_bring_its_compiled_module(checkouts, capsys):
    message = refused(["--before", str(checkouts / "before"), "--after", str(checkouts / "after")], capsys)
    assert f"lowdim (before) must be importable from {checkouts / 'before' / 'src'}" in message
    assert "it has no compiled module" in message
    assert "tools/dev_build.sh" in message
    empty = checkouts / "empty"
    empty.mkdir()
    assert f"must be importable from {empty}" in refused(["--before", str(empty)], capsys)


def test_a_change_of_time_needs_every_turn():
    assert compare.verdict([1.06, 1.3]) == "slower"
    assert compare.verdict([1.04, 1.3]) == "same"
    assert compare.verdict([0.5, 0.94]) == "faster"
    assert compare.verdict([0.5, 0.96]) == "same"
    assert compare.verdict([1.5]) == compare.verdict([1.5, 1.5], disturbed=1) == "unclear"


def test_the_largest_tasks_exist(capsys):
    for name, text, contender in compare.LARGEST:
        (found,) = case.find([name])
        assert text in [case.label(size) for size in found.sizes(quick=False)]
        assert contender in found.module.ours
    assert len(set(compare.LARGEST)) == len(compare.LARGEST) == 10
    assert "--largest needs --before" in refused(["--largest", "3"], capsys)
    assert "--largest must be from 1 to 10; got 11" in refused(["--before", "x", "--largest", "11"], capsys)
    assert "leave out CASE" in refused(["pca", "--before", "x", "--largest", "3"], capsys)


def test_functions_of_the_core_are_found_where_they_are(tmp_path, monkeypatch):
    inner = tmp_path / "kernel" / "deep"
    inner.mkdir(parents=True)
    for package in (tmp_path / "kernel", inner):
        (package / "__init__.py").write_text("")
    (inner / "one.py").write_text("def wanted(): return 7\n\n\ndef wanted_not(): pass\n\n\ndef twice(): pass\n")
    (inner / "two.py").write_text("class twice: pass\n\n\ndef outer():\n    def wanted(): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert internal.core("wanted", "kernel")() == 7
    with pytest.raises(case.Skip, match=r"needs nobody from one module of kernel; got no module"):
        internal.core("nobody", "kernel")
    with pytest.raises(case.Skip, match=r"got deep.one\.py, deep.two\.py"):
        internal.core("twice", "kernel")
    for name in ("nearest", "geodesics", "repaired", "Polyline"):
        assert internal.core(name).__name__ == name


def small(name, size, *wanted):
    """Quality of some contenders of a case, computed here and now."""
    found = case.find([name])[0]
    arrays = found.module.data(size)
    keep = getattr(found.module, "kept", lambda result, arrays, size: result)
    results = {one: keep(found.contenders[one].prepare(arrays, size, 1)(), arrays, size) for one in wanted}
    return found.module.quality(arrays, size, results)


def test_quality_of_repair():
    judged = small("repair", {"n": 1000}, "lowdim linearity", "lowdim stability")
    found = judged["lowdim linearity"]
    assert found["bridges found"] == 5
    assert found["path correlation"] > 0.99 > found["before repair"]
    assert all(one["false alarms %"] < 0.5 for one in judged.values())


def test_quality_of_sheets():
    """What Isomap stretches, TCIE does not; and the exact program bounds the variance."""
    judged = small("tcie", {"n": 900, "landmarks": 0}, "lowdim TCIE", "lowdim Isomap")
    assert judged["lowdim TCIE"]["R² sheet"] > judged["lowdim Isomap"]["R² sheet"] > 0.95
    assert abs(judged["lowdim TCIE"]["stretch"]) < 0.5 * judged["lowdim Isomap"]["stretch"]
    judged = small("mvu", {"n": 60, "landmarks": 0}, "lowdim")
    assert judged["lowdim"]["edge error"] < 1e-3


def test_quality_of_neighbours():
    judged = small("neighbours", {"set": "clusters-50", "n": 300, "k": 5}, "lowdim exact", "scikit-learn exact")
    assert judged["lowdim exact"]["recall"] == judged["scikit-learn exact"]["recall"] == 1


@pytest.mark.parametrize(
    ("rows", "metric"), [("abundances", "braycurtis"), ("fingerprints", "jaccard"), ("tf-idf", "cosine")]
)
def test_quality_of_neighbours_under_other_metrics(rows, metric):
    size = {"set": rows, "metric": metric, "n": 250, "k": 5}
    judged = small("metrics", size, "lowdim exact", "scikit-learn exact")
    assert judged["lowdim exact"]["recall"] == 1
    assert judged["scikit-learn exact"]["recall"] > 0.999  # its products round


def test_quality_of_neighbours_counts_what_is_wrong():
    import numpy as np

    found = case.find(["neighbours"])[0].module
    size = {"set": "clusters-50", "n": 60, "k": 4}
    arrays = found.data(size)
    answer = found.lowdim(approximate=False)(arrays, size, 1)()["indices"].copy()
    far = np.linalg.norm(arrays["X"][:, None] - arrays["X"], axis=2).argmax(axis=1)
    answer[:, 0] = far
    judged = found.quality(arrays, size, {"wrong": found.kept({"indices": answer}, arrays, size)})
    assert judged["wrong"]["recall"] == 0.75
    own = np.column_stack([far, np.arange(60), answer])
    assert np.array_equal(found.without_self(own), np.delete(own, 1, axis=1))
    assert np.array_equal(found.without_self(np.column_stack([answer, far])), answer)


def test_quality_of_maps_and_paths():
    isomap = small("isomap", {"set": "swiss-roll", "n": 300, "landmarks": 0}, "lowdim", "scikit-learn")
    assert isomap["lowdim"]["max difference"] < 1e-8
    assert isomap["lowdim"]["R² paths"] == pytest.approx(isomap["scikit-learn"]["R² paths"])
    assert small("geodesics", {"set": "swiss-roll", "n": 200, "sources": 50}, "lowdim")["lowdim"]["error"] < 1e-12


def test_quality_of_rank_measures():
    assert small("trustworthiness", {"n": 200}, "lowdim", "scikit-learn")["lowdim"]["difference"] < 1e-12
    assert small("rnx", {"n": 200}, "lowdim", "sorting with numpy")["lowdim"]["difference"] < 1e-12


def test_quality_of_unmixing():
    unmixed = small("ica", {"n": 3000, "k": 4}, "lowdim fastica", "lowdim infomax", "scikit-learn eigh")
    assert max(found["Amari"] for found in unmixed.values()) < 0.05
    amari = case.find(["ica"])[0].module.amari
    assert amari([[0, -3], [2, 0]]) == 0
    assert amari([[1, 1], [1, -1]]) == 1


def test_quality_of_eigenvalues():
    kernel = small("kernel-pca", {"n": 200}, "lowdim", "scikit-learn arpack")
    assert max(found["error"] for found in kernel.values()) < 1e-9
    for size in ({"n": 400, "d": 20, "k": 5}, {"n": 50, "d": 200, "k": 5}):
        pca = small("pca", size, "lowdim", "scikit-learn full", "X.T @ X")
        assert pca["lowdim"]["error"] < 1e-5
        assert pca["scikit-learn full"]["error"] < 1e-4


def test_quality_of_neighbour_embeddings():
    """A map that is the data keeps all neighbours; P has the perplexity that was asked for."""
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    shuffled = X[rng.permutation(300)]
    judged = maps.measured({"X": X, "labels": (X[:, 0] > 0).astype(int)}, {"same": 3 * X, "shuffled": shuffled})
    assert judged["same"]["10-NN kept"] == 1
    assert judged["same"]["1-NN error"] < 0.1
    assert judged["shuffled"]["10-NN kept"] < 0.1
    assert 0.3 < judged["shuffled"]["1-NN error"] < 0.7
    P = maps.joint_probabilities(X, 5.0, 20)
    assert P.sum() == pytest.approx(1)
    assert abs(P - P.T).max() < 1e-15
    assert maps.divergence(P, X) < maps.divergence(P, shuffled)
    grid = np.arange(12.0)[:, None] @ np.ones((1, 1))
    inner = maps.joint_probabilities(grid, 2.0, 2).toarray()[5]
    assert inner[4] == pytest.approx(inner[6])
    assert np.count_nonzero(inner) == 2


def test_quality_of_landmarks():
    sizes = [{"metric": metric, "n": 3000, "d": 5, "landmarks": 200} for metric in ("euclidean", "manhattan")]
    for size in sizes:
        assert small("landmark-mds", size, "lowdim", "distances alone")["lowdim"]["correlation"] > 0.8
