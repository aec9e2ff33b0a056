import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson, pick } from './client.ts'
import { good } from './fakes/good.ts'
import { runSvc } from './harness.ts'
import { startRig, type Rig } from './rig.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startRig([good()], { flags: ['--auth', 'keys', '--workers', '2'] })
})
afterAll(() => rig[Symbol.asyncDispose]())

const svc = (...argv: readonly string[]) => runSvc(rig.service.home, ...argv)

async function keys(key: string, method: string, path = '', body?: object): Promise<Response> {
  return await fetch(`${rig.service.url}/v1/keys${path}`, {
    method,
    headers: { authorization: `Bearer ${key}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

test('changes of several processes are one chain', async () => {
  const boss = (await svc('keys', 'make', '--name', 'boss', '--kind', 'management')).out.trim()
  // Three command lines and both workers at once.
  const made = await Promise.all([
    ...Array.from({ length: 3 }, () => svc('keys', 'make', '--name', 'a').then(({ code }) => code)),
    ...Array.from({ length: 20 }, () => keys(boss, 'POST', '', { name: 'b' }).then(({ status }) => status)),
  ])
  expect(made).toEqual([...Array<number>(3).fill(0), ...Array<number>(20).fill(200)])
  const { code, out } = await svc('audit', 'verify')
  expect([code, out]).toEqual([0, expect.stringContaining('24 entries, the newest is 24 ')])
  const listed = parseJson((await svc('audit', '--json')).out)
  expect(pick(listed, 'entries', 23)).toMatchObject({ seq: 1, actor: 'command line', via: 'command line', object: '1' })
  const vias = Array.from({ length: 23 }, (_, index) => pick(listed, 'entries', index, 'via'))
  expect(vias.filter((via) => via === 'v1/keys')).toHaveLength(20)
}, 40_000)

test('an edited file has one entry of all workers, and the metrics have the newest chain', async () => {
  const file = join(rig.service.home, 'providers.json')
  const before = readFileSync(file, 'utf8')
  const after = `// By hand\n${before}`
  writeFileSync(file, after)
  const isRecorded = (line: Readonly<Record<string, unknown>>) => line['message'] === 'a change of a file was recorded'
  while (!rig.service.logs.some(isRecorded)) await Bun.sleep(10)
  const { chain, audit } = rig.service.logs.find(isRecorded) ?? {}
  const scraper = (await svc('keys', 'make', '--name', 'scraper', '--scopes', 'metrics:read')).out.trim()
  const [made, change, ...others] = readEntries((await svc('audit', '--json')).out)
  expect([made?.['action'], change]).toEqual([
    'key.made',
    expect.objectContaining({
      ...{ seq: audit, chain, actor: 'file', via: 'file', action: 'file.changed', object: 'providers.json' },
      before: JSON.stringify({ fingerprint: sha256(before) }),
      after: JSON.stringify({ fingerprint: sha256(after) }),
    }),
  ])
  expect(others.some(({ action }) => action === 'file.changed')).toBe(false)
  const metrics = await fetch(`${rig.service.url}/metrics`, { headers: { authorization: `Bearer ${scraper}` } })
  expect(await metrics.text()).toContain(`\nsvc_audit_entries{chain="${made?.['chain']}"} ${made?.['seq']}\n`)
}, 20_000)

function readEntries(text: string): readonly Readonly<Record<string, unknown>>[] {
  const entries = pick(parseJson(text), 'entries')
  return Array.isArray(entries) ? entries : []
}

const sha256 = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')

test('a copy of the database can be put back while svc runs', async () => {
  const boss = (await svc('keys', 'make', '--name', 'other boss', '--kind', 'management')).out.trim()
  const copy = join(rig.service.home, 'copy.db')
  expect((await svc('backup', copy)).code).toBe(0)
  const late = String(pick(await (await keys(boss, 'POST', '', { name: 'late' })).json(), 'key'))
  const asks = (key: string) => rig.ask({}, { authorization: `Bearer ${key}` })
  expect((await asks(late)).status).toBe(200)
  expect((await keys(boss, 'DELETE', '/2')).status).toBe(200)

  // The line in the log has the newest chain.
  const isEnd = (line: Readonly<Record<string, unknown>>) => line['message'] === 'a key was ended'
  while (!rig.service.logs.some(isEnd)) await Bun.sleep(10)
  const line = rig.service.logs.find(isEnd)
  const chain = String(line?.['chain'])
  expect(line).toMatchObject({ key: 2, by: 'key:other boss', audit: 29 })
  expect((await svc('audit', 'verify', '--expect', chain)).code).toBe(0)
  expect((await svc('backup', copy)).err).toContain(`${copy} exists`)

  const database = join(rig.service.home, 'svc.db')
  copyFileSync(copy, `${database}.new`)
  for (const end of ['-wal', '-shm']) rmSync(database + end, { force: true })
  renameSync(`${database}.new`, database)
  while ((await asks(late)).status !== 401) await Bun.sleep(50)
  expect((await keys(boss, 'GET', '/2')).status).toBe(200)
  const restored = await svc('audit', 'verify', '--expect', chain)
  expect([restored.code, restored.out]).toEqual([1, expect.stringContaining('no entry has the expected chain')])
  expect((await svc('audit', 'verify')).code).toBe(0)
}, 40_000)
