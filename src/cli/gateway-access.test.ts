import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gatewayAccess } from './gateway-access.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-access-'))
  writeFileSync(join(home, 'providers.json'), JSON.stringify({ providers: [{ id: 'echo' }] }))
})
afterEach(() => rmSync(home, { recursive: true }))

function load(limit: object) {
  writeFileSync(join(home, 'access.json'), JSON.stringify({ limits: [limit] }))
  return gatewayAccess.load(undefined, { environment: { SVC_HOME: home }, stderr: { write: () => true } as never })
}

test.each([[{ for: 'provider:ecco', usd: 1, per: 'day' }, 'limits[0].for: found "provider:ecco"']])(
  'a limit that the service refuses is a fault: %j',
  async (limit, fault) => {
    await expect(load(limit)).rejects.toThrow(fault)
  },
)

test.each([
  [{ for: 'provider:echo', usd: 1, per: 'day' }],
  [{ for: 'everyone', usd: 1, per: 'day', hard: true }],
  [{ for: 'each key', requests: 1 }],
  [{ for: 'each person', requests: 1 }],
])('a limit that the service may keep is none: %j', async (limit) => {
  expect((await load(limit)).providers).toMatchObject([{ id: 'echo' }])
})
