"""Environment and settings of mdmem's git processes, independent of user, caller and vault."""

from __future__ import annotations

import os

BOUNDS = (
    # read packs in small windows: unbounded, a walk over all commits keeps everything in memory
    "core.packedGitLimit=8m",
    "core.packedGitWindowSize=1m",
    "core.deltaBaseCacheLimit=16m",
    # a push, a clone or gc compresses in a bounded window, with at most two threads
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
    # no background work: it would hold locks after we have ended
    "gc.auto=0",
    "gc.autoDetach=false",
    "maintenance.auto=false",
    "fetch.writeCommitGraph=false",
    # read and write the exact bytes of all files
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.quotePath=false",
    "core.symlinks=false",
    "core.fileMode=false",
    "core.bigFileThreshold=512m",
    # list every folder: git's untracked cache was seen to miss new files permanently
    "core.untrackedCache=false",
    "status.showUntrackedFiles=all",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    # a reported commit survives a power cut
    "core.fsync=committed,reference",
    *BOUNDS,
    # new vaults are readable to every git and host, and `doctor` can repair their refs, which are files
    "init.defaultRefFormat=files",
    "init.defaultObjectFormat=sha1",
    # use no repository but the given one; accept no trees that a work tree cannot hold
    "safe.bareRepository=explicit",
    "fetch.fsckObjects=true",
    # mdmem wrote such commits of notes that are dated before 1970; newer versions of git call it badDate
    "fetch.fsck.badDateOverflow=ignore",
    "fetch.fsck.badDate=ignore",
    # wait for other git processes
    "core.filesRefLockTimeout=10000",
    "core.packedRefsTimeout=10000",
)
"""Settings of every command; they override those of all files."""

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

PATTERNS = {"GIT_LITERAL_PATHSPECS": "0"}
"""For commands whose pathspecs are patterns, as `:(glob)**/*.md`."""

LOCAL_ONLY = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
"""For commands that need no credentials and no identity: ignore the configuration of user and system."""

KEPT_FOR_THE_NETWORK = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT")
"""Variables that choose the caller's transport, for fetch and push only."""

STARTS_PROGRAMS = (
    ("filter.", (".clean", ".smudge", ".process")),
    ("diff.", (".textconv", ".command", ".external")),
    ("merge.", (".driver",)),
    ("core.", (".fsmonitor", ".gitproxy", ".sshcommand", ".alternaterefscommand")),
    ("remote.", (".uploadpack", ".receivepack", ".vcs")),
    ("credential.", (".helper",)),
)
"""Prefixes and suffixes of configuration keys that name a program for git to start."""

HINTS = (
    b"[filter", b"fsmonitor", b"[diff", b"[merge", b"include", b"gitproxy", b"sshcommand", b"alternaterefs",
    b"uploadpack", b"receivepack", b"vcs", b"helper",
)  # fmt: skip
"""Words, in lower case, of which a configuration with such a key contains at least one."""
