import { join } from 'node:path'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { makeKey, parseKeyRequest } from '../../src/people/keys/manage-keys.ts'
import { freePort } from '../../test/ports.ts'
import { startProgram } from '../processes.ts'
import { modelName } from '../upstream-protocol.ts'
import type { Proxy } from './proxy.ts'
import { svc } from './svc.ts'

export const benchPrice = { input: 3, output: 15 }
/** Four limits that count each request, and refuse none. */
export const benchLimits = [
  { for: 'everyone', requests: 1_000_000_000 },
  { for: 'everyone', tokens: 1_000_000_000_000 },
  { for: 'each key', at_once: 100_000 },
  { for: 'each key', usd: 9_000_000, per: 'month' },
]

/** The service with or without keys, limits and ledger. Both get the header of a key, and have a price. */
function serviceWith(name: string, setup: string, hasKeys: boolean): Proxy {
  return {
    ...svc,
    name,
    setup,
    async launch({ upstreamPort, core, directory, register }) {
      const port = freePort()
      const config = join(directory, 'providers.json')
      const base_url = `http://127.0.0.1:${upstreamPort}/v1`
      const models = [{ name: modelName, price: benchPrice }]
      await Bun.write(config, JSON.stringify({ providers: [{ id: 'mock', protocol: 'openai', base_url, models }] }))
      if (hasKeys) await Bun.write(join(directory, 'access.json'), JSON.stringify({ limits: benchLimits }))
      const ledger = await openLedger({ path: join(directory, hasKeys ? 'svc.db' : 'unused.db') })
      const { key } = await makeKey(ledger.keys, parseKeyRequest({ name: 'bench' }), { by: 'bench', now: Date.now() })
      await ledger.close()
      const program = join(import.meta.dir, '..', '..', 'bin/svc')
      const flags = ['--port', String(port), '--config', config, '--log-level', 'warn']
      const command = ['sh', program, ...flags, ...(hasKeys ? ['--auth', 'keys'] : [])]
      const environment = { SVC_HOME: directory }
      return {
        program: startProgram({ name, command, core, directory, environment }, register),
        port,
        headers: { authorization: `Bearer ${key}` },
      }
    },
  }
}

/** The service without keys, limits and ledger. */
export const svcWithoutKeys = serviceWith('svc', 'this service', false)

/** The service with keys, four limits and the ledger. */
export const svcWithKeys = serviceWith('svc-keys', 'this service, `--auth keys`, four limits, the ledger', true)
