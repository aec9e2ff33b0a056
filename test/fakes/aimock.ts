import { fileURLToPath } from 'node:url'
import { readLines } from '../lines.ts'

/** The mock upstream `aimock` of npm, in a process of Node. */
export interface Aimock {
  /** `http://127.0.0.1:PORT/v1` */
  readonly url: string
  stop(): Promise<void>
}

/** Its answer to `hello`. */
export const aimockText = 'Hello from a mock that others wrote.'

/** Starts aimock with the fixtures beside this file. @throws when it does not print its address */
export async function startAimock(): Promise<Aimock> {
  const cli = fileURLToPath(new URL('./cli.js', import.meta.resolve('@copilotkit/aimock')))
  const fixtures = fileURLToPath(new URL('./aimock.json', import.meta.url))
  const child = Bun.spawn(['node', cli, '--port', '0', '--fixtures', fixtures, '--chunk-size', '5'], {
    stdout: 'pipe',
    stderr: 'pipe',
    stdin: 'ignore',
  })
  const address = Promise.withResolvers<string>()
  let output = ''
  // Read to the end, so that its pipe does not fill up.
  const read = Promise.all(
    [child.stdout, child.stderr].map((stream) =>
      readLines(stream, (line) => {
        output += `${line}\n`
        const port = /(?:127\.0\.0\.1|localhost):(\d+)/.exec(line)?.[1]
        if (port !== undefined) address.resolve(`http://127.0.0.1:${port}/v1`)
      }),
    ),
  )
  void read.then(() => address.reject(new Error(`aimock did not start:\n${output}`)))
  return {
    url: await address.promise,
    async stop() {
      child.kill()
      await child.exited
    },
  }
}
