import { join } from 'node:path'
import { freePort } from '../../test/ports.ts'
import { debianInstalled } from '../installed.ts'
import { runProgram, startProgram } from '../processes.ts'
import type { Proxy } from './proxy.ts'

/** HAProxy with one thread, in HTTP mode, connections reused on both sides, no log. */
export const haproxy: Proxy = {
  name: 'haproxy',
  kind: 'relay',
  setup: 'HTTP mode, one thread, `http-reuse always`, no log',
  needs: ['haproxy'],
  prepare: () => Promise.resolve(),
  async version() {
    const text = await runProgram(['haproxy', '-v'], 5000)
    return `haproxy/${/version (\d[\d.]*)/.exec(text)?.[1] ?? '?'}`
  },
  installed: () => debianInstalled(['haproxy']),
  async launch({ upstreamPort, core, directory, register }) {
    const port = freePort()
    await Bun.write(join(directory, 'haproxy.cfg'), configuration(port, upstreamPort))
    return {
      program: startProgram(
        { name: 'haproxy', command: ['haproxy', '-db', '-f', 'haproxy.cfg'], core, directory },
        register,
      ),
      port,
      headers: {},
    }
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
