import { join } from 'node:path'
import { freePort } from '../../test/ports.ts'
import { diskBytes, npmPackages, packageVersion, type Installed } from '../installed.ts'
import { asRecord, numberIn } from '../load-address.ts'
import { runProgram, startProgram } from '../processes.ts'
import type { SpokenName } from '../spoken-formats.ts'
import { modelName } from '../upstream-protocol.ts'
import type { Proxy } from './proxy.ts'

const root = join(import.meta.dir, '..', '..')

/** This service. */
export const svc: Proxy = serviceFrom(root, 'svc', 'this service, one provider, `--log-level warn`')

/** Another checkout of this service, named by `SVC_BEFORE`, to measure the cost of a change. */
export const svcBefore: Proxy = serviceFrom(
  process.env['SVC_BEFORE'] ?? '',
  'svc-before',
  'the checkout that SVC_BEFORE names, set up the same way',
)

/**
 * A checkout of this service as its command starts it: one provider, one model, and no log line for requests, as with
 * all other proxies.
 */
function serviceFrom(root: string, name: string, setup: string, more: object = {}): Proxy {
  return {
    name,
    kind: 'service',
    setup,
    needs: [],
    async prepare() {
      if (root === '') throw new Error('SVC_BEFORE names no checkout')
    },
    async version() {
      return `svc/${await packageVersion(root)} (bun ${Bun.version})`
    },
    installed,
    async launch({ upstreamPort, core, directory, register }) {
      const port = freePort()
      const config = join(directory, 'providers.json')
      await Bun.write(config, JSON.stringify({ providers: [provider(upstreamPort, more)] }))
      const command = ['sh', join(root, 'bin/svc'), '--port', String(port), '--config', config, '--log-level', 'warn']
      const environment = { SVC_HOME: directory }
      return {
        program: startProgram({ name, command, core, directory, environment }, register),
        port,
        headers: {},
      }
    },
  }
}

function provider(upstreamPort: number, more: object = {}): Readonly<Record<string, unknown>> {
  return {
    id: 'mock',
    protocol: 'openai',
    base_url: `http://127.0.0.1:${upstreamPort}/v1`,
    models: [modelName],
    ...more,
  }
}

/** The members of its entry that make a provider speak a format. */
const speaking: Readonly<Record<SpokenName, object>> = {
  chat: {},
  messages: { protocol: 'anthropic' },
  responses: { formats: ['responses'] },
  gemini: { protocol: 'gemini' },
}

/** This service with a provider of this format. */
export function svcSpeaking(name: string, format: SpokenName): Proxy {
  return serviceFrom(root, name, `this service, a provider of ${format}`, speaking[format])
}

/** Measures the files of `npm install`: those of the package and of its dependencies, with Bun. */
async function installed(): Promise<Installed> {
  const packed: unknown = JSON.parse(
    await runProgram(['npm', 'pack', '--dry-run', '--json', '--ignore-scripts'], 60_000, { directory: root }),
  )
  const [about] = Array.isArray(packed) ? packed : [packed]
  const packages = await npmPackages(root)
  return {
    bytes: numberIn(asRecord(about, 'what npm pack wrote'), 'unpackedSize') + (await diskBytes(packages)),
    runtimeBytes: 0,
    dependencies: packages.length,
  }
}
