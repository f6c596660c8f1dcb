"""Documents that `document_create` makes, opened with python-docx, openpyxl and python-pptx: their texts, types and structure.

    python office.py BINARY

All of it is one vault and the command line of the program.
"""

import datetime
import json
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import docx
import openpyxl
import pptx

BINARY = str(Path(sys.argv[1]).resolve())

NOTE = """---
title: All stones
author: Ada
tags: [slate, roof]
client: Jet & Co
created: 2026-04-15
---
# Stones

They **last** *long*, ~~not~~ `code`, [a link](https://example.com/?a=1&b=2) and [[Jet|a stone]].[^1]

[^1]: A footnote.

- one
  - two
1. first
- [x] done

> A quote

```
a < b
```

## Weights

| Name | Weight | Found | Odd |
|:-----|-------:|:-----:|-----|
| Slate | 2.5 | 2026-04-15 | =1+1 |
| Jet | 3 | 2026-05-01T09:30 | 007 |

![[dot.png|40]]

![[Part]]
"""
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg=="


class Vault:
    """A folder with notes, and calls of tools in it."""

    def __init__(self, home: Path):
        self.home = home
        self.folder = home / "vault"
        (self.folder / ".obsidian").mkdir(parents=True)
        (self.folder / "Stones.md").write_text(NOTE)
        (self.folder / "Part.md").write_text("An embedded part.\n")
        self.call("attachment_add", {"name": "dot.png", "data": DOT})

    def call(self, tool: str, arguments: dict) -> dict:
        command = [BINARY, "call", tool, json.dumps(arguments), "--vault", str(self.folder)]
        environment = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def make(self, path: str, **arguments) -> Path:
        self.call("document_create", {"path": path, **arguments})
        return self.folder / path


def check_docx(vault: Vault):
    document = docx.Document(vault.make("Stones.docx", note="Stones"))
    styles = [(p.style.name, p.text) for p in document.paragraphs if p.text]
    assert ("Heading 1", "Stones") in styles and ("Heading 2", "Weights") in styles, styles
    assert ("List Paragraph", "two") in styles and ("Quote", "A quote") in styles, styles
    assert ("Source Code", "a < b") in styles, styles
    first = document.paragraphs[1]
    assert first.text == "They last long, not code, a link and a stone.", first.text
    assert [r.text for r in first.runs if r.bold] == ["last"] and [r.text for r in first.runs if r.font.strike] == ["not"]
    assert first.hyperlinks[0].address == "https://example.com/?a=1&b=2"
    table = document.tables[0]
    assert [c.text for c in table.rows[1].cells] == ["Slate", "2.5", "2026-04-15", "=1+1"]
    assert len(document.inline_shapes) == 1 and document.inline_shapes[0].width.pt == 30
    core = document.core_properties
    assert (core.title, core.author, core.keywords) == ("All stones", "Ada", "slate, roof")
    assert core.created.date() == datetime.date(2026, 4, 15)


def check_xlsx(vault: Vault):
    book = openpyxl.load_workbook(vault.make("Stones.xlsx", note="Stones"))
    sheet = book["Weights"]
    assert sheet.freeze_panes == "A2" and sheet.auto_filter.ref == "A1:D3" and sheet["A1"].font.bold
    rows = [[(c.value, c.data_type) for c in row] for row in sheet.iter_rows(min_row=2)]
    assert rows[0] == [("Slate", "s"), (2.5, "n"), (datetime.datetime(2026, 4, 15), "d"), ("=1+1", "s")], rows
    assert rows[1] == [("Jet", "s"), (3, "n"), (datetime.datetime(2026, 5, 1, 9, 30), "d"), ("007", "s")], rows
    assert sheet["D2"].quotePrefix


def check_pptx(vault: Vault):
    slides = pptx.Presentation(vault.make("Talk.pptx", content="# Talk\n\nby me\n\n## One\n\n- a\n  - b\n\n![[dot.png]]\n\nnote: say it\n\n## Two\n\n| A | B |\n|---|---|\n| 1 | 2 |\n")).slides
    assert [s.shapes.title.text for s in slides] == ["Talk", "One", "Two"]
    assert [(p.level, p.text) for p in slides[1].placeholders[1].text_frame.paragraphs] == [(0, "a"), (1, "b")]
    assert slides[1].notes_slide.notes_text_frame.text == "say it"
    assert any(s.shape_type == 13 for s in slides[1].shapes)
    table = next(s.table for s in slides[2].shapes if s.has_table)
    assert [[c.text for c in row.cells] for row in table.rows] == [["A", "B"], ["1", "2"]]


def check_docx_template(vault: Vault):
    """A template of another program, with a placeholder in several runs."""
    template = docx.Document()
    template.add_heading("{{title}}", 1)
    paragraph = template.add_paragraph("For {{")
    paragraph.add_run("cli").bold = True
    paragraph.add_run("ent}}, {{unknown}}")
    template.sections[0].header.paragraphs[0].text = "Header {{title}}"
    template.add_paragraph("{{content}}", style="Intense Quote")
    table = template.add_table(rows=2, cols=2)
    for cell, text in zip([c for row in table.rows for c in row.cells], ["Name", "Price", "{{rows.name}}", "{{rows.price}}"]):
        cell.text = text
    template.save(vault.folder / "Letter.docx")
    rows = [{"name": "Slate {{title}}", "price": 2.5}, {"name": "Jet", "price": 3}]
    document = docx.Document(vault.make("Filled.docx", note="Stones", rows=rows, template="Letter.docx"))
    texts = [p.text for p in document.paragraphs]
    assert texts[0] == "All stones" and texts[1] == "For Jet & Co, {{unknown}}", texts
    assert document.sections[0].header.paragraphs[0].text == "Header All stones"
    styles = {p.text: p.style.name for p in document.paragraphs}
    assert styles["Weights"] == "Heading 2" and styles["An embedded part."] == "Intense Quote", styles
    assert [[c.text for c in row.cells] for row in document.tables[-1].rows] == [["Name", "Price"], ["Slate {{title}}", "2.5"], ["Jet", "3"]]
    assert len(document.inline_shapes) == 1


def check_xlsx_template(vault: Vault):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["{{title}}", None, None])
    sheet.append(["Name", "Price", "Day"])
    sheet.append(["{{rows.name}}", "{{rows.price}}", "{{rows.day}}"])
    sheet.append(["Sum", "=SUM(B3:B3)", "=B3*2"])
    sheet.merge_cells("A5:C5")
    sheet["A5"] = "for {{client}}"
    book.save(vault.folder / "Bill.xlsx")
    rows = [{"name": "Slate", "price": 2.5, "day": "2026-04-15"}, {"name": "=Jet", "price": 3, "day": "2026-05-01"}]
    sheet = openpyxl.load_workbook(vault.make("Filled.xlsx", note="Stones", rows=rows, template="Bill.xlsx")).active
    values = [[c.value for c in row] for row in sheet.iter_rows()]
    assert values[0][0] == "All stones"
    assert values[2] == ["Slate", 2.5, datetime.datetime(2026, 4, 15)] and values[3] == ["=Jet", 3, datetime.datetime(2026, 5, 1)], values
    assert sheet["A4"].data_type in ("s", "inlineStr") and values[4] == ["Sum", "=SUM(B3:B4)", "=B3*2"], values
    assert sheet["A6"].value == "for Jet & Co" and str(sheet.merged_cells) == "A6:C6"


def check_xlsx_template_ranges(vault: Vault):
    """What names ranges of a sheet with a repeated row: merged cells, links, lists, names, and formulas of other sheets."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Bill"
    sheet.append(["{{rows.name}}", "{{rows.price}}", None, "=B1*2"])
    sheet.append(["Sum", "=SUM(B1:B1)+SUM(Other!A2:A3)"])
    sheet.merge_cells("B1:C1")
    sheet["A1"].hyperlink = "https://example.com/"
    choice = openpyxl.worksheet.datavalidation.DataValidation(type="list", formula1="$A$2:$A$2")
    choice.add("D1")
    sheet.add_data_validation(choice)
    rule = openpyxl.formatting.rule.FormulaRule(formula=["$B1>$B$2"], fill=openpyxl.styles.PatternFill(bgColor="FF0000"))
    sheet.conditional_formatting.add("A1:D1", rule)
    sheet.print_area = "A1:D2"
    other = book.create_sheet("Other")
    other["A1"] = "=SUM(Bill!B1:B1)+A2"
    chart = openpyxl.chart.BarChart()
    chart.add_data(openpyxl.chart.Reference(sheet, min_col=2, min_row=1, max_row=1))
    other.add_chart(chart)
    book.save(vault.folder / "Ranges.xlsx")
    rows = [{"name": "Slate", "price": 2.5}, {"name": "Jet", "price": 3}, {"name": "Opal", "price": 4}]
    book = openpyxl.load_workbook(vault.make("Filled ranges.xlsx", rows=rows, template="Ranges.xlsx"))
    sheet, other = book["Bill"], book["Other"]
    assert sorted(str(cells) for cells in sheet.merged_cells.ranges) == ["B1:C1", "B2:C2", "B3:C3"]
    assert [[c.value for c in row] for row in sheet.iter_rows()] == [
        ["Slate", 2.5, None, "=B1*2"], ["Jet", 3, None, "=B2*2"], ["Opal", 4, None, "=B3*2"],
        ["Sum", "=SUM(B1:B3)+SUM(Other!A2:A3)", None, None],
    ]
    assert [sheet[f"A{row}"].hyperlink.target for row in (1, 2, 3)] == ["https://example.com/"] * 3
    choice = sheet.data_validations.dataValidation[0]
    assert (str(choice.sqref), choice.formula1) == ("D1:D3", "$A$4:$A$4")
    (rules,) = sheet.conditional_formatting
    assert (str(rules.sqref), rules.rules[0].formula) == ("A1:D3", ["$B1>$B$4"])
    assert sheet.print_area == "'Bill'!$A$1:$D$4" and other["A1"].value == "=SUM(Bill!B1:B3)+A2"
    assert other._charts[0].ser[0].val.numRef.f == "'Bill'!$B$1:$B$3"


def check_pptx_template(vault: Vault):
    deck = pptx.Presentation()
    cover = deck.slides.add_slide(deck.slide_layouts[0])
    cover.shapes.title.text = "{{title}}"
    cover.placeholders[1].text = "{{author}}, {{date:YYYY}}"
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "{{slide.title}}"
    slide.placeholders[1].text = "{{content}}"
    slide.notes_slide.notes_text_frame.text = "notes"
    end = deck.slides.add_slide(deck.slide_layouts[5])
    end.shapes.title.text = "Bye"
    deck.save(vault.folder / "Deck.pptx")
    content = "---\ntitle: T\nauthor: Ada\n---\n## One\n\n- a\n\n## Two\n\n[b](https://example.com)\n"
    slides = pptx.Presentation(vault.make("Filled.pptx", content=content, template="Deck.pptx")).slides
    assert [s.shapes.title.text for s in slides] == ["T", "One", "Two", "Bye"]
    assert slides[0].placeholders[1].text.startswith("Ada, 2"), slides[0].placeholders[1].text
    assert [slides[n].placeholders[1].text_frame.paragraphs[0].text for n in (1, 2)] == ["a", "b"]
    assert slides[2].placeholders[1].text_frame.paragraphs[0].runs[0].hyperlink.address == "https://example.com"
    slide.placeholders[1].text = "Topic: {{content}}"
    slide.shapes.title.text = "Topic"
    deck.save(vault.folder / "Deck 2.pptx")
    slides = pptx.Presentation(vault.make("Filled 2.pptx", content=content, template="Deck 2.pptx")).slides
    assert [s.shapes.title.text for s in slides] == ["T", "Topic", "Bye"]


def main() -> int:
    checks = [value for name, value in globals().items() if name.startswith("check_")]
    passed = 0
    with tempfile.TemporaryDirectory() as home:
        vault = Vault(Path(home))
        for check in checks:
            try:
                check(vault)
                passed += 1
            except Exception:
                print(f"FAILED {check.__name__}")
                traceback.print_exc(file=sys.stdout)
    print(f"{passed} passed, {len(checks) - passed} failed, 0 known faults")
    return int(passed != len(checks))


sys.exit(main())
