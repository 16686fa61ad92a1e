// git-mem: the memory of this project in pi. Written by `git mem install --agent pi`, taken out by `uninstall`.
// It calls `git-mem session hook` at the events of a session; a call that fails or is late changes nothing for the session.
// include hook_call.js

// The session's id and the file that pi keeps it in; a session that is not kept names no file.
const fieldsOf = (ctx) => ({
  session_id: ctx.sessionManager.getSessionId(),
  transcript_path: ctx.sessionManager.getSessionFile(),
})

export default function (pi) {
  const started = new Set() // ids of the sessions that were given the context of a start

  pi.on("before_agent_start", async (event, ctx) => {
    if (event.messageType === "custom" || typeof event.prompt !== "string") return undefined
    const fields = fieldsOf(ctx)
    const isFirst = !started.has(fields.session_id)
    started.add(fields.session_id)
    // A session that goes on has in its file what it was given; a new one has no file, or none of ours in it.
    const start = isFirst ? await call("SessionStart", { ...fields, source: "resume" }) : ""
    const texts = [start, await call("UserPromptSubmit", { ...fields, prompt: event.prompt })].filter(Boolean)
    return texts.length ? { message: { customType: "git-mem", content: texts.join("\n"), display: false } } : undefined
  })
  pi.on("agent_settled", async (_event, ctx) => {
    await call("Stop", fieldsOf(ctx))
  })
  pi.on("session_before_compact", async (_event, ctx) => {
    await call("PreCompact", fieldsOf(ctx))
  })
  pi.on("session_shutdown", async (event, ctx) => {
    if (event.reason !== "reload" && started.has(ctx.sessionManager.getSessionId())) await call("SessionEnd", fieldsOf(ctx))
  })
}
