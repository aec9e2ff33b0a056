import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRecord } from '../base/json-value.ts'
import { drillCommand } from './drill.ts'
import { runCommand } from './testing.ts'

let home = ''
const hits: string[] = []
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { pathname } = new URL(request.url)
    const body: unknown = request.method === 'POST' ? await request.json() : {}
    const limit = isRecord(body) ? body['max_tokens'] : undefined
    hits.push(`${request.method} ${pathname} ${typeof limit === 'number' ? limit : ''}`.trim())
    if (request.headers.get('authorization') !== 'Bearer right-key') return new Response('{}', { status: 401 })
    if (pathname.includes('/gone/') && isRecord(body) && body['model'] === 'm')
      return Response.json({ error: { code: 'model_not_found', message: 'no such model' } }, { status: 404 })
    if (pathname.endsWith('/models')) return Response.json({ data: [{ id: 'm' }, { id: 'other' }] })
    const choices = [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'length' }]
    return Response.json({ id: 'x', object: 'chat.completion', created: 1, model: 'm', choices })
  },
})

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-drill-'))
  hits.length = 0
})
afterEach(() => rmSync(home, { recursive: true }))

async function run(argv: readonly string[], providers: readonly object[]) {
  const file = join(home, 'providers.json')
  writeFileSync(file, JSON.stringify({ providers }), { mode: 0o600 })
  return await runCommand(drillCommand, ['--config', file, ...argv], { environment: { SVC_HOME: home } })
}

const at = (id: string, key: string, models: unknown = ['m']) => ({
  ...{ id, api_key: key, models },
  base_url: `http://127.0.0.1:${server.port}/${id}/v1`,
})
const elsewhere = { id: 'b', base_url: 'https://b.example/v1', api_key: 'k', models: ['m'] }

describe('svc drill', () => {
  test('prints who serves, and ends with 0 if every model survives', async () => {
    const { code, out } = await run(['--offline'], [at('a', 'right-key'), elsewhere])
    expect(code).toBe(0)
    expect(out).toMatch(/m +none +a\n +a: timeout, rate_limit, credential, cut +b/)
    expect(out).toEndWith('All 1 models are served whichever provider fails.\n')
    expect(hits).toEqual([])
  })

  test('ends with 1 where one provider is all there is', async () => {
    const { code, out } = await run(['--offline', '--json'], [at('a', 'right-key')])
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({ survives: false, models: [{ model: 'm', chain: [{ provider: 'a' }] }] })
  })

  test('ends with 1 and says so where no model is known', async () => {
    const { code, out } = await run(['--offline'], [at('a', 'right-key', '*')])
    expect(code).toBe(1)
    expect(out).toEndWith('No model is known: name one, or give providers "models" in the file.\n')
    const json = await run(['--offline', '--json'], [at('a', 'right-key', '*')])
    expect([json.code, JSON.parse(json.out)]).toEqual([1, { models: [], survives: false }])
  })

  test('finds a wrong key of a spare with --live, by one token', async () => {
    const pair = [at('a', 'right-key'), { ...at('c', 'wrong-key'), base_url: `http://localhost:${server.port}/c/v1` }]
    expect((await run(['--offline'], pair)).code).toBe(0)
    const { code, out } = await run(['m', '--live'], pair)
    expect(code).toBe(1)
    expect(out).toContain('c did not answer')
    expect(hits).toEqual(expect.arrayContaining(['POST /a/v1/chat/completions 1', 'POST /c/v1/chat/completions 1']))
    expect(hits).toHaveLength(2)
  })

  test('finds a model that a spare does not have with --live, for that model alone', async () => {
    const pair = [at('a', 'right-key', ['m', 'n']), { ...at('gone', 'right-key', ['m', 'n']), api_key: 'right-key' }]
    const { out } = await run(['m', 'n', '--live', '--json'], pair)
    const { models } = JSON.parse(out)
    expect(
      models.map(({ notes }: { notes: readonly string[] }) => notes.filter((note) => note.includes('answer'))),
    ).toEqual([['gone did not answer'], []])
  })

  test('asks for lists of models alone, and with --offline for nothing', async () => {
    const { out } = await run([], [at('a', 'right-key', '*'), elsewhere])
    expect(hits).toEqual(['GET /a/v1/models'])
    expect(out).toContain('a: timeout')
    hits.length = 0
    rmSync(join(home, 'cache'), { recursive: true, force: true })
    await run(['--offline'], [at('a', 'right-key', '*'), elsewhere])
    expect(hits).toEqual([])
  })

  test.each([
    [['--live', '--offline'], /choose one/],
    [['--fail', 'nowhere'], /no provider has this id/],
  ])('refuses %j', async (argv, message) => {
    expect(run(argv, [elsewhere])).rejects.toThrow(message)
  })
})
