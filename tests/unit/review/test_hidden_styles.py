from __future__ import annotations

import pytest

from crscore.review.hidden_styles import hides_by_style, invisible_colour


@pytest.mark.parametrize(
    "style",
    [
        "display:none",
        " DISPLAY : None !important ; display: block",
        "dis/* */play:none;visibility:hidden",
        r"\64isplay: none",
        "visibility: collapse",
        "opacity: 0",
        "opacity: .01",
        "opacity: 0%",
        "font-size: 0",
        "font-size:1px",
        "font-size: 0.1em",
        "font: bold 0/1 serif",
        "font: 1px a",
        "color: white",
        "color: #fff",
        "color: #fefefe",
        "color: #ffffff00",
        "color: rgb(255,255,255)",
        "color: rgb(100% 100% 100%)",
        "color: rgba(0, 0, 0, 0)",
        "color: rgb(0 0 0 / 2%)",
        "color: hsl(0, 0%, 100%)",
        "color: transparent; background: red",
        "color: #123456; background: #123456",
        "color: white; background: white no-repeat",
        "-webkit-text-fill-color: transparent; color: black",
        "text-indent: -9999px",
        "position: absolute; left: -100vw",
        "clip: rect(0, 0, 0, 0)",
        "clip-path: inset(50%)",
        "clip-path: circle(0)",
        "height: 0; overflow: hidden",
        "max-width: 1px; overflow: hidden auto",
        "transform: scale(0)",
        "filter: opacity(0)",
        "content-visibility: hidden",
    ],
)
def test_style_that_hides(style: str) -> None:
    assert hides_by_style(style)


@pytest.mark.parametrize(
    "style",
    [
        "",
        ";;:",
        "display: block",
        "display: none; display: inline",
        "opacity: 0.5",
        "opacity: 1",
        "opacity: big",
        "font-size: 12px",
        "font-size: 1em",
        "font-size: 80%",
        "font: 400 12px/0 serif",
        "color: #333",
        "color: red",
        "color: rgb(1, 1, 1)",
        "color: rgb(a, b, c)",
        "color: rgb(255)",
        "color: hsl(0, 0%, 50%)",
        "color: white; background: #c00",
        "color: white; background-color: black",
        "background: white",
        "left: -3px",
        "text-indent: 9999px",
        "height: 0",
        "overflow: hidden",
        "height: 300px; overflow: hidden",
        "clip-path: inset(5%)",
        "transform: scale(0.5)",
        "visibility: visible",
        "\\",
    ],
)
def test_style_that_shows(style: str) -> None:
    assert not hides_by_style(style)


@pytest.mark.parametrize("colour", ["white", " #FFF ", "ffffff", "Snow", "rgba(9,9,9,0)"])
def test_colour_that_cannot_be_read(colour: str) -> None:
    assert invisible_colour(colour)


@pytest.mark.parametrize("colour", ["", "black", "#eee", "#ff0", "fff0ee", "#fffff", "var(--a)"])
def test_colour_that_can_be_read(colour: str) -> None:
    assert not invisible_colour(colour)
