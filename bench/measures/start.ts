import type { LoadTarget } from '../load.ts'
import { ProgramError, type RunningProgram } from '../processes.ts'
import { chatPath, modelName } from '../upstream-protocol.ts'
import type { Measure } from './measure.ts'

const secondsMax = 90

/**
 * Time from the start of a new process to its first 200 to a plain request. Its files are in the page cache, because it
 * has run before.
 */
export const start: Measure = {
  name: 'start',
  includesDirect: false,
  peersOnce: false,
  needsStreams: false,
  async run(contender, _round, { launch }) {
    const fresh = await launch(contender.name)
    try {
      await untilAnswered({ ...fresh, name: contender.name }, fresh.program)
      return { startMs: performance.now() - fresh.program.startedMs }
    } finally {
      await fresh.program.stop()
    }
  },
}

async function untilAnswered(target: LoadTarget, program: RunningProgram): Promise<void> {
  const deadline = performance.now() + secondsMax * 1000
  while (performance.now() < deadline) {
    if (program.hasEnded()) throw new ProgramError(`${target.name} ended at its start: ${program.lastOutput()}`)
    if ((await askPlain(target))?.status === 200) return
    await Bun.sleep(2)
  }
  throw new ProgramError(`${target.name} did not answer within ${secondsMax} s: ${program.lastOutput()}`)
}

/** Sends one small plain request on its own connection; undefined when it is refused or cut. */
export async function askPlain({
  port,
  path,
  headers,
}: LoadTarget): Promise<{ readonly status: number; readonly text: string } | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}${path ?? chatPath}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ model: modelName, messages: [{ role: 'user', content: 'hello' }] }),
      keepalive: false,
    })
    return { status: answer.status, text: await answer.text() }
  } catch {
    // Refused, or cut: the program is not ready.
    return undefined
  }
}
