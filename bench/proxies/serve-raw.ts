import { join } from 'node:path'
import { freePort } from '../../test/ports.ts'
import { startProgram } from '../processes.ts'
import type { Proxy } from './proxy.ts'

/** `Bun.serve` with a minimal client on plain sockets: a lower bound for every proxy on `Bun.serve`. */
export const serveRaw: Proxy = {
  name: 'serve-raw',
  kind: 'floor',
  setup: '`Bun.serve` and a minimal client on `Bun.connect`; bytes are passed on as they come, and not parsed',
  needs: [],
  prepare: () => Promise.resolve(),
  version: () => Promise.resolve(`bun/${Bun.version}`),
  async launch({ upstreamPort, core, directory, register }) {
    const port = freePort()
    const server = join(import.meta.dir, 'serve-raw-server.ts')
    const command = [process.execPath, server, String(port), String(upstreamPort)]
    return { program: startProgram({ name: 'serve-raw', command, core, directory }, register), port, headers: {} }
  },
}
