import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const seconds = { SessionStart: 10, UserPromptSubmit: 5, Stop: 10, PreCompact: 30, SessionEnd: 10 }

const call = (event, fields) =>
  new Promise((resolve) => {
    const child = spawn("git-mem", ["session", "hook", event, "--host", "opencode"], {
      cwd: root,
      env: { ...process.env, OPENCODE_PROJECT_DIR: root },
      stdio: ["pipe", "pipe", "ignore"],
      timeout: seconds[event] * 1000,
    })
    let said = ""
    child.on("error", () => resolve(""))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (data) => (said += data))
    child.on("close", () => {
      try {
        resolve(JSON.parse(said).hookSpecificOutput.additionalContext ?? "")
      } catch {
        resolve("")
      }
    })
    child.stdin.end(JSON.stringify(fields))
  })
