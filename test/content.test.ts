import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson, pick } from './client.ts'
import { good, goodText } from './fakes/good.ts'
import { startLedgerRig, until, type LedgerRig } from './ledger-rig.ts'

const providerKey = 'provider-key-0123456789abcdef'
const card = '4111 1111 1111 1111'
const picture = Buffer.from('not really a picture '.repeat(9)).toString('base64')
const rules = [{ for: 'key:1', keep: '7d', redact: ['\\d{4}(?: \\d{4}){3}'] }]

let rig: LedgerRig
let reader: string
let number = 0
beforeAll(async () => {
  rig = await startLedgerRig([good()], { flags: ['--workers', '2'], every: { api_key: providerKey } })
  reader = await rig.makeKey({ name: 'reader', scopes: ['chat', 'log:read'] })
  await ask({ id: 'before' })
  await setRules(rules)
})
afterAll(() => rig[Symbol.asyncDispose]())

/** Activates rules, and waits until a worker says so. */
async function setRules(content: readonly object[]): Promise<void> {
  const reloads = () => rig.service.output.split('limits reloaded').length
  const before = reloads()
  writeFileSync(join(rig.home, 'access.json'), JSON.stringify({ content }))
  await until(() => reloads() > before)
  // Each worker has the rules when it says so of the key.
  const kept = async () => {
    const response = await get('/v1/key', rig.key)
    return pick(await response.json(), 'content', 'kept_seconds') !== undefined
  }
  for (let seen = 0; seen < 12; seen = (await kept()) === content.length > 0 ? seen + 1 : 0);
}

const get = (path: string, key: string) =>
  fetch(rig.service.url + path, { headers: { authorization: `Bearer ${key}`, connection: 'close' } })

interface Asked {
  readonly id: string
  readonly path?: string
  readonly body?: object
  readonly headers?: Record<string, string>
  readonly key?: string
}

async function ask({
  id,
  path = '/v1/chat/completions',
  body = {},
  headers = {},
  key = rig.key,
}: Asked): Promise<string> {
  const response = await fetch(rig.service.url + path, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: `question ${id}` }], ...body }),
    headers: { authorization: `Bearer ${key}`, 'x-request-id': id, ...headers },
  })
  const text = await response.text()
  expect([id, response.status]).toEqual([id, 200])
  return text
}

const rows = (condition: string) => {
  try {
    return rig.read(`SELECT id, line, flags FROM content WHERE ${condition}`, 'requests.db')
  } catch {
    return [] // The first content makes the file.
  }
}

/** The content of a request as the command that exports a person sees it: all of it in one text. */
async function contentOf(id: string): Promise<string> {
  await until(() => rows(`id = '${id}'`).length > 0)
  const found = rig.read(`SELECT question, answer FROM content WHERE id = '${id}'`, 'requests.db')[0]
  return ['question', 'answer']
    .map((column) => new TextDecoder().decode(Bun.zstdDecompressSync(Buffer.from(found?.[column] as Uint8Array))))
    .join('\n---\n')
}

/** A later request is stored: so would earlier ones be. */
async function settled(): Promise<void> {
  number += 1
  for (let each = 0; each < 8; each += 1)
    await ask({ id: `settled-${number}-${each}`, headers: { connection: 'close' } })
  await until(() => rows(`id LIKE 'settled-${number}-%'`).length === 8)
}

describe('content of requests', () => {
  const secrets = `say ${providerKey} ${card} and`
  const text = () => `${secrets} ${rig.key}`
  const formats: readonly (readonly [string, string, (stream: boolean) => object])[] = [
    ['chat', '/v1/chat/completions', (stream) => ({ stream, messages: [{ role: 'user', content: text() }] })],
    [
      'messages',
      '/v1/messages',
      (stream) => ({ stream, max_tokens: 9, messages: [{ role: 'user', content: text() }] }),
    ],
    ['responses', '/v1/responses', (stream) => ({ stream, input: text(), messages: undefined })],
    [
      'gemini',
      '',
      () => ({ model: undefined, messages: undefined, contents: [{ role: 'user', parts: [{ text: text() }] }] }),
    ],
  ]

  test.each(formats.flatMap((format) => [false, true].map((stream) => [format[0], stream, format] as const)))(
    'of %s (stream: %p) is kept as text, without secrets',
    async (name, stream, [, path, body]) => {
      const id = `${name}-${String(stream)}`
      const gemini = `/v1beta/models/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
      await ask({ id, path: path || gemini, body: body(stream) })
      const kept = await contentOf(id)
      expect(kept).toContain('say [redacted] [removed] and [removed]')
      expect(kept).toEndWith(`---\n${goodText()}`)
    },
  )

  test('of the past, of other callers, and with x-svc-no-content is not kept', async () => {
    await ask({ id: 'off', headers: { 'x-svc-no-content': '1' } })
    await ask({ id: 'other', key: reader })
    await ask({ id: 'wish', key: reader, headers: { 'x-svc-content': '7d', 'x-svc-no-content': '0' } })
    await settled()
    expect(rows(`id IN ('off', 'other', 'wish', 'before')`)).toEqual([])
  })

  test('has pictures as size and SHA-256, is cut, and is read by keys of its line only, until it expires', async () => {
    const content = [
      { type: 'text', text: 'see' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } },
    ]
    await ask({ id: 'picture', body: { messages: [{ role: 'user', content }] } })
    expect(await contentOf('picture')).toMatch(/see\n.*\[image\/png, 189 bytes, SHA-256 [0-9a-f]{64}\]/)
    await ask({ id: 'long', body: { messages: [{ role: 'user', content: 'ü '.repeat(200_000) }] } })
    await until(() => rows(`id = 'long'`)[0]?.['flags'] === 1)
    expect((await get('/api/requests/picture/content', rig.key)).status).toBe(403)
    const response = await get('/api/requests/picture/content', reader)
    expect([response.status, pick(await response.json(), 'error', 'code')]).toEqual([404, 'content_not_kept'])
    const lineReader = await rig.makeKey({ name: 'own', scopes: ['chat', 'log:read'] })
    await setRules([...rules, { for: 'key:3', keep: '1h' }])
    await ask({ id: 'own', key: lineReader })
    await until(() => rows(`id = 'own'`).length > 0)
    const own: unknown = parseJson(await (await get('/api/requests/own/content', lineReader)).text())
    expect([pick(own, 'question'), pick(own, 'answer')]).toEqual(['[user]\nquestion own', goodText()])
    expect((await get('/api/requests/own/content', reader)).status).toBe(404)
    expect((await get('/api/requests/own/content?time=5', lineReader)).status).toBe(404)
    const database = new Database(join(rig.home, 'requests.db'))
    database.run(`UPDATE content SET expires = ${Date.now() - 1} WHERE id = 'own'`)
    database.close()
    expect((await get('/api/requests/own/content', lineReader)).status).toBe(404)
  })

  test('has no secret in a file, and ends with its rule', async () => {
    await setRules([])
    await ask({ id: 'later' })
    await rig.service.stop()
    expect(rows(`id = 'later'`)).toEqual([])
    for (const file of readdirSync(rig.home)) {
      const bytes = file === 'providers.json' ? '' : readFileSync(join(rig.home, file), 'latin1')
      expect([file, [providerKey, rig.key, card].filter((secret) => bytes.includes(secret))]).toEqual([file, []])
    }
    expect(rig.service.output).not.toContain('question ')
  })
})
