"""What a reviewer should ask about changed tests, and changes that bring no question."""

import pytest

from crscore.records import ReferenceKind
from tests.helpers.changes import change, claims

GONE = "is this still guaranteed, and tested elsewhere?"
UNTESTED = "is what it checked gone as well, or does another test check it?"
SKIPPED = "what has to happen before it runs again?"

PYTHON = "def test_load():\n    page = load()\n{}"
TWO = "def test_a():\n    assert a() == 1\n{}"
JEST = "test('loads', () => {{\n  const page = load();\n{}}});\n"
GO = "func TestLoad(t *testing.T) {{\n\tpage := load()\n{}}}\n"
JAVA = "class LoadTest {{\n  {}@Test\n  void testLoad() {{\n    load();\n{}  }}\n}}\n"
RUBY = "describe 'load' do\n  it 'loads' do\n    page = load\n{}  end\nend\n"
PHP = "<?php\nclass LoadTest {{\n  function testLoad() {{\n    $a = load();\n{}  }}\n}}\n"
CSHARP = (
    "class LoadTests\n{{\n    [Test]\n{}    public void TestLoad()\n    {{\n        Load();\n"
    "{}    }}\n}}\n"
)

# Situation -> path, old, new, sentence
ROWS: dict[str, tuple[str, str, str, str]] = {
    "unchecked, Python": ("test_a.py",
        PYTHON.format("    assert page.title\n    assert page.size\n"),
        PYTHON.format("    assert page.size\n"),
        f"The test “test_load” no longer checks `assert page.title`: {GONE}"),
    "unchecked, PHP": ("LoadTest.php", PHP.format("    $this->assertTrue($a);\n    close($a);\n"),
        PHP.format("    close($a);\n"),
        f"The test “testLoad” no longer checks `$this->assertTrue($a)`: {GONE}"),
    "untested": ("test_a.py", TWO.format("\n\ndef test_b():\n    assert b()\n"), TWO.format(""),
        f"The test “test_b” is removed: {UNTESTED}"),
    "skipped, C#": ("LoadTests.cs", CSHARP.format("", ""),
        CSHARP.format('    [Ignore("late")]\n', ""),
        f"The test “TestLoad” is now skipped: {SKIPPED}"),
    "skipped, Java": ("LoadTest.java", JAVA.format("", ""), JAVA.format("@Disabled\n  ", ""),
        f"The test “testLoad” is now skipped: {SKIPPED}"),
    "skipped, TypeScript": ("a.test.ts", JEST.format(""),
        JEST.format("").replace("test(", "test.skip("),
        f"The test “loads” is now skipped: {SKIPPED}"),
}  # fmt: skip

# Situation -> path, old, new
NOTHING: dict[str, tuple[str, str, str]] = {
    "another input": ("test_a.py", PYTHON.format("    assert size(1) == page\n"),
        PYTHON.format("    assert size(2) == page\n")),
    "another selector": ("a.test.ts", JEST.format("  expect(find('.a')).toBeNull();\n"),
        JEST.format("  expect(find('.b')).toBeNull();\n")),
    "another time-out": ("a.test.ts", JEST.format("  expect(wait('1s', 5)).toBe(true);\n"),
        JEST.format("  expect(wait('9s', 5)).toBe(true);\n")),
    "other quotation marks": ("a.test.ts", JEST.format("  expect(page.title).toBe('a');\n"),
        JEST.format('  expect(page.title).toBe("a");\n')),
    "another subject": ("test_a.py", PYTHON.format("    assert page.size == 3\n"),
        PYTHON.format("    assert page.rows == 4\n")),
    "reformatted": ("test_a.py", PYTHON.format("    assert page.size==3\n"),
        PYTHON.format("    assert page.size == 3\n")),
    "not a test": ("a.py", "def load():\n    assert a() == 1\n",
        "def load():\n    assert a() == 2\n"),
    "checked in another way": ("test_a.py", PYTHON.format("    assert page.title\n"),
        PYTHON.format("    assert_page(page)\n")),
    "checked in another test": ("test_a.py", TWO.format("    assert b()\n") + "\n\ndef test_b():\n"
        "    c()\n", TWO.format("") + "\n\ndef test_b():\n    c()\n    assert b()\n"),
    "test renamed": ("test_a.py", TWO.format("\n\ndef test_b():\n    assert b()\n"),
        TWO.format("\n\ndef test_c():\n    assert b()\n")),
    "file removed": ("test_a.py", TWO.format(""), ""),
    "skipped on some machines": ("a_test.go", GO.format(""),
        GO.format('\tif short {\n\t\tt.Skip("slow")\n\t}\n')),
    "skipped for another reason": ("LoadTests.cs", CSHARP.format('    [Ignore("a")]\n', ""),
        CSHARP.format('    [Ignore("b")]\n', "")),
}  # fmt: skip


def _questions(path: str, old: str, new: str) -> list[str]:
    questions = (GONE, UNTESTED, SKIPPED)
    return [
        claim.text
        for claim in claims(change(path, old, new))
        if claim.kind is ReferenceKind.IMPLICATION and claim.text.endswith(questions)
    ]


@pytest.mark.parametrize("situation", ROWS)
def test_a_weaker_test_brings_a_question(situation: str) -> None:
    path, old, new, sentence = ROWS[situation]
    assert sentence in _questions(path, old, new)


@pytest.mark.parametrize("situation", NOTHING)
def test_a_test_that_checks_as_much_brings_none(situation: str) -> None:
    assert _questions(*NOTHING[situation]) == []


def test_only_the_first_removed_test_of_a_file_is_asked_about() -> None:
    both = "\n\ndef test_b():\n    assert b()\n\n\ndef test_c():\n    assert c()\n"
    assert len(_questions("test_a.py", TWO.format(both), TWO.format(""))) == 1
