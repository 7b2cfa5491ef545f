"""A part of the demonstration: one skill among a thousand, found and put before a model within a budget."""

from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from skillyard.search import Document, SkillIndex
from skillyard.search.catalog import BUDGET, HITS, CatalogWriter, PromptCatalog
from skillyard.skill.library import SkillEntry

REQUEST: Final = "지난 분기 매출 데이터를 엑셀 보고서로 정리해 주세요"
MEANING: Final = "Please put last quarter's sales data into an Excel report"
RIGHT: Final = "quarterly-sales-workbook"

_RIGHT: Final = (
    "Builds the quarterly sales report as an Excel workbook: reads the exported sales data, sums revenue by region and"
    " product, adds charts and a summary sheet. Use when someone asks for quarterly figures in a spreadsheet."
)
_SUBJECTS: Final = (
    ("spreadsheet", "spreadsheets and workbooks"),
    ("revenue", "revenue and sales figures"),
    ("contract", "contracts and their annexes"),
    ("invoice", "invoices of suppliers"),
    ("ticket", "tickets of the help desk"),
    ("release", "releases of a product"),
    ("database", "tables and indexes of a database"),
    ("cluster", "workloads on a cluster"),
    ("meeting", "minutes of meetings"),
    ("podcast", "episodes of a podcast"),
    ("newsletter", "issues of a newsletter"),
    ("survey", "answers to a survey"),
    ("genome", "reads of a sequencing run"),
    ("telescope", "images of a telescope"),
    ("warehouse", "stock in a warehouse"),
    ("timetable", "timetables of a school"),
    ("recipe", "recipes of a kitchen"),
    ("garden", "beds and plants of a garden"),
    ("insurance", "claims to an insurer"),
    ("translation", "translations of an application"),
    ("firmware", "firmware of devices"),
    ("map", "layers of a map"),
)
_ACTIONS: Final = (
    ("audit", "Audits {0} against written rules and lists every deviation with its place and its weight."),
    ("import", "Imports {0} from other systems, keeps what belongs together and reports what could not be read."),
    ("cleanup", "Cleans up {0}: finds what is stale or there twice, proposes what to keep and waits for a yes."),
    ("forecast", "Forecasts {0} from their history with an honest range, and says which assumption matters most."),
    ("review", "Reviews {0} the way a careful colleague would, with the serious points first and a fix for each."),
    ("archive", "Archives {0} so that they can be found again, with checksums and a list of contents."),
    ("compare", "Compares {0} of two points in time and explains what changed, for whom, and whether it was meant."),
    ("explain", "Explains {0} to newcomers in plain words, from the overview down to the detail they ask for."),
    ("monitor", "Monitors {0}, tells apart what is noise and what needs somebody now, and drafts the message."),
    ("anonymise", "Anonymises {0} before they are shared: names, addresses and numbers become stable stand-ins."),
)
_SCOPES: Final = (
    ("", "Use when a single case is at hand and the details matter."),
    ("-batch", "Use when there are hundreds at once and nobody can look at each of them."),
    ("-weekly", "Use for the weekly round, with last week's result as the starting point."),
    ("-handover", "Use when the work goes to another team, which must be able to go on without asking."),
    ("-training", "Use to prepare exercises for people who are to do it themselves."),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchShow:
    """What was asked, what was found, and what a model would be given."""

    skills: int
    found: tuple[SkillEntry, ...]
    catalog: PromptCatalog

    def as_dict(self) -> dict[str, Any]:
        return {
            "request": REQUEST,
            "skills": self.skills,
            "found": [entry.id for entry in self.found],
            "catalog": self.catalog.as_dict(),
        }


def show_search() -> SearchShow:
    """Search a thousand skills for a request in Korean, and write the catalog for it."""
    entries = demo_entries()
    by_id = {entry.id: entry for entry in entries}
    index = SkillIndex.of(Document(key=each.id, name=each.name, description=each.description) for each in entries)
    hits = [hit.key for hit in index.search(REQUEST, limit=HITS).hits]
    catalog = CatalogWriter(entries).write(budget=BUDGET, hits=hits)
    return SearchShow(skills=len(entries), found=tuple(by_id[hit] for hit in hits), catalog=catalog)


def demo_entries() -> list[SkillEntry]:
    """Skills of every trade, made of parts; one is the right one."""
    made = [
        _entry(f"{subject}-{action}{scope}", f"{what.format(things)} {when}")
        for (subject, things), (action, what), (scope, when) in product(_SUBJECTS, _ACTIONS, _SCOPES)
    ]
    return [*made, _entry(RIGHT, _RIGHT)]


def _entry(name: str, description: str) -> SkillEntry:
    return SkillEntry(name, name, description, f"/skills/{name}/SKILL.md", "demo")
