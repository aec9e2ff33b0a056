import { join } from 'node:path'
import { freePort, startProgram } from '../processes.ts'
import type { Proxy } from './proxy.ts'

/** Only `Bun.serve` and `fetch`: a lower bound for every proxy on Bun. */
export const bareRelay: Proxy = {
  name: 'bare-relay',
  kind: 'floor',
  setup: '`Bun.serve` handing on the body of `fetch`, nothing looked at',
  needs: [],
  prepare: () => Promise.resolve(),
  version: () => Promise.resolve(`bun/${Bun.version}`),
  async launch({ upstreamPort, core, directory, register }) {
    const port = freePort()
    const command = [
      process.execPath,
      join(import.meta.dir, 'bare-relay-server.ts'),
      String(port),
      String(upstreamPort),
    ]
    const environment = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' }
    return {
      program: startProgram({ name: 'bare-relay', command, core, directory, environment }, register),
      port,
      headers: {},
    }
  },
}
