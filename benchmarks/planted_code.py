"""Generates, edits and reformats code in four languages, for simulated histories."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass

NAMES = (
    "order", "invoice", "account", "session", "ticket", "parcel", "route", "sensor", "ledger",
    "token", "profile", "bucket", "report", "device", "cursor", "worker", "region", "policy",
)  # fmt: skip
VERBS = ("load", "merge", "check", "send", "count", "close", "rank", "split", "store", "parse")
FUNCTIONS = {
    "py": (
        """\
def {verb}_{name}(items, limit={n}):
    found = []
    for item in items:
        if item.{name} is None:
            continue
        value = lookup(item.{name}, "{other}", {n})
        if value > limit:
            found.append(value)
    return found
""",
        """\
def {verb}_{name}_by_{other}(client, {name}_id):
    response = client.get("/{name}/" + {name}_id, {n})
    if response.status != 200:
        raise ValueError("{name} is missing")
    data = response.json()
    total = data["{other}"] * {n}
    return normalise(total, data["unit"])
""",
        """\
class {Name}{Verb}er:
    def __init__(self, {other}, size={n}):
        self.{other} = {other}
        self.size = size

    def {verb}(self, {name}):
        key = ({name}.id, self.{other})
        if key in self.cache:
            return self.cache[key]
        self.cache[key] = compute({name}, self.size)
        return self.cache[key]
""",
    ),
    "go": (
        """\
func {Verb}{Name}(ctx context.Context, id string) (*{Name}, error) {{
	row := db.QueryRow(ctx, "select * from {name} where id = $1", id)
	var found {Name}
	if err := row.Scan(&found.ID, &found.{Other}); err != nil {{
		return nil, err
	}}
	if found.{Other} > {n} {{
		found.{Other} = clamp(found.{Other}, {n})
	}}
	return &found, nil
}}
""",
        """\
func (s *{Name}Store) {Verb}{Other}(list []{Other}) int {{
	total := 0
	for i := 0; i < len(list); i++ {{
		if list[i].Skip {{
			continue
		}}
		total += list[i].Weight(s.factor, {n})
	}}
	return total
}}
""",
    ),
    "ts": (
        """\
export async function {verb}{Name}({name}: {Name}, {other}: number): Promise<number> {{
  const url = `/api/{name}/${{{name}.id}}`;
  const answer = await fetch(url, {{ method: 'POST', timeout: {n} }});
  if (!answer.ok) {{
    throw new Error('{name} failed');
  }}
  const body = await answer.json();
  return body.{other} + {other} * {n};
}}
""",
        """\
export class {Name}{Other}List {{
  private items: {Name}[] = [];

  {verb}(item: {Name}): void {{
    if (this.items.length > {n}) {{
      this.items.shift();
    }}
    this.items.push(item);
    this.notify('{other}', item.id);
  }}
}}
""",
    ),
    "java": (
        """\
    public List<{Name}> {verb}{Name}s(String {other}, int limit) {{
        List<{Name}> result = new ArrayList<>();
        for ({Name} one : repository.findAll({other}, {n})) {{
            if (one.get{Other}() == null) {{
                continue;
            }}
            result.add(convert(one, limit));
        }}
        return result;
    }}
""",
        """\
    private int {verb}{Other}({Name} {name}) {{
        int total = {name}.size() * {n};
        try {{
            total += service.fetch({name}.getId(), "{other}");
        }} catch (IOException e) {{
            log.warn("{name} failed", e);
        }}
        return total;
    }}
""",
    ),
}


@dataclass(eq=False)
class Line:
    """Line of a file that keeps its identity through edits."""

    text: str


def function(rng, language) -> list[Line]:
    name, other_run = rng.sample(NAMES, 2)
    verb = rng.choice(VERBS)
    words = {"name": name, "other": other_run, "verb": verb, "n": rng.randint(2, 900)}
    words |= {key.title(): value.title() for key, value in words.items() if key != "n"}
    text = rng.choice(FUNCTIONS[language]).format(**words)
    return [Line(line) for line in text.splitlines()]


def source(rng, language, functions) -> list[Line]:
    lines = [
        Line(f"{'#' if language == 'py' else '//'} Part {rng.randint(100, 999)} of the service")
    ]
    for _ in range(functions):
        lines += [Line(""), *function(rng, language)]
    return lines


def edit_line(rng, text) -> str:
    """Return a line with an edit that changes its meaning."""
    ways = (
        (r"(?<![\w\"])(\d+)(?!\w)", lambda m: str(int(m[1]) + rng.randint(1, 50))),
        (r"(\w)\)(?=\W*$)", lambda m: f"{m[1]}, {rng.choice(NAMES)}Option)"),
        (r" > ", lambda _: " >= "),
        (r" < ", lambda _: " <= "),
        (r"\breturn (\w)", lambda m: f"return safe_{m[1]}"),
        (r" = (\w)", lambda m: f" = checked.{m[1]}"),
        (r" := (\w)", lambda m: f" := checked.{m[1]}"),
        (r"\.(\w+)\(", lambda m: f".{m[1]}Strict("),
    )
    for pattern, change in rng.sample(ways, len(ways)):
        new = re.sub(pattern, change, text, count=1)
        if new != text:
            return new
    indent = text[: len(text) - len(text.lstrip())]
    return f"{indent}handled_{rng.choice(NAMES)}({rng.randint(1, 99)})"


def indent_of(line) -> str:
    return line.text[: len(line.text) - len(line.text.lstrip())]


def statement(rng, line) -> Line:
    """Return a new line of code with the indentation of another line."""
    call = f"{rng.choice(VERBS)}_{rng.choice(NAMES)}_{rng.randint(10, 99)}"
    return Line(f"{indent_of(line)}{call}({rng.choice(NAMES)})")


def reformat(rng, line) -> list[Line]:
    text, indent = line.text, indent_of(line)
    call = re.fullmatch(r"(\s*\S.*?\w\()([^()]+)(\)[;,]?)", text)
    if call and rng.random() < 0.6:
        arguments = [item.strip() for item in call[2].split(",")]
        commas = [",", "," if rng.random() < 0.5 else ""]
        inner = [
            Line(f"{indent}    {item}{commas[at == len(arguments) - 1]}")
            for at, item in enumerate(arguments)
        ]
        return [Line(call[1]), *inner, Line(indent + call[3])]
    ways = [
        lambda: f"  {text}",
        lambda: re.sub(r"(?<=\S) (=|\+|>|==) ", r"\1", text),
        lambda: text.replace('"', "'") if "'" not in text else text.replace("'", '"'),
        lambda: text.replace(", ", ",  "),
    ]
    new = rng.choice(ways)()
    return [Line(new if new != text else f"    {text}")]


def git(*arguments, input_text=None) -> None:
    subprocess.run(["git", *map(str, arguments)], input=input_text, check=True)
