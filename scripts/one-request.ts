import { test } from 'bun:test'
import { packageVersion } from '../src/app/package.ts'
import type { Output } from '../src/base/command-line/command.ts'
import { commands } from '../src/cli/commands.ts'
import { dispatch } from '../src/cli/dispatch.ts'

/**
 * A service in this process that answers the request of the variable `ONE_REQUEST` (its JSON; absent: none) and stops.
 * `touched-files.ts` runs it as a test, for the coverage that Bun counts.
 */

const { ONE_REQUEST: body, ONE_KEY: key, ONE_FLAGS: flags = '' } = process.env

let port: string | undefined
const output: Output = {
  isTerminal: false,
  hasColour: false,
  columns: 80,
  write(text) {
    port ??= /http:\/\/[^:/\s]+:(\d+)/.exec(text)?.[1]
  },
}

test('one request', async () => {
  const controller = new AbortController()
  const running = dispatch(['serve', '--port', '0', ...flags.split(' ').filter(Boolean)], commands, packageVersion(), {
    environment: process.env,
    stdin: { isTerminal: false, text: async () => '' },
    stdout: output,
    stderr: output,
    signal: controller.signal,
    starting() {},
    logging() {},
  })
  for (const end = performance.now() + 10_000; port === undefined && performance.now() < end;) await Bun.sleep(20)
  const url = `http://127.0.0.1:${port}`
  if (body !== undefined) {
    const headers = {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    }
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
    const text = await response.text()
    if (response.status !== 200) throw new Error(text)
  }
  // Records are written some time after the answer.
  await Bun.sleep(600)
  controller.abort('SIGTERM')
  await running
}, 30_000)
