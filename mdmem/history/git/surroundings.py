"""The environment and configuration of mdmem's git processes, whatever user, caller and vault have set up."""

from __future__ import annotations

import os

BOUNDS = (
    # of packs a part is in memory at a time: without bounds, a look through all commits holds all that they have
    "core.packedGitLimit=8m",
    "core.packedGitWindowSize=1m",
    "core.deltaBaseCacheLimit=16m",
    # what a push, a clone or gc packs anew is compared in a window of bounded size, by no more than two threads
    "pack.windowMemory=32m",
    "pack.deltaCacheSize=16m",
    "pack.threads=2",
)
"""Settings that bound the memory of git."""

OVERRULED = (
    # programs
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=:",
    "core.askPass=",
    "credential.interactive=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "push.gpgSign=false",
    "protocol.ext.allow=never",
    # work in the background, which would hold locks after we have gone
    "gc.auto=0",
    "gc.autoDetach=false",
    "maintenance.auto=false",
    "fetch.writeCommitGraph=false",
    # what is read and written is the file's own bytes, and all the files
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.quotePath=false",
    "core.symlinks=false",
    "core.fileMode=false",
    "core.bigFileThreshold=512m",
    # every folder is listed: git's cache of untracked files was seen to lack new ones for good
    "core.untrackedCache=false",
    "status.showUntrackedFiles=all",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    # a commit that was reported survives a power cut
    "core.fsync=committed,reference",
    *BOUNDS,
    # no repository but the one that is named; no trees from a remote that a work tree cannot hold
    "safe.bareRepository=explicit",
    "fetch.fsckObjects=true",
    # another git at work is waited for
    "core.filesRefLockTimeout=10000",
    "core.packedRefsTimeout=10000",
)
"""Settings of every command, stronger than those of any file."""

ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_ASKPASS": "",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": ":",
    "SSH_ASKPASS_REQUIRE": "never",
}

LOCAL_ONLY = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
"""Also for commands that need no credentials and no name: the files of the user and the system are not read."""

KEPT_FOR_THE_NETWORK = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT")
"""The caller's own way to a remote, for fetch and push alone."""

STARTS_PROGRAMS = (
    ("filter.", (".clean", ".smudge", ".process")),
    ("diff.", (".textconv", ".command", ".external")),
    ("merge.", (".driver",)),
    ("core.", (".fsmonitor", ".gitproxy", ".sshcommand", ".alternaterefscommand")),
    ("remote.", (".uploadpack", ".receivepack", ".vcs")),
    ("credential.", (".helper",)),
)
"""Beginnings and ends of keys in a repository's configuration that name a program for git to start."""

HINTS = (
    b"[filter", b"fsmonitor", b"[diff", b"[merge", b"include", b"gitproxy", b"sshcommand", b"alternaterefs",
    b"uploadpack", b"receivepack", b"vcs", b"helper",
)  # fmt: skip
"""What a configuration holds, in lower case, that may have such a key."""
