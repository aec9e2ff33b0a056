import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fetchPriceList } from '../app/price-update.ts'
import { parseFetchedPrices } from '../config/file/parse-prices.ts'
import { pricesCommand } from './prices.ts'
import { runCommand } from './testing.ts'

const openai = { 'gpt-x': { cost: { input: 3, output: 12, cache_read: 0.3 } }, free: { cost: { input: 0, output: 0 } } }
const list = (models: object = openai): string => JSON.stringify({ openai: { models }, unknown: { models: openai } })
const answers = new Map<string, () => Response | Promise<Response>>([
  ['/list', () => new Response(list())],
  ['/moved', () => new Response(null, { status: 302, headers: { location: '/list' } })],
  ['/failing', () => new Response(list(), { status: 500 })],
  ['/malformed', () => new Response('{"openai":')],
  ['/deep', () => new Response('['.repeat(1_000_000))],
  ['/array', () => new Response('[]')],
  ['/other', () => new Response('{"models":[]}')],
  ['/negative', () => new Response(list({ m: { cost: { input: -1, output: 1 } } }))],
  ['/dear', () => new Response(list({ m: { cost: { input: 1e300, output: 1 } } }))],
  ['/control', () => new Response(list({ 'm\u001b[2J': { cost: { input: 1, output: 1 } } }))],
  ['/huge', () => new Response('x'.repeat(33 * 1024 * 1024))],
  [
    '/many',
    () =>
      new Response(list(Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`m${at}`, openai['gpt-x']])))),
  ],
  [
    '/wide',
    () =>
      new Response(
        list(Object.fromEntries(Array.from({ length: 2_500 }, (_, at) => ['漢'.repeat(150) + at, openai['gpt-x']]))),
      ),
  ],
  ['/slow', () => new Promise<Response>(() => undefined)],
])
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: ({ url }) => answers.get(new URL(url).pathname)?.() ?? new Response(null, { status: 404 }),
})
const base = `http://127.0.0.1:${server.port}`
const homes: string[] = []
afterAll(async () => {
  await server.stop(true)
  for (const home of homes) await rm(home, { recursive: true, force: true })
})

/** Runs `svc prices update` in a home folder of its own. */
async function subject() {
  const home = await mkdtemp(join(tmpdir(), 'svc-prices-'))
  homes.push(home)
  const path = join(home, 'prices.fetched.json')
  return {
    path,
    files: () => readdir(home),
    written: async () => parseFetchedPrices(await readFile(path, 'utf8'), path)?.prices.get('openai'),
    update: (...flags: readonly string[]) =>
      runCommand(pricesCommand, ['update', ...flags], { environment: { SVC_HOME: home } }),
    async serve(models: object) {
      await writeFile(join(home, 'list.json'), list(models))
      return join(home, 'list.json')
    },
  }
}

describe('svc prices update', () => {
  test('writes the prices of known brands, and leaves out prices of 0 for all', async () => {
    const { update, written, files } = await subject()
    const { code, out } = await update('--from', `${base}/list`)
    expect(out).toStartWith('0 prices change, 1 are new, 0 are gone\n')
    expect([code, await written()]).toEqual([0, new Map([['gpt-x', { input: 3, output: 12, cachedInput: 0.3 }]])])
    expect(await files()).toEqual(['prices.fetched.json'])
  })

  test('writes nothing in a dry run', async () => {
    const { update, files } = await subject()
    expect((await update('--from', `${base}/list`, '--dry-run')).code).toBe(0)
    expect(await files()).toEqual([])
  })

  test('takes the list of a file, also one as prices.json', async () => {
    const { update, written, serve, path } = await subject()
    expect((await update('--from', await serve(openai))).code).toBe(0)
    await writeFile(`${path}.own`, '{"prices":{"openai":{"gpt-x":{"input":4,"output":12,"cached_input":0.3}}}}')
    expect((await update('--from', `${path}.own`)).code).toBe(0)
    expect((await written())?.get('gpt-x')?.input).toBe(4)
  })

  test.each<[string, object, string]>([
    ['becomes 0', { 'gpt-x': { cost: { input: 0, output: 12, cache_read: 0.3 } } }, 'is 0'],
    ['vanishes', { other: { cost: { input: 1, output: 1 } } }, 'is gone'],
    ['moves tenfold', { 'gpt-x': { cost: { input: 30, output: 12, cache_read: 0.3 } } }, 'moved tenfold'],
  ])('needs consent for a price that %s, and lists it before', async (_, models, doubt) => {
    const { update, written, serve } = await subject()
    await update('--from', await serve(openai))
    const before = await written()
    const refused = await update('--from', await serve(models))
    expect(refused.code).toBe(1)
    expect(refused.out).toMatch(new RegExp(`openai/gpt-x +${doubt}`))
    expect(refused.err).toContain('accept them with --yes')
    expect(await written()).toEqual(before)
    expect((await update('--from', await serve(models), '--yes')).code).toBe(0)
    expect(await written()).not.toEqual(before)
  })

  test.each([
    ['/moved', '302: --from /list would follow it'],
    ['/failing', 'answered 500'],
    ['/missing', 'answered 404'],
    ['/malformed', 'no JSON object'],
    ['/deep', 'no JSON object'],
    ['/array', 'no JSON object'],
    ['/other', 'no price of a known brand'],
    ['/negative', 'found -1'],
    ['/dear', 'found 1e+300'],
    ['/control', 'an invalid name'],
    ['/huge', 'was not fetched'],
    ['/many', 'characters of prices'],
    ['/wide', 'more than 1048576 bytes'],
  ])('refuses the whole list of %s: %s', async (path, message) => {
    const { update, files } = await subject()
    await expect(update('--from', `${base}${path}`)).rejects.toThrow(message)
    expect(await files()).toEqual([])
  })

  test('ends at its time limit', async () => {
    await expect(fetchPriceList(`${base}/slow`, {}, 50)).rejects.toThrow('no answer within 50 ms')
  })

  test.each([
    ['http://example.org/list', 'allowed: an https address'],
    ['ftp://example.org/list', 'allowed: an https address'],
    ['https://ada:secret@example.org/list', 'with a password'],
    ['ftp://ada:secret@example.org/list', 'with a password'],
    ['https://ada:secret@example.org:port/list', 'not valid'],
    ['/no/such/file', 'cannot be read (ENOENT)'],
    ['/dev/zero', 'is not a file'],
  ])('reads nothing from %s', async (from, message) => {
    const { update } = await subject()
    const refusal = update('--from', from)
    await expect(refusal).rejects.toThrow(message)
    await expect(refusal).rejects.not.toThrow('secret')
  })

  test('keeps a damaged list of before until it is removed', async () => {
    const { update, path } = await subject()
    await writeFile(path, '{"prices":{}}')
    await expect(update('--from', `${base}/list`)).rejects.toThrow('fetched_at: found nothing')
    expect(await readFile(path, 'utf8')).toBe('{"prices":{}}')
  })
})
