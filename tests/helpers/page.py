"""A web page read back: its elements and its text."""

from html.parser import HTMLParser

VOID = {"meta", "link"}
HARMLESS = {
    *("html", "head", "body", "title", "style", "header", "strong", "nav", "a", "main"),
    *("h1", "h2", "p", "section", "div", "figure", "figcaption", "ul", "li", "span", "footer"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary", "pre", "code"),
    *("svg", "g", "line", "circle", "text"),
}


class Reader(HTMLParser):
    """Elements and text of a page; refuses tags that do not close."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.stack: list[str] = []
        self.feed(document)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.stack:
            self.words += data.split()

    @property
    def text(self) -> str:
        return " ".join(self.words)

    def all(self, name: str) -> list[str]:
        return [given[name] for _, given in self.elements if name in given]
