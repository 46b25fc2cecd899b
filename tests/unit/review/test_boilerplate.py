from __future__ import annotations

from crscore.review.sentences import is_boilerplate, is_hidden_section


def test_decoration_of_a_bot_is_boilerplate() -> None:
    for text in [
        "Walkthrough",
        "PR Reviewer Guide 🔍",
        "Reviewer's Guide",
        "Reviewer’s Guide",
        "Summary by CodeRabbit",
        "Sequence Diagram(s)",
        "🧹 Nitpick comments (3)",
        "Actionable comments posted: 2",
        "Hey there - I've reviewed your changes and they look great!",
        "Hi @eve, I've reviewed this PR",
        "Hello @eve, I'm Gemini Code Assist!",
        "Copilot reviewed 3 out of 4 changed files in this pull request and generated 1 comment.",
        "Greptile found 2 potential issues across 5 files",
        "2 files reviewed, 3 comments",
        "Estimated effort to review [1-5]: 2 🔵🔵⚪⚪⚪",
        "Also applies to: 12-14, 20-22",
        "Was this helpful? React with 👍 or 👎",
        "Did you find this review helpful?",
        "React with 👍 to let us know.",
        "This is an auto-generated comment by CodeRabbit",
        "🤖 Generated with Claude Code",
        "‼️ IMPORTANT Carefully review the code before committing.",
        "Fix in Cursor",
        "CodeRabbit",
        "Qodo Merge",
    ]:
        assert is_boilerplate(text)


def test_remark_like_boilerplate_is_kept() -> None:
    for text in [
        "Is this useful when the list is empty?",
        "Was this helpful to the caller before the change?",
        "Click on the emoji picker and it crashes.",
        "Changes to the schema need a migration.",
        "The summary by Copilot in the README is outdated.",
        "Help us improve readability: split this function.",
        "Thanks for using CodeRabbit as an example, but drop it.",
        "I've reviewed your changes and the lock is wrong.",
        "Hey, I've reviewed your changes and the lock is wrong.",
        "Copilot found 3 races in this file that you should look at.",
        "Major issue: the loop never ends.",
        "This is critical.",
        "Fix this in cursor handling.",
        "This comment by Copilot is wrong.",
        "Applies to Windows too.",
        "See the review details for the reason",
        "ok",
        "Summary " + "of changes " * 40,
    ]:
        assert not is_boilerplate(text)


def test_log_prompt_or_manual_is_hidden() -> None:
    for title in [
        "🤖 Prompt for AI Agents",
        "🤖 Prompt for all review comments with AI agents",
        "🧰 Tools",
        "🧩 Analysis chain",
        "📜 Recent review details",
        "📒 Files selected for processing (4)",
        "Files not reviewed (1)",
        "✨ Finishing touches",
        "❤ Share",
        "Thanks for using CodeRabbit!",
        "About Gemini Code Assist",
        "🧪 Generate unit tests (beta)",
    ]:
        assert is_hidden_section(title)


def test_section_with_remarks_is_shown() -> None:
    for title in [
        "Why this matters",
        "Tools",
        "Plan",
        "🧹 Nitpick comments (3)",
        "🔒 Proposed fix",
        "Commits",
        "Prompt for the user name",
        "Tips",
        "Files" * 100,
    ]:
        assert not is_hidden_section(title)
