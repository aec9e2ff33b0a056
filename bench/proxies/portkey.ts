import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../test/ports.ts'
import { diskBytes, nodeBytes, npmPackages, packageVersion, type Installed } from '../installed.ts'
import { runProgram, startProgram } from '../processes.ts'
import type { Proxy } from './proxy.ts'

const folder = join(import.meta.dir, '..', 'portkey')
const entry = join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js')

/** The Portkey gateway on Node, from npm, with four dependencies pinned to versions with working streams. */
export const portkey: Proxy = {
  name: 'portkey',
  kind: 'gateway',
  setup: 'npm `@portkey-ai/gateway` with pinned dependencies, provider `openai`, `x-portkey-custom-host`',
  needs: ['node', 'npm'],
  async prepare() {
    if (existsSync(entry)) return
    console.error('bench: installing Portkey into bench/portkey/node_modules (about 24 MB, once)')
    await runProgram(['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], 180_000, { directory: folder })
  },
  async version() {
    const version = await packageVersion(join(folder, 'node_modules/@portkey-ai/gateway'))
    return `portkey/${version} (node ${(await runProgram(['node', '--version'], 5000)).trim()})`
  },
  installed,
  async launch({ upstreamPort, core, directory, register }) {
    const port = freePort()
    const environment = { NODE_ENV: 'production' }
    const command = ['node', entry, '--headless', `--port=${port}`]
    const program = startProgram({ name: 'portkey', command, core, directory, environment }, register)
    const headers = {
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
      authorization: 'Bearer key-for-tests',
    }
    return { program, port, headers }
  },
}

async function installed(): Promise<Installed> {
  const packages = await npmPackages(folder)
  // One of the packages is the gateway itself.
  return { bytes: await diskBytes(packages), runtimeBytes: await nodeBytes(), dependencies: packages.length - 1 }
}
