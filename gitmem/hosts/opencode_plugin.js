// git-mem: the memory of this project in opencode. Written by `git mem install --agent opencode`, taken out by `uninstall`.
// It calls `git-mem session hook` at the events of a session; a call that fails or is late changes nothing for the session.
// include hook_call.js

// What was said and which tools were called: what tools answered is not needed and may be large.
const said = ({ info, parts }) => ({
  info: { id: info.id, role: info.role, time: info.time, summary: info.summary === true },
  parts: parts
    .filter((part) => part.type === "text" || part.type === "tool")
    .map(({ type, text, synthetic, callID, tool }) => ({ type, text, synthetic, callID, tool })),
})

export const GitMem = async ({ client }) => {
  const started = new Set()
  const kept = new Map() // the messages of each session at its last turn, as a promise
  const pending = new Set()

  const messages = async (id) => {
    const session = (await client.session.get({ path: { id } })).data
    if (!session || session.parentID) return undefined // an agent that this one started
    return (await client.session.messages({ path: { id } })).data?.map(said)
  }
  const write = async (event, id, listed) => {
    const found = await listed
    if (found) await call(event, { session_id: id, info: { id }, messages: found })
  }
  const remember = (work) => {
    const quiet = work.catch(() => {}).finally(() => pending.delete(quiet))
    pending.add(quiet)
    return quiet
  }

  // The screen of opencode tells nobody that a person left a session for another: the first message of that one does. A
  // session that goes on later ends again, and has one episode all the same.
  const endOthers = (id) => {
    for (const [other, listed] of kept) {
      if (other === id) continue
      kept.delete(other)
      remember(write("SessionEnd", other, listed))
    }
  }

  return {
    "chat.message": async (input, output) => {
      const last = output.parts.at(-1)
      if (!last) return
      const own = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const id = input.sessionID
      const before = await messages(id).catch(() => undefined) // what the session has is not said again
      const session = { session_id: id, ...(before && { info: { id }, messages: before }) }
      const isFirst = !started.has(id)
      started.add(id)
      if (isFirst && before) endOthers(id)
      const source = before?.length ? "resume" : "startup"
      const start = isFirst ? await call("SessionStart", { ...session, source }) : ""
      const prompt = own.map((part) => part.text).join("\n")
      const texts = [start, await call("UserPromptSubmit", { ...session, prompt })].filter(Boolean)
      texts.forEach((text, at) =>
        output.parts.push({
          id: `${last.id}${at}`,
          sessionID: last.sessionID,
          messageID: last.messageID,
          type: "text",
          synthetic: true,
          text,
        }),
      )
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      await remember(write("PreCompact", sessionID, messages(sessionID)))
    },
    event: async ({ event }) => {
      if (event.type !== "session.idle") return
      const id = event.properties.sessionID
      const listed = messages(id)
      kept.set(id, listed.catch(() => undefined))
      await remember(write("Stop", id, listed))
    },
    dispose: async () => {
      await Promise.all([...pending])
      await Promise.all([...kept].map(([id, listed]) => remember(write("SessionEnd", id, listed))))
    },
  }
}
