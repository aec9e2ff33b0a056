import { join } from 'node:path'
import { freePort } from '../../test/ports.ts'
import { startProgram } from '../processes.ts'
import { stages, type StageName } from '../stage-names.ts'
import type { Proxy } from './proxy.ts'
import { serveRaw } from './serve-raw.ts'
import { svc } from './svc.ts'

/** A stage as a process. The first and the last are the raw relay and the service themselves. */
export function stageProxy(name: StageName): Proxy {
  if (name === 'raw') return { ...serveRaw, name }
  if (name === 'svc') return svc
  return {
    ...serveRaw,
    name,
    setup: stages[name],
    async launch({ upstreamPort, core, directory, register }) {
      const port = freePort()
      const server = join(import.meta.dir, '..', 'stage-server.ts')
      const command = [process.execPath, server, name, String(port), String(upstreamPort)]
      return { program: startProgram({ name, command, core, directory }, register), port, headers: {} }
    },
  }
}
