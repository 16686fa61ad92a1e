// git-mem: the memory of a repository in OpenClaw. Written by `git mem install --agent openclaw`, taken out by `uninstall`.
// It calls `git-mem session hook` at the events of a session; a call that fails or is late changes nothing for the session.
import { spawn } from "node:child_process"

const seconds = { SessionStart: 10, UserPromptSubmit: 5, Stop: 10, PreCompact: 25, SessionEnd: 4 }
const sessionsAtMost = 200 // whose messages are held until they end
// Of each session: its messages at its last turn; the context of its start, the prompt that was answered last and what
// memory said to it, both as promises. OpenClaw loads a plugin more than once in a process.
const sessions = (globalThis[Symbol.for("git-mem.sessions")] ??= new Map())
const roles = new Set(["user", "assistant", "compactionSummary", "branchSummary"])

// What was said and which tools were called: what tools answered is not needed and may be large.
const said = (messages) =>
  messages
    .filter((message) => roles.has(message?.role))
    .map(({ role, content, summary, timestamp, __openclaw }) => ({
      role,
      summary,
      timestamp,
      __openclaw: { senderIsOwner: __openclaw?.senderIsOwner },
      content: Array.isArray(content)
        ? content
            .filter((part) => part?.type === "text" || part?.type === "toolCall")
            .map(({ type, text, id, name }) => ({ type, text, id, name }))
        : content,
    }))

export default {
  id: "git-mem",
  name: "git mem",
  description: "The memory of a Git repository",
  register(api) {
    const { root, agents } = api.pluginConfig ?? {}
    if (!root) return

    const call = (event, fields) =>
      new Promise((resolve) => {
        const child = spawn("git-mem", ["session", "hook", event, "--host", "openclaw"], {
          cwd: root,
          env: { ...process.env, OPENCLAW_PROJECT_DIR: root },
          stdio: ["pipe", "pipe", "ignore"],
          timeout: seconds[event] * 1000,
        })
        let text = ""
        child.on("error", () => resolve(undefined))
        child.stdin.on("error", () => {})
        child.stdout.on("data", (data) => (text += data))
        child.on("close", () => {
          try {
            resolve(JSON.parse(text).hookSpecificOutput.additionalContext)
          } catch {
            resolve(undefined)
          }
        })
        child.stdin.end(JSON.stringify(fields))
      })

    // Turns of a person alone: not those of a timer, of another session or of OpenClaw itself.
    const isOfPerson = ({ agentId, trigger, inputProvenance }) =>
      (!agents || agents.includes(agentId)) &&
      (trigger ?? "user") === "user" &&
      (inputProvenance?.kind ?? "external_user") === "external_user"
    const known = (id) => {
      const session = sessions.get(id) ?? {}
      sessions.delete(id) // and again at the end: the first is the one that was silent for longest
      sessions.set(id, session)
      if (sessions.size > sessionsAtMost) sessions.delete(sessions.keys().next().value)
      return session
    }
    const write = (event, id) => call(event, { session_id: id, messages: sessions.get(id)?.messages ?? [] })
    const end = async (id) => {
      const session = sessions.get(id)
      if (session?.messages) await write("SessionEnd", id)
      sessions.delete(id)
    }

    api.on("before_prompt_build", async (event, ctx) => {
      if (!ctx.sessionId || !isOfPerson(ctx)) return
      const session = known(ctx.sessionId)
      session.sessionKey = ctx.sessionKey
      // With the messages that are there: a session that begins anew (`/new`) keeps its id and has none of the old ones.
      const messages = Array.isArray(event.messages) ? { messages: said(event.messages) } : {}
      const fields = { session_id: ctx.sessionId, workspace: ctx.workspaceDir, ...messages }
      session.start ??= call("SessionStart", fields)
      const start = await session.start
      const prompt = event.currentUserMessage ?? event.prompt
      const key = event.currentUserMessageId ?? ctx.runId ?? prompt // a prompt may be built again
      if (session.key !== key) {
        session.key = key
        session.answer = call("UserPromptSubmit", { ...fields, prompt })
      }
      return { appendSystemContext: start, appendContext: await session.answer }
    })
    api.on("agent_end", async (event, ctx) => {
      if (!ctx.sessionId || !isOfPerson(ctx)) return
      known(ctx.sessionId).messages = said(event.messages)
      await write("Stop", ctx.sessionId)
    })
    api.on("before_compaction", async (event, ctx) => {
      const named = ctx.sessionId ?? [...sessions].find(([, session]) => session.sessionKey === ctx.sessionKey)?.[0]
      if (!named || !isOfPerson(ctx)) return
      if (event.messages) known(named).messages = said(event.messages)
      await write("PreCompact", named)
    })
    api.on("session_end", async (event) => {
      if (event.reason !== "compaction") await end(event.sessionId)
    })
    api.on("gateway_stop", () => Promise.all([...sessions.keys()].map(end)))
  },
}
