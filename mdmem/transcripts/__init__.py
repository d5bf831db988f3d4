"""Import: turns what agents saved into the same events that their hooks send.

`sources` finds transcripts and recognizes whose they are. Each reader (`claude_files`, `codex`, `gemini`, `copilot`,
`opencode`, `chats`, `claude_mem`, `aider`) yields a transcript's `SavedEvent`s, oldest first. `importer` stores them
turn by turn: a `Replay` puts each event through the code of the hooks, on an `OpenSession` that knows what hooks have
stored. `late` does this for the session of a hook, in the background. `markdown` and `host_memory` copy files of
notes instead; `documents` has the formats of other tools among these.
"""
