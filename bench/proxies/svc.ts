import { join } from 'node:path'
import { freePort, startProgram, waitUntilListening } from '../processes.ts'
import { modelName } from '../upstream-protocol.ts'
import type { Proxy } from './proxy.ts'

const root = join(import.meta.dir, '..', '..')

/** This service as its command starts it: one provider, one model, no log line a request (nobody else writes one either). */
export const svc: Proxy = {
  name: 'svc',
  setup: 'this service, one provider, `--log-level warn`',
  needs: [],
  prepare: () => Promise.resolve(),
  async version() {
    const manifest: unknown = await Bun.file(join(root, 'package.json')).json()
    const version = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : '?'
    return `svc/${version} (bun ${Bun.version})`
  },
  async start({ upstreamPort, core, directory, register }) {
    const port = freePort()
    const config = join(directory, 'providers.json')
    await Bun.write(config, JSON.stringify({ providers: [provider(upstreamPort)] }))
    const command = ['sh', join(root, 'bin/svc'), '--port', String(port), '--config', config, '--log-level', 'warn']
    const environment = { SVC_HOME: directory }
    const program = startProgram({ name: 'svc', command, core, directory, environment }, register)
    await waitUntilListening(program, port)
    return { program, port, headers: {} }
  },
}

function provider(upstreamPort: number): Readonly<Record<string, unknown>> {
  return { id: 'mock', protocol: 'openai', base_url: `http://127.0.0.1:${upstreamPort}/v1`, models: [modelName] }
}
