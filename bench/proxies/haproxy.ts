import { join } from 'node:path'
import { freePort, runProgram, startProgram, waitUntilListening } from '../processes.ts'
import type { Proxy } from './proxy.ts'

/** HAProxy with one thread, in HTTP mode, connections reused on both sides, no log. */
export const haproxy: Proxy = {
  name: 'haproxy',
  setup: 'HTTP mode, one thread, `http-reuse always`, no log',
  needs: ['haproxy'],
  prepare: () => Promise.resolve(),
  async version() {
    const text = await runProgram(['haproxy', '-v'], 5000)
    return `haproxy/${/version (\d[\d.]*)/.exec(text)?.[1] ?? '?'}`
  },
  async start({ upstreamPort, core, directory, register }) {
    const port = freePort()
    await Bun.write(join(directory, 'haproxy.cfg'), configuration(port, upstreamPort))
    const program = startProgram({ name: 'haproxy', command: ['haproxy', '-db', '-f', 'haproxy.cfg'], core, directory }, register)
    await waitUntilListening(program, port)
    return { program, port, headers: {} }
  },
}

function configuration(port: number, upstreamPort: number): string {
  return `global
  maxconn 4096
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 600s
  timeout server 600s
  http-reuse always
  option http-no-delay
frontend front
  bind 127.0.0.1:${port}
  default_backend mock
backend mock
  server mock 127.0.0.1:${upstreamPort}
`
}
