import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { askProvider } from '../app/ask-provider.ts'
import { shippedDate } from '../app/shipped-prices.ts'
import { ConfigError } from '../config/config.ts'
import { openLedger } from '../ledger/open-ledger.ts'
import { storableKey, temporaryLedger } from '../ledger/testing.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { checkCommandWith } from './check.ts'
import { capturedContext, fakeAccess, namedModel, runCommand, streamed, type TestProvider } from './testing.ts'

const refused: TestProvider = {
  id: 'groq',
  chat: async () => {
    throw new UpstreamFailure('credential', 'the key was refused', { status: 401 })
  },
}
const unreachable: TestProvider = {
  id: 'local',
  chat: async () => {
    throw new UpstreamFailure('connect', 'connection refused')
  },
}
const answering: TestProvider = { id: 'openai' }

/** Without times, and without the widths of columns, which depend on them. */
function timeless(text: string): string {
  return text
    .replace(/ *\d+ ms/g, ' 0 ms')
    .replace(/"ms":\d+/g, '"ms":0')
    .replace(/ {2,}/g, '  ')
}

describe('svc check', () => {
  test('warns of an old list of prices, if a provider uses it', async () => {
    const later = () => shippedDate() + 91 * 86_400_000
    const check = (provider: TestProvider) =>
      runCommand(checkCommandWith(fakeAccess([provider]), later), ['--files-only'])
    expect((await check({ ...answering, config: { listedBrand: 'openai' } })).err).toBe(
      'svc: the list of prices is 91 days old: svc prices update fetches a newer one\n',
    )
    expect((await check(answering)).err).toBe('')
  })

  test('names user ids of access.json that people of several identity providers have', async () => {
    const place = await temporaryLedger()
    const environment = { SVC_HOME: dirname(place.path) }
    const database = new Database(place.path)
    const add = database.query('INSERT INTO person (subject, name, seen, user_id) VALUES (?1, ?1, 1, ?2)')
    for (const [subject, id] of [
      ['a', '7'],
      ['b', '7'],
      ['c', '8'],
      ['earlier svc: 8', '8'],
    ] as const)
      add.run(subject, id)
    database.close()
    const teams = { search: { leads: ['id:7', 'id:8'], members: ['id:7@https://a.test', 'ann'] } }
    writeFileSync(join(environment.SVC_HOME, 'access.json'), JSON.stringify({ teams }))
    const { err } = await runCommand(checkCommandWith(fakeAccess([answering])), ['--files-only'], { environment })
    expect(err).toBe(
      `svc: id:7 in access.json names several people of ${place.path}, whose use counts together: ` +
        'id:7@URL names one, with the identity provider\n',
    )
    await place.remove()
  })

  test('reads the files of extensions, as a start does', async () => {
    const home = mkdtempSync(join(tmpdir(), 'svc-check-'))
    const file = join(home, 'users/default/provider_auth/config.json')
    mkdirSync(dirname(file), { recursive: true })
    const check = async (config: object) => {
      writeFileSync(file, JSON.stringify(config))
      const command = checkCommandWith(fakeAccess([answering]))
      return await runCommand(command, ['--files-only'], { environment: { SVC_HOME: home } })
    }
    const sound = { provider: 'github', client_id: 'x', client_secret: 'y', restrict_to: 'ada' }
    const redirect_uri = 'http://127.0.0.1:8000/auth/provider/callback'
    expect(await check({ ...sound, redirect_uri })).toMatchObject({
      ...{ code: 0, err: '' },
      out: `providers.json: valid, 1 provider\n${file}: valid\n`,
    })
    expect((await check({ ...sound, redirect_uri, restrict_to: '' })).err).toContain('restrict_to is empty')
    expect(await check({ ...sound, redirect_uri: 'here' })).toMatchObject({
      code: 1,
      out: expect.stringContaining(`${file}:1:`),
    })
    rmSync(home, { recursive: true })
  })

  test('says what access.json has', async () => {
    const home = mkdtempSync(join(tmpdir(), 'svc-check-'))
    const file = join(home, 'access.json')
    const check = async (text: string) => {
      writeFileSync(file, text)
      const options = { environment: { SVC_HOME: home } }
      return (await runCommand(checkCommandWith(fakeAccess([answering])), ['--files-only'], options)).out
    }
    const limit = '{ "for": "each key", "usd": 5, "per": "day" }'
    const rest = '"teams": { "search": { "leads": ["ann"] } }, "content": [{ "for": "each key", "keep": "7d" }]'
    expect(await check(`{ "limits": [${limit}, { "for": "team:search", "requests": 60 }], ${rest} }`)).toBe(
      `providers.json: valid, 1 provider\n${file}: valid, 2 limits, 1 team, 1 rule of content\n`,
    )
    expect(await check(`{ "keys": [{ "name": "ci", "hash": "${'0f'.repeat(32)}" }] }`)).toContain('valid, 1 key\n')
    const ledger = await openLedger({ path: join(home, 'svc.db') })
    const stored = await ledger.keys.add(storableKey())
    await ledger.keys.end(stored.id, { at: 1, by: 'ann' })
    await ledger.close()
    const hash = Buffer.from(stored.hash, 'base64').toString('hex')
    writeFileSync(
      file,
      `{ "keys": [{ "name": "ci", "hash": "${hash}" }, { "name": "b", "hash": "${'0f'.repeat(32)}" }] }`,
    )
    const command = checkCommandWith(fakeAccess([answering]))
    const { code, err } = await runCommand(command, ['--files-only'], { environment: { SVC_HOME: home } })
    expect([code, err]).toEqual([
      0,
      `svc: the key "ci" of access.json has no effect: ${join(home, 'svc.db')} has the same key, which counts. ` +
        'Remove it from the file, or give it another hash\n',
    ])
    expect((await runCommand(command, ['--files-only', '--json'], { environment: { SVC_HOME: home } })).err).toBe(err)
    writeFileSync(join(home, 'svc.db'), 'damaged')
    const damaged = await runCommand(command, ['--files-only'], { environment: { SVC_HOME: home } })
    expect([damaged.code, damaged.err]).toEqual([0, expect.stringContaining('svc.db is damaged')])
    writeFileSync(join(home, 'svc.db'), '')
    expect((await runCommand(command, ['--files-only'], { environment: { SVC_HOME: home } })).err).toBe('')
    expect(await check('{}')).toBe('providers.json: valid, 1 provider\n')
    rmSync(home, { recursive: true })
  })

  test('names models without a price that a limit of money of access.json counts', async () => {
    const home = mkdtempSync(join(tmpdir(), 'svc-check-'))
    const check = async (unpriced?: string) => {
      const limits = [{ for: 'each key', usd: 5, per: 'day', unpriced }]
      writeFileSync(join(home, 'access.json'), JSON.stringify({ limits }))
      return runCommand(checkCommandWith(fakeAccess([answering])), [], { environment: { SVC_HOME: home } })
    }
    expect(await check()).toMatchObject({
      code: 0,
      err: expect.stringContaining('svc: no price is known for openai-model at openai, and a limit of money counts'),
    })
    expect(await check('ask')).toMatchObject({ code: 0, err: '' })
    rmSync(home, { recursive: true })
  })

  test('prints the result of each provider, in order', async () => {
    const access = fakeAccess([
      refused,
      { id: 'spare', config: { enabled: false } },
      { id: 'mistral', config: { unavailable: 'MISTRAL_API_KEY is not set' } },
      unreachable,
      answering,
    ])
    const { code, out } = await runCommand(checkCommandWith(access), [])
    expect(timeless(out)).toBe(
      timeless(`providers.json: valid, 5 providers

provider  status       time  model         error
groq      401          0 ms  groq-model    the key was refused
spare     off
mistral   unavailable                      MISTRAL_API_KEY is not set
local     connect      0 ms  local-model   connection refused
openai    ok           0 ms  openai-model
`),
    )
    expect(code).toBe(0)
  })

  test('fails when no provider answers', async () => {
    expect((await runCommand(checkCommandWith(fakeAccess([refused, unreachable])), [])).code).toBe(1)
  })

  test.each([
    ['fails when one provider fails', [answering, refused], 1],
    [
      'fails when one cannot be used',
      [answering, { id: 'mistral', config: { unavailable: 'MISTRAL_API_KEY is not set' } }],
      1,
    ],
    ['is content when all that are on answer', [answering, { id: 'spare', config: { enabled: false } }], 0],
    ['fails when none is on', [{ id: 'spare', config: { enabled: false } }], 1],
  ] as const)('with --strict %s', async (_name, providers, code) => {
    expect((await runCommand(checkCommandWith(fakeAccess(providers)), ['--strict'])).code).toBe(code)
  })

  test('prints all faults of an invalid file, asks no provider and fails', async () => {
    const faults = [
      { file: 'p.json', line: 3, column: 5, field: 'providers[0].id', found: '7', allowed: 'a string' },
      { file: 'p.json', line: 9, column: 1, field: 'x', found: 'y', allowed: 'z' },
    ]
    const access = {
      load: async () => {
        throw new ConfigError(faults)
      },
      open: async () => {
        throw new Error('must not be opened')
      },
    }
    expect(await runCommand(checkCommandWith(access), [])).toEqual({
      code: 1,
      err: '',
      out: 'p.json:3:5: providers[0].id: found 7, allowed: a string\np.json:9:1: x: found y, allowed: z\n',
    })
    expect(JSON.parse((await runCommand(checkCommandWith(access), ['--json'])).out)).toEqual({ valid: false, faults })
  })

  test.each([
    [{}, 'SVC_HISTORY_KEY is not set'],
    [{ SVC_HISTORY_KEY: 'short' }, 'SVC_HISTORY_KEY: found another text'],
  ])('names the missing key of conversations on the server: %j', async (environment, text) => {
    const plain = fakeAccess([answering])
    const config = { ...(await plain.load(undefined, capturedContext())), history: 'server' as const }
    const check = checkCommandWith({ ...plain, load: async () => config })
    const { code, out } = await runCommand(check, ['--files-only'], { environment })
    expect([code, out]).toEqual([1, expect.stringContaining(`providers.json: history: found "server", but ${text}`)])
    const key = { SVC_HISTORY_KEY: Buffer.alloc(32, 7).toString('base64') }
    expect((await runCommand(check, ['--files-only'], { environment: key })).code).toBe(0)
  })

  test('asks no provider with --files-only', async () => {
    const access = {
      ...fakeAccess([refused]),
      open: async () => {
        throw new Error('must not be opened')
      },
    }
    expect(await runCommand(checkCommandWith(access), ['--files-only'])).toEqual({
      code: 0,
      err: '',
      out: 'providers.json: valid, 1 provider\n',
    })
  })

  test('prints JSON', async () => {
    const { out } = await runCommand(
      checkCommandWith(fakeAccess([refused, answering, { id: 'spare', config: { enabled: false } }])),
      ['--json'],
    )
    expect(JSON.parse(timeless(out))).toEqual({
      valid: true,
      providers: [
        { id: 'groq', status: '401', model: 'groq-model', ms: 0, error: 'the key was refused' },
        { id: 'openai', status: 'ok', model: 'openai-model', ms: 0 },
        { id: 'spare', status: 'off' },
      ],
    })
  })

  test('asks at most eight providers concurrently', async () => {
    let asking = 0
    let most = 0
    const chat: TestProvider['chat'] = async () => {
      most = Math.max(most, ++asking)
      await Bun.sleep(1)
      asking--
      return streamed([])
    }
    await runCommand(
      checkCommandWith(fakeAccess(Array.from({ length: 20 }, (_, index) => ({ id: `p${index}`, chat })))),
      [],
    )
    expect(most).toBe(8)
  })

  test('shows progress on a terminal only, and removes it', async () => {
    const { err } = await runCommand(checkCommandWith(fakeAccess([answering])), [], { stderr: { isTerminal: true } })
    expect(err).toBe('\r\u001b[2K0 of 1 providers asked\r\u001b[2K1 of 1 providers asked\r\u001b[2K')
  })

  test('exits with 130 when interrupted', async () => {
    const controller = new AbortController()
    const chat: TestProvider['chat'] = (_, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')))
        controller.abort('SIGINT')
      })
    expect(
      (await runCommand(checkCommandWith(fakeAccess([{ id: 'slow', chat }])), [], { signal: controller.signal })).code,
    ).toBe(130)
  })
})

describe('askProvider', () => {
  const provider = (fake: TestProvider) =>
    fakeAccess([fake])
      .open(undefined as never, {}, { isFresh: true })
      .then(({ providers }) => providers[0] ?? expect.unreachable())

  test('asks for one token of the first chat model', async () => {
    const asked: unknown[] = []
    const chat: TestProvider['chat'] = async ({ body }) => (
      asked.push(JSON.parse(new TextDecoder().decode(body))),
      streamed(['h'])
    )
    const { model } = await askProvider(
      await provider({
        id: 'openai',
        chat,
        models: ['text-embedding-3', 'dall-e-3', 'gpt-4o-mini'].map((name) => namedModel(name)),
      }),
      AbortSignal.timeout(1_000),
    )
    expect(model).toBe('gpt-4o-mini')
    expect(asked).toEqual([{ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1 }])
  })

  test.each([
    ['gpt', 'gpt-2024'],
    ['g', 'gpt-2024'],
    ['unlisted', 'unlisted'],
  ])('asks for the given model, by any of its names: %s', async (wanted, upstream) => {
    const models = [namedModel('other'), namedModel('gpt', { upstream: 'gpt-2024', aliases: ['g'] })]
    expect(
      await askProvider(await provider({ id: 'openai', models }), AbortSignal.timeout(1_000), wanted),
    ).toMatchObject({ model: upstream })
  })

  test('tries max_completion_tokens when max_tokens is rejected', async () => {
    const bodies: string[] = []
    const chat: TestProvider['chat'] = async ({ body }) => {
      bodies.push(new TextDecoder().decode(body))
      if (bodies.length === 1) throw new UpstreamFailure('bad_request', "use 'max_completion_tokens'", { status: 400 })
      return streamed(['h'])
    }
    expect(
      (await askProvider(await provider({ id: 'openai', chat }), AbortSignal.timeout(1_000))).failure,
    ).toBeUndefined()
    expect(bodies[1]).toContain('"max_completion_tokens":16')
  })

  test('asks a provider without a list, too, to find its fault', async () => {
    expect(
      await askProvider(await provider({ ...refused, models: undefined }), AbortSignal.timeout(1_000)),
    ).toMatchObject({ failure: { status: '401', reason: 'the key was refused' } })
  })

  test('reports a timeout', async () => {
    const chat: TestProvider['chat'] = (_, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
    expect(await askProvider(await provider({ id: 'slow', chat }), AbortSignal.timeout(2))).toMatchObject({
      failure: { status: 'timeout', reason: 'no answer in time' },
    })
  })
})
