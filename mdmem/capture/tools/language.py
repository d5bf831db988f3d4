"""Language: the name of a file's language, as code fences use it."""

from __future__ import annotations

_OWN_NAMES = """
astro awk cmake css csv d dart elm fish go gradle groovy java json5 jsonc jsx less lua mdx nim nix prisma proto rst
svelte swift tcl toml tsv tsx vue wgsl zig
"""
_OWN = frozenset(_OWN_NAMES.split())
"""Languages whose only file extension is their name."""

_NAMES = {
    "ada": "adb ads",
    "asciidoc": "adoc asciidoc",
    "asm": "asm s",
    "batch": "bat cmd",
    "c": "c h",
    "clojure": "clj cljc cljs edn",
    "cpp": "cc cpp cxx hh hpp hxx ino ipp",
    "csharp": "cs csx",
    "cuda": "cu cuh",
    "cython": "pxd pyx",
    "diff": "diff patch",
    "elixir": "ex exs",
    "erlang": "erl hrl",
    "fortran": "f f90 f95 for",
    "fsharp": "fs fsi fsx",
    "gherkin": "feature",
    "glsl": "frag glsl vert",
    "graphql": "gql graphql",
    "handlebars": "handlebars hbs",
    "haskell": "hs lhs",
    "hcl": "hcl tf tfvars",
    "html": "htm html xhtml",
    "ini": "cfg conf editorconfig ini properties",
    "javascript": "cjs js mjs",
    "jinja": "j2 jinja jinja2",
    "json": "geojson ipynb json webmanifest",
    "jsonl": "jsonl ndjson",
    "julia": "jl",
    "kotlin": "kt kts",
    "latex": "bib cls sty tex",
    "lisp": "cl el lisp",
    "makefile": "mk",
    "markdown": "markdown md mdown mkd",
    "objectivec": "m mm",
    "ocaml": "ml mli",
    "pascal": "dpr pas",
    "perl": "pl pm",
    "php": "php phtml",
    "powershell": "ps1 psd1 psm1",
    "python": "py pyi pyw",
    "r": "r rmd",
    "racket": "rkt",
    "ruby": "erb gemspec rake rb",
    "rust": "rs",
    "scala": "sbt sc scala",
    "scheme": "scm ss",
    "scss": "sass scss",
    "sh": "bash bats envrc ksh sh zsh",
    "solidity": "sol",
    "sql": "psql sql",
    "text": "log text txt",
    "typescript": "cts mts ts",
    "typst": "typ",
    "vb": "bas vb vbs",
    "verilog": "sv svh v",
    "vhdl": "vhd vhdl",
    "vim": "vim vimrc",
    "xml": "csproj plist rss svg vcxproj wsdl xaml xml xsd xsl xslt",
    "yaml": "yaml yml",
}

# File names that imply a language, also with an extension, like `Dockerfile.dev`.
_FILES = {
    "brewfile": "ruby",
    "cmakelists.txt": "cmake",
    "containerfile": "dockerfile",
    "dockerfile": "dockerfile",
    "gemfile": "ruby",
    "gnumakefile": "makefile",
    "go.mod": "go",
    "jenkinsfile": "groovy",
    "justfile": "just",
    "makefile": "makefile",
    "rakefile": "ruby",
    "vagrantfile": "ruby",
    ".bash_profile": "sh",
    ".bashrc": "sh",
    ".gitattributes": "text",
    ".gitconfig": "ini",
    ".gitignore": "text",
    ".profile": "sh",
    ".zshrc": "sh",
}


def name(path: str) -> str:
    """Return a file's language, judged by its name alone; "" if unknown."""
    file = path[max(path.rfind("/"), path.rfind("\\")) + 1 :].lower()
    stem, _, extension = file.rpartition(".")
    if file in _FILES:
        return _FILES[file]
    if extension in _OWN:
        return extension
    if extension and extension.isalnum():
        word = f" {extension} "
        for language, extensions in _NAMES.items():
            if word in f" {extensions} ":
                return language
    return _FILES.get(stem.partition(".")[0], "")
