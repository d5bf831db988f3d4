// mdmem's plugin for OpenCode: sends events to mdmem, and passes on what mdmem remembers.
// Written by `mdmem install opencode`, removed by `mdmem uninstall opencode`; changes are overwritten.
import { spawn, spawnSync } from "node:child_process"

const COMMANDS = __COMMANDS__

const DEADLINE_MS = 10_000
const MAX_REPLY_CHARS = 1_000_000
const MAX_CONTEXTS = 4 // per session: the system prompt is sent again with every request
const EXIT_MS = 2_000 // to send what is left when OpenCode ends
const WAIT_MS = 2_000 // to look up a failure, before the next request
const LOADED_AT = Date.now()

// Start of the system prompt of OpenCode's own requests: memories in them would end up in a title.
const OWN_REQUEST = /^You are (a title generator|a helpful AI assistant tasked with summarizing)/

// Runs one of the commands with `payload` on its stdin. Returns the JSON object that it printed, or {}:
// a failing memory must not disturb the session.
function run(verb, payload) {
  return new Promise((resolve) => {
    let printed = ""
    const child = spawn("/bin/sh", ["-c", COMMANDS[verb]], { stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill("SIGKILL"), DEADLINE_MS)
    timer.unref?.()
    child.on("error", () => resolve({}))
    child.on("close", () => {
      clearTimeout(timer)
      resolve(parse(printed))
    })
    child.stdout.on("data", (chunk) => {
      if (printed.length < MAX_REPLY_CHARS) printed += chunk
    })
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(payload))
  })
}

function parse(text) {
  try {
    const value = JSON.parse(text)
    return value && typeof value === "object" ? value : {}
  } catch {
    return {}
  }
}

function typed(parts) {
  const texts = (parts ?? []).filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
  return texts.map((part) => part.text).join("\n")
}

export const MdmemPlugin = async ({ client, directory, worktree }) => {
  const sessions = new Map() // id -> { parent, prompt, contexts, queue, failure, isOld }
  const given = new Map() // call id -> arguments of a tool, for versions that pass them only before it runs

  async function session(id) {
    if (!sessions.has(id)) {
      sessions.set(id, { parent: undefined, prompt: undefined, contexts: [], queue: Promise.resolve() })
    }
    const known = sessions.get(id)
    if (known.parent === undefined) {
      const answer = await client.session.get({ path: { id } }).catch(() => ({}))
      known.parent = answer?.data?.parentID ?? ""
      known.isOld = (answer?.data?.time?.created ?? LOADED_AT) < LOADED_AT
    }
    return known
  }

  async function payload(id, event, facts) {
    const { parent, prompt } = await session(id)
    const cwd = directory ?? worktree
    return { hook_event_name: event, session_id: id, prompt_id: prompt, parent_id: parent || undefined, cwd, ...facts }
  }

  // Sends in the order of events, without making OpenCode wait.
  async function capture(id, event, facts) {
    const known = await session(id)
    const sent = await payload(id, event, facts)
    known.queue = known.queue.then(() => run("hook", sent)).then((answer) => {
      tell(answer)
      remember(known, answer)
    }, () => {})
    return known.queue
  }

  function remember(known, answer) {
    if (typeof answer.context === "string") known.contexts = [...known.contexts, answer.context].slice(-MAX_CONTEXTS)
  }

  async function recall(id, event, facts) {
    const answer = await run("inject", await payload(id, event, facts))
    remember(await session(id), answer)
  }

  function tell(answer) {
    if (typeof answer.message !== "string") return
    Promise.resolve(client.tui?.showToast?.({ body: { message: answer.message, variant: "warning" } })).catch(() => {})
  }

  // The last answer, and the known tokens of all requests that the last prompt caused.
  async function lastAnswer(id) {
    const answer = await client.session.messages({ path: { id } }).catch(() => ({}))
    const said = (answer?.data ?? []).filter(({ info }) => info?.role === "assistant" && info.summary !== true)
    const asked = said.at(-1)?.info?.parentID
    const spent = said.filter(({ info }) => asked && info.parentID === asked && info.tokens).map(({ info }) => info.tokens)
    const sum = (count) => (spent.length ? spent.reduce((total, tokens) => total + count(tokens), 0) : undefined)
    return {
      last_assistant_message: typed(said.at(-1)?.parts),
      tokens_in: sum(({ input, cache }) => (input ?? 0) + (cache?.read ?? 0) + (cache?.write ?? 0)),
      tokens_out: sum(({ output }) => output ?? 0),
    }
  }

  // A tool that throws has no "after" event: only its part of the message shows that it failed.
  async function failed({ sessionID, part }) {
    const state = part?.state
    if (part?.type !== "tool" || state?.status !== "error") return
    given.delete(part.callID)
    const time = state.time ?? {}
    await failure(sessionID ?? part.sessionID, "PostToolUseFailure", {
      tool_name: part.tool,
      tool_input: state.input,
      tool_use_id: part.callID,
      error: state.error,
      duration_ms: time.end >= time.start ? time.end - time.start : undefined,
    })
  }

  // How it was solved before goes into the next request.
  async function failure(id, event, facts) {
    const known = await session(id)
    known.failure = capture(id, event, facts)
    return known.failure
  }

  // There is no event for OpenCode's end, but its sessions must still be closed.
  function close() {
    for (const [id, { parent, prompt }] of sessions) {
      if (parent || prompt === undefined) continue
      const sent = { hook_event_name: "SessionEnd", session_id: id, cwd: directory ?? worktree, reason: "exit" }
      try {
        const input = JSON.stringify(sent)
        spawnSync("/bin/sh", ["-c", COMMANDS.hook], { input, timeout: EXIT_MS, stdio: ["pipe", "ignore", "ignore"] })
      } catch {
        // nothing is left to do
      }
    }
    sessions.clear()
  }
  process.once("exit", close)

  const ON = {
    "message.part.updated": failed,
    "session.created": async ({ info }) => {
      if (!info?.id) return
      ;(await session(info.id)).parent = info.parentID ?? ""
    },
    "session.idle": async ({ sessionID }) => {
      await capture(sessionID, "Stop", await lastAnswer(sessionID))
      await run("commit", {})
    },
    "session.error": async ({ sessionID, error }) => {
      if (!sessionID || error?.name === "MessageAbortedError") return
      const message = error?.data?.message
      await capture(sessionID, "StopFailure", { error: error?.name ?? "unknown", last_assistant_message: message })
    },
    "session.compacted": async ({ sessionID }) => {
      ;(await session(sessionID)).contexts = []
      await recall(sessionID, "SessionStart", { source: "compact" })
    },
    "session.deleted": async ({ info }) => {
      if (!info?.id || !sessions.has(info.id)) return
      await capture(info.id, "SessionEnd", { reason: "deleted" })
      sessions.delete(info.id)
    },
  }

  const quietly = (hook) => async (input, output) => {
    try {
      await hook(input, output)
    } catch {
      // as above: never disturb the session
    }
  }

  return {
    event: quietly(async ({ event }) => ON[event?.type]?.(event.properties ?? {})),

    "chat.message": quietly(async (input, output) => {
      const id = input.sessionID
      const isNew = !sessions.has(id) || sessions.get(id).prompt === undefined
      const known = await session(id)
      known.prompt = output.message?.id ?? input.messageID ?? ""
      const model = input.model ? `${input.model.providerID}/${input.model.modelID}` : undefined
      const prompt = { prompt: typed(output.parts), model }
      if (isNew) capture(id, "SessionStart", { source: known.isOld ? "resume" : "startup", model, answer: !known.isOld })
      // What an earlier process injected into this session is lost, as after a compaction.
      if (isNew && known.isOld) await recall(id, "SessionStart", { source: "compact" })
      await capture(id, "UserPromptSubmit", { ...prompt, answer: true })
    }),

    "experimental.chat.system.transform": quietly(async (input, output) => {
      if (output.system.some((text) => OWN_REQUEST.test(text))) return
      const known = sessions.get(input.sessionID)
      await Promise.race([known?.failure, new Promise((resolve) => setTimeout(resolve, WAIT_MS).unref?.())])
      output.system.push(...(known?.contexts ?? []))
    }),

    "tool.execute.before": quietly(async (input, output) => {
      given.set(input.callID, output.args)
    }),

    "tool.execute.after": quietly(async (input, output) => {
      const args = input.args ?? given.get(input.callID)
      given.delete(input.callID)
      const { exit, diff } = output.metadata ?? {}
      const result = { output: output.output ?? output.content, metadata: { exit, diff } }
      const facts = { tool_name: input.tool, tool_input: args, tool_use_id: input.callID, tool_response: result }
      ;(exit ? failure : capture)(input.sessionID, "PostToolUse", facts)
    }),

    dispose: async () => {
      await Promise.all([...sessions.values()].map((known) => known.queue))
    },
  }
}
