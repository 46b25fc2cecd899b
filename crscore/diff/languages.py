"""Which language a file is written in, by its name."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

_SUFFIXES: Final = MappingProxyType(
    {
        suffix: language
        for language, suffixes in {
            "batch": "bat cmd",
            "c": "c h",
            "clojure": "clj cljs cljc edn",
            "cmake": "cmake",
            "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp",
            "csharp": "cs csx",
            "css": "css scss sass less",
            "csv": "csv tsv",
            "dart": "dart",
            "dockerfile": "dockerfile containerfile",
            "elixir": "ex exs",
            "erlang": "erl hrl",
            "fsharp": "fs fsi fsx",
            "go": "go",
            "graphql": "graphql gql",
            "groovy": "groovy gradle",
            "haskell": "hs lhs",
            "html": "html htm xhtml vue svelte jinja j2 erb hbs ejs",
            "ini": "ini cfg conf editorconfig gitmodules",
            "java": "java",
            "javascript": "js jsx mjs cjs es6",
            "json": "json jsonc json5 jsonl ndjson webmanifest ipynb",
            "julia": "jl",
            "kotlin": "kt kts",
            "lua": "lua",
            "makefile": "mk mak make",
            "markdown": "md markdown mdx mkd",
            "nix": "nix",
            "objectivec": "m mm",
            "ocaml": "ml mli",
            "perl": "pl pm t",
            "php": "php phtml php5 php7",
            "powershell": "ps1 psm1 psd1",
            "properties": "properties env",
            "protobuf": "proto",
            "python": "py pyi pyw pyx",
            "r": "r",
            "rst": "rst",
            "ruby": "rb rake gemspec ru podspec",
            "rust": "rs",
            "scala": "scala sc sbt",
            "shell": "sh bash zsh ksh fish bats",
            "sql": "sql ddl dml psql",
            "swift": "swift",
            "terraform": "tf tfvars hcl",
            "text": "txt text log adoc asciidoc org tex",
            "toml": "toml",
            "tsx": "tsx",
            "typescript": "ts mts cts",
            "xml": "xml xsd xsl xslt svg plist csproj fsproj vbproj props targets pom wsdl",
            "yaml": "yaml yml",
            "zig": "zig",
        }.items()
        for suffix in suffixes.split()
    }
)
_NAMES: Final = MappingProxyType(
    {
        ".bash_profile": "shell",
        ".bashrc": "shell",
        ".babelrc": "json",
        ".clang-format": "yaml",
        ".coveragerc": "ini",
        ".dockerignore": "ignore",
        ".editorconfig": "ini",
        ".env": "properties",
        ".eslintrc": "json",
        ".flake8": "ini",
        ".gitattributes": "ignore",
        ".gitignore": "ignore",
        ".gitmodules": "ini",
        ".npmignore": "ignore",
        ".npmrc": "properties",
        ".prettierrc": "json",
        ".profile": "shell",
        ".pylintrc": "ini",
        ".zshrc": "shell",
        "brewfile": "ruby",
        "build": "python",
        "build.bazel": "python",
        "cargo.lock": "toml",
        "cmakelists.txt": "cmake",
        "codeowners": "ignore",
        "composer.lock": "json",
        "containerfile": "dockerfile",
        "dockerfile": "dockerfile",
        "gemfile": "ruby",
        "gnumakefile": "makefile",
        "go.mod": "gomod",
        "go.sum": "gosum",
        "jenkinsfile": "groovy",
        "justfile": "makefile",
        "makefile": "makefile",
        "pipfile": "toml",
        "pipfile.lock": "json",
        "podfile": "ruby",
        "poetry.lock": "toml",
        "procfile": "yaml",
        "rakefile": "ruby",
        "readme": "text",
        "uv.lock": "toml",
        "vagrantfile": "ruby",
        "workspace": "python",
        "yarn.lock": "yaml",
    }
)


def language_of(path: str) -> str | None:
    """Name the language of a file.

    Args:
        path: Any path, with either kind of slash between its parts; upper and lower case are alike.

    Returns:
        A lower-case name such as `python`, `cpp` or `yaml`, or None when the name does
        not tell. `.h` counts as `c`; templates count as the markup they are written in.

    Example:
        >>> language_of("src/App.TSX"), language_of("docker/Dockerfile.dev"), language_of("LICENSE")
        ('tsx', 'dockerfile', None)
    """
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    if name in _NAMES:
        return _NAMES[name]
    stem, dot, suffix = name.rpartition(".")
    if not dot:
        return None
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    # Dockerfile.dev, Makefile.am, .env.local
    return _NAMES.get(stem) if stem in {"dockerfile", "makefile", ".env"} else None


def suffix_of(language: str) -> str | None:
    """Name the usual suffix of a language.

    Args:
        language: A name as `language_of` gives it.

    Returns:
        With its dot and in lower case; None when the language is not known.

    Example:
        >>> suffix_of("python"), suffix_of("csharp"), suffix_of("klingon")
        ('.py', '.cs', None)
    """
    found = next((suffix for suffix, name in _SUFFIXES.items() if name == language), None)
    return None if found is None else f".{found}"
