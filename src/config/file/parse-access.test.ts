import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import schema from '../../../schema/access.schema.json' with { type: 'json' }
import { openPolicy } from '../../limits/access-policy.ts'
import { lineOfFileKey } from '../../people/keys/file-key.ts'
import { githubIssuer } from '../../people/keys/token/token-rule.ts'
import { ConfigError, type ConfigFault } from '../config.ts'
import { parseAccess } from './parse-access.ts'
import { validatorOf } from './testing.ts'

const parse = (text: string) => parseAccess(text, 'access.json')

function faults(text: string): readonly ConfigFault[] {
  try {
    parse(text)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
}

const messageOf = (value: unknown) => new ConfigError(faults(JSON.stringify(value))).message

/** A file with one limit. */
const limited = (limit: object) => ({ limits: [{ for: 'everyone', ...limit }] })

describe('access.json', () => {
  test('has a zone, limits, teams and ceilings, with comments', () => {
    const text = `{
      "time_zone": "europe/berlin",
      "limits": [
        { "for": "everyone", "usd": 200, "per": "month" },
        { "for": "each person", "usd": 5, "per": "day", "requests": 60, "tokens": 200000, "at_once": 8,
          "wait_ms": 1500 },
        { "for": "team:search", "usd": 80.5, "per": "week", "models": ["gpt-5*"], "hard": true, "when_away": "open" },
        { "for": "each key", "requests": 1000, "per": "hour" },
        { "for": "person:id:583231", "requests": 0 },
        { "for": "key:7", "tokens": 9, "per": "day" },
        { "for": "provider:openai", "usd": 20, "per": "total" }, // then the next provider
      ],
      "teams": { "search": { "leads": ["ann"], "members": ["bob", "id:5"] } },
      "own_keys": { "most": 3 },
      "content": [{ "for": "team:search", "keep": "7d", "redact": ["\\\\d{16}"] }, { "for": "key:7", "keep": "0h" }],
    }`
    expect(parse(text)).toEqual({
      timeZone: 'Europe/Berlin',
      limits: [
        { place: 'limits[0]', subject: { kind: 'everyone' }, usd: { nanoUsd: 200e9, per: 'month', isHard: false } },
        {
          place: 'limits[1]',
          subject: { kind: 'each person' },
          requests: { count: 60, per: 'minute' },
          tokens: { count: 200_000, per: 'minute' },
          atOnce: 8,
          waitMs: 1_500,
          usd: { nanoUsd: 5e9, per: 'day', isHard: false },
        },
        {
          place: 'limits[2]',
          subject: { kind: 'team', name: 'search' },
          models: ['gpt-5*'],
          usd: { nanoUsd: 80.5e9, per: 'week', isHard: true, isOpenWhenAway: true },
        },
        { place: 'limits[3]', subject: { kind: 'each key' }, requests: { count: 1000, per: 'hour' } },
        {
          place: 'limits[4]',
          subject: { kind: 'person', name: 'id:583231' },
          requests: { count: 0, per: 'minute' },
        },
        { place: 'limits[5]', subject: { kind: 'key', line: 7 }, tokens: { count: 9, per: 'day' } },
        {
          place: 'limits[6]',
          subject: { kind: 'provider', id: 'openai' },
          usd: { nanoUsd: 20e9, per: 'total', isHard: false },
        },
      ],
      teams: new Map([['search', { leads: ['ann'], members: ['bob', 'id:5'] }]]),
      ownKeys: { most: 3, daysMost: 90 },
      content: [
        {
          place: 'content[0]',
          subject: { kind: 'team', name: 'search' },
          keepMs: 7 * 86_400_000,
          redact: ['\\d{16}'],
        },
        { place: 'content[1]', subject: { kind: 'key', line: 7 }, keepMs: 0, redact: [] },
      ],
    })
  })

  test.each(['limits', 'budgets'])('is shown in docs/%s.md without faults', async (name) => {
    const page = await Bun.file(new URL(`../../../docs/${name}.md`, import.meta.url)).text()
    const shown = Array.from(page.matchAll(/^```json5\n([^]*?)^```$/gm), ([, text = '']) => text)
    expect(shown.map(faults)).toEqual(shown.map(() => []))
    expect(shown.length).toBeGreaterThan(0)
  })

  test('may be missing or empty', () => {
    expect(parseAccess(undefined, 'access.json')).toEqual(openPolicy)
    expect(parse('{}')).toEqual(openPolicy)
  })

  test('a fault names file, line, field and way out; all faults are told', () => {
    const text =
      '{\n  "limits": [\n    { "for": "everyone", "request": 5 },\n    { "for": "each user", "at_once": -1 },\n  ],\n}'
    expect(faults(text).map(({ line, field }) => [line, field])).toEqual([
      [3, 'limits[0]'],
      [3, 'limits[0].request'],
      [4, 'limits[1].for'],
      [4, 'limits[1].at_once'],
    ])
    const { message } = new ConfigError(faults(text))
    expect(message).toContain('limits[0].request: found an unknown field')
    expect(message).toContain('(did you mean "requests"?)')
    expect(message).toContain('limits[1].for: found "each user"')
    expect(message).toContain('(did you mean "each person"?)')
    expect(message).toContain('limits[1].at_once: found -1, allowed: an integer from 0 to 1000000')
  })

  test.each([
    [{ time_zone: 'Europe/Berln' }, 'time_zone: found "Europe/Berln"', '(did you mean "Europe/Berlin"?)'],
    [{ time_zone: '+02:00' }, 'time_zone: found "+02:00"', 'IANA'],
    [{ limits: [{ for: 'team:serch', requests: 1 }], teams: { search: {} } }, 'limits[0].for', 'did you mean "search"'],
    [{ limits: [{ for: 'user:ann', requests: 1 }] }, 'limits[0].for', '(did you mean "person:NAME"?)'],
    [{ limits: [{ for: 'provider:a', requests: 1 }] }, 'limits[0].requests', 'for a provider, only usd'],
    [{ limits: [{ for: 'provider:a', at_once: 1 }] }, 'limits[0].at_once', '"max_concurrent" of the provider'],
    [limited({ usd: 5 }), 'limits[0].usd', '"per" beside it'],
    [limited({ usd: 5, per: 'minute' }), 'limits[0].per', '"day", "week"'],
    [limited({ requests: 5, per: 'week' }), 'limits[0].per', '"minute", "hour", "day"'],
    [limited({ at_once: 5, per: 'day' }), 'limits[0].per', 'only beside requests, tokens or usd'],
    [limited({ requests: 5, hard: true }), 'limits[0].hard', 'only beside usd'],
    [limited({ tokens: 5, when_away: 'open' }), 'limits[0].when_away', 'only beside usd'],
    [limited({ usd: 5, per: 'day', when_away: 'shut' }), 'limits[0].when_away', '"closed", "open"'],
    [limited({ requests: 1, models: [] }), 'limits[0].models', 'without it the limit is for all'],
    [limited({ rpm: 1 }), 'limits[0].rpm', 'did you mean "requests"'],
    [limited({ requests: 5, wait_ms: 5 }), 'limits[0].wait_ms', 'only beside at_once'],
    [limited({ at_once: 5, wait_ms: 5, models: ['a'] }), 'limits[0].wait_ms', 'only without models'],
    [limited({ at_once: 5, wait_ms: 2_001 }), 'limits[0].wait_ms', 'an integer from 0 to 2000'],
    [{ webhook: { url: 'https://a.test/' } }, 'webhook', 'secret'],
    [
      { webhook: { url: 'http://a.test/s3cret', secret: '$A' } },
      'webhook.url: found a string (not shown)',
      'https URL',
    ],
    [
      { webhook: { url: 'https://a.test/', secret: 'whsec_AAAA' } },
      'webhook.secret: found a string (not shown)',
      '$NAME',
    ],
    [{ ietf_headers: 'yes' }, 'ietf_headers: found "yes"', 'true'],
    [
      { limits: [limited({ requests: 1 }).limits[0], limited({ requests: 2 }).limits[0]] },
      'limits[1].requests',
      'each limit once (the first is limits[0].requests)',
    ],
    [
      {
        limits: [
          { for: 'each key', usd: 10, per: 'month' },
          { for: 'each key', usd: 20, per: 'day' },
        ],
      },
      'limits[1].usd',
      'at most 10, as in limits[0].usd',
    ],
    [
      {
        limits: [
          { for: 'each key', requests: 20 },
          { for: 'each key', requests: 10, per: 'hour' },
        ],
      },
      'limits[1].requests',
      'at least 20, as in limits[0].requests, which has no effect',
    ],
    [
      {
        limits: [
          { for: 'each key', requests: 2, per: 'hour' },
          { for: 'each key', requests: 1, per: 'hour' },
        ],
      },
      'limits[1].requests',
      'a second limit of requests an hour for each key',
    ],
    [{ teams: { a: { members: ['bob', 'bob'] } } }, 'teams.a.members[1]', 'each person once'],
    [{ teams: { 'A b': {} } }, 'teams["A b"]', 'a name of a-z'],
    [{ own_keys: { days: 5 } }, 'own_keys.days', 'did you mean "days_most"'],
    [{ content: [{ for: 'everyone' }] }, 'content[0].keep', 'required'],
    [{ content: [{ for: 'everyone', keep: '7' }] }, 'content[0].keep', 'such as "12h" or "7d"'],
    [{ content: [{ for: 'everyone', keep: '7 days' }] }, 'content[0].keep', 'such as "12h" or "7d"'],
    [{ content: [{ for: 'everyone', keep: '367d' }] }, 'content[0].keep', 'at most 366 days'],
    [{ content: [{ for: 'provider:a', keep: '7d' }] }, 'content[0].for', 'kept by who asks'],
    [{ content: [{ for: 'team:a', keep: '7d' }] }, 'content[0].for', 'teams of this file'],
    [{ content: [{ for: 'key:1', days: 7 }] }, 'content[0].days', 'did you mean "keep"'],
    [{ content: [{ for: 'key:1', keep: '1d', redact: ['(a'] }] }, 'content[0].redact[0]', 'each ( has its )'],
    [{ content: [{ for: 'key:1', keep: '1d', redact: ['(a)\\1'] }] }, 'content[0].redact[0]', 'back-references'],
    [
      { content: [{ for: 'key:1', keep: '1d', redact: Array.from({ length: 9 }, () => '.{400}') }] },
      'content[0].redact[5]',
      'fewer or shorter',
    ],
    [
      {
        content: [
          { for: 'key:1', keep: '1d' },
          { for: 'key:1', keep: '2d' },
        ],
      },
      'content[1]',
      'each once (the first is content[0])',
    ],
  ])('refuses %j', (value, field, reason) => {
    const message = messageOf(value)
    expect(message).toContain(field)
    expect(message).toContain(reason)
  })

  test('limits of different models, subjects or kinds do not contradict each other', () => {
    const value = {
      limits: [
        { for: 'each key', requests: 20 },
        { for: 'each key', requests: 10, models: ['a*'] },
        { for: 'everyone', requests: 10 },
        { for: 'each key', tokens: 1, per: 'hour' },
        { for: 'each key', usd: 1, per: 'month' },
        { for: 'each key', usd: 1, per: 'day' },
      ],
    }
    expect(faults(JSON.stringify(value))).toEqual([])
  })

  test('has keys by the tokens that prove them', () => {
    const text = `{ "keys": [{ "name": "ci", "models": ["gpt-5*"], "token": {
      "issuer": "https://token.actions.githubusercontent.com", "audience": ["svc", "https://svc.example.org"],
      "claims": { "sub": "repo:acme/app:*", "environment": ["prod", "stage"] }, "jwks_file": "/run/jwks.json" } }] }`
    expect(parse(text).keys?.map(({ token }) => token)).toEqual([
      {
        issuer: 'https://token.actions.githubusercontent.com',
        audiences: ['svc', 'https://svc.example.org'],
        claims: [
          ['sub', ['repo:acme/app:*']],
          ['environment', ['prod', 'stage']],
        ],
        jwksFile: '/run/jwks.json',
      },
    ])
  })

  test('has keys by their hashes, which limits name', () => {
    const hash = '0f'.repeat(32)
    const text = `{
      "teams": { "search": {} },
      "keys": [
        { "name": "ci", "hash": "${hash.toUpperCase()}", "team": "search", "expires": "2027-03-31",
          "models": ["gpt-5*"] },
        { "name": "nightly", "hash": "${'ab'.repeat(32)}", "scopes": ["metrics:read"], "networks": ["10.0.0.0/8"] },
      ],
      "limits": [{ "for": "key:ci", "requests": 5 }],
      "content": [{ "for": "key:nightly", "keep": "7d" }],
    }`
    const { keys = [], limits, content } = parse(text)
    expect(keys).toEqual([
      {
        ...{ name: 'ci', line: lineOfFileKey('ci'), team: 'search', expires: Date.UTC(2027, 2, 31) },
        hash: Buffer.from(hash, 'hex').toString('base64'),
        grants: { models: ['gpt-5*'], scopes: ['chat', 'models:read'] },
      },
      {
        ...{ name: 'nightly', line: lineOfFileKey('nightly') },
        hash: Buffer.from('ab'.repeat(32), 'hex').toString('base64'),
        grants: { networks: ['10.0.0.0/8'], scopes: ['metrics:read'] },
      },
    ])
    expect(limits[0]?.subject).toEqual({ kind: 'key', line: lineOfFileKey('ci'), name: 'ci' })
    expect(content?.[0]?.subject).toEqual({ kind: 'key', line: lineOfFileKey('nightly'), name: 'nightly' })
  })

  test.each<[string, string]>([
    ['{ "name": "b" }', 'access.json:3:1: keys[1]: found neither hash nor token, allowed: one of both'],
    ['{ "name": "7", "hash": "HASH" }', 'access.json:3:11: keys[1].name: found "7", allowed: a name of letters'],
    [
      '{ "name": "a", "hash": "HASH" }',
      'access.json:3:11: keys[1].name: found a second key of this name, allowed: each',
    ],
    [
      '{ "name": "b", "hash": "FIRST" }',
      'access.json:3:24: keys[1].hash: found a second key with this hash, allowed: each',
    ],
    ['{ "name": "b", "hash": "sk-svc_ab" }', 'keys[1].hash: found a string (not shown), allowed: the SHA-256 of a key'],
    ['{ "name": "b", "hash": "HASHx" }', 'keys[1].hash: found a string (not shown), allowed: the SHA-256 of a key'],
    ['{ "name": "b", "key": "sk-svc_ab", "hash": "HASH" }', 'keys[1].key: found an unknown field, allowed: name, hash'],
    ['{ "name": "b", "hash": "HASH", "team": "serch" }', 'keys[1].team: found "serch", allowed: the name of one of'],
    [
      '{ "name": "b", "hash": "HASH", "expires": "2027-02-30" }',
      'keys[1].expires: found "2027-02-30", allowed: a day of',
    ],
    [
      '{ "name": "b", "hash": "HASH",\n"scopes": ["chat",\n"chatt"] }',
      'access.json:5:1: keys[1].scopes[1]: found "chatt"',
    ],
    [
      '{ "name": "b", "hash": "HASH", "scopes": ["keys:write"] }',
      'keys[1].scopes[0]: found "keys:write", allowed: chat',
    ],
    [
      '{ "name": "b", "hash": "HASH", "models": [] }',
      'keys[1].models: found an empty array, allowed: a list of 1 to 100',
    ],
    ['{ "name": "b", "hash": "HASH", "token": TOKEN }', 'keys[1].token: found a token beside a hash, allowed: one of'],
    [
      '{ "name": "b", "token": { "issuer": "http://a.example", "audience": "x", "claims": { "sub": "s" } } }',
      'keys[1].token.issuer: found "http://a.example", allowed: the issuer as its tokens have it',
    ],
    [
      '{ "name": "b", "token": { "issuer": "https://a.example", "claims": { "sub": "s" } } }',
      'keys[1].token.audience: found nothing',
    ],
    [
      '{ "name": "b", "token": { "issuer": "https://a.example", "audience": "x", "claims": { "ref": "main" } } }',
      'keys[1].token.claims: found no claim that names a program, allowed: one of sub, email',
    ],
    [
      '{ "name": "b", "token": { "issuer": "https://a.example", "audience": "x", "claims": { "sub": "*" } } }',
      'keys[1].token.claims.sub: found "*", allowed: the value of a claim',
    ],
    [
      '{ "name": "b", "token": { "issuer": "https://a.example", "audience": "x", "claims": { "sub": ["a*b"] } } }',
      'keys[1].token.claims.sub[0]: found "a*b", allowed: the value of a claim',
    ],
    [
      '{ "name": "b", "token": { "issuer": "https://a.example", "audience": "x", "claims": {} } }',
      'keys[1].token.claims: found no claim that names a program',
    ],
    ...['repo:*', 'repo:acme*'].map((sub): [string, string] => [
      `{ "name": "b", "token": { "issuer": "${githubIssuer}", "audience": "x", "claims": { "sub": "${sub}" } } }`,
      'keys[1].token.claims.sub: found a "*" before the first slash, allowed: values such as "repo:acme/*"',
    ]),
    [
      '{ "name":"b", "token": { "issuer": "https://a", "audience": "x", "claims": { "sub": "s" }, "jwks_file": "k" } }',
      'keys[1].token.jwks_file: found "k", allowed: an absolute path',
    ],
  ])('refuses the key %s with its line', (entry, message) => {
    const first = `{ "name": "a", "hash": "${'ab'.repeat(32)}" }`
    const token = '{ "issuer": "https://a.example", "audience": "x", "claims": { "sub": "s" } }'
    const second = entry.replace('HASH', 'cd'.repeat(32)).replace('FIRST', 'AB'.repeat(32)).replace('TOKEN', token)
    const text = `{ "teams": { "search": {} }, "keys": [\n${first},\n${second}] }`
    expect(new ConfigError(faults(text)).message).toContain(message)
    expect(new ConfigError(faults(text)).message).not.toContain('sk-svc_ab')
  })

  test('hostile files are refused, and are read in bounded time', () => {
    for (const text of [
      '',
      '[]',
      'null',
      '{"limits":{}}',
      '{"__proto__":{}}',
      '{"teams":{"__proto__":{}}}',
      '['.repeat(1e5),
    ])
      expect(faults(text).length).toBeGreaterThan(0)
    const many = { limits: Array.from({ length: 1_001 }, (_, at) => ({ for: `key:${at + 1}`, requests: 1 })) }
    expect(messageOf(many)).toContain('limits: found 1001 limits, allowed: at most 1000')
  })
})

describe('access.schema.json', () => {
  const isValid = validatorOf(schema)

  /** Faults that no JSON Schema can express. */
  const inexpressible = new RegExp(
    [
      '^each (limit |person )?once',
      '^at (most|least) [\\d.]+, as in',
      'teams of this file',
      '^(a pattern (?!of)|patterns with)',
      '^(an address, or a network|a day of the calendar)',
    ].join('|'),
  )

  const amounts = fc.constantFrom<unknown>(0, 1, 60, -1, 1.5, 1e7, 1e13, '5', null)
  const limit = fc.record(
    {
      for: fc.constantFrom<unknown>(
        'everyone',
        'each person',
        'each key',
        'person:ann',
        'person:id:5',
        'person:id:',
        'person:a b',
        'key:1',
        'key:0',
        'provider:a',
        'provider:A',
        'all',
        5,
      ),
      models: fc.constantFrom<unknown>(['a*'], ['a'], [], ['a b'], ['*a'], [''], 'a'),
      requests: amounts,
      tokens: amounts,
      at_once: amounts,
      wait_ms: fc.constantFrom<unknown>(0, 2_000, 2_001, -1, '5'),
      usd: amounts,
      per: fc.constantFrom<unknown>('minute', 'hour', 'day', 'week', 'month', 'year', 'total', 'daily', 1),
      hard: fc.constantFrom<unknown>(true, false, 'yes'),
      when_away: fc.constantFrom<unknown>('open', 'closed', 'ajar', true),
      other: fc.constant(1),
    },
    { requiredKeys: ['for'] },
  )
  const rule = fc.record(
    {
      for: fc.constantFrom<unknown>('everyone', 'each key', 'person:ann', 'team:a', 'key:3', 'provider:a', 'all', 5),
      keep: fc.constantFrom<unknown>('7d', '0d', '366d', '367d', '8784h', '8785h', '07d', '7', '1w', 7),
      redact: fc.constantFrom<unknown>([], ['\\d+'], ['(?=a)'], [''], ['x'.repeat(501)], 'a', [5]),
      other: fc.constant(1),
    },
    { requiredKeys: ['for', 'keep'] },
  )
  const key = fc.record(
    {
      name: fc.constantFrom<unknown>('ci', 'CI.2_x-', '2', 'a b', '', 5),
      hash: fc.constantFrom<unknown>('0f'.repeat(32), 'AB'.repeat(32), '0g'.repeat(32), 'ab', 5),
      team: fc.constantFrom<unknown>('a', 'b', 5),
      expires: fc.constantFrom<unknown>(
        ...['2027-02-28', '2027-02-30', '2027-13-01', '2027-02-28T10:00Z', '2027-02-28T10:00:00.5+02:00'],
        ...['2027-02-28T10:00', '2027-02-28T25:00Z', 'soon', 5],
      ),
      models: fc.constantFrom<unknown>(['a*', 'b'], ['*'], ['a*b'], [''], [], 'a', null, [5]),
      providers: fc.constantFrom<unknown>(['groq'], ['a/b'], ['x'.repeat(65)], []),
      networks: fc.constantFrom<unknown>(['10.0.0.0/8', '::1'], ['10.0.0.0/33'], ['here'], [5]),
      scopes: fc.constantFrom<unknown>(['chat'], ['log:read', 'metrics:read'], ['keys:write'], ['all'], []),
      other: fc.constant(1),
    },
    { requiredKeys: ['name', 'hash'] },
  )
  const file = fc.record(
    {
      time_zone: fc.constantFrom<unknown>('UTC', 'Europe/Berlin', 'Asia/Kathmandu', '+02:00', '', 5),
      limits: fc.array(limit, { maxLength: 2 }),
      teams: fc.constantFrom<unknown>(
        {},
        { a: {} },
        { a: { leads: ['b'] } },
        { A: {} },
        { a: { leads: ['b c'] } },
        { a: { users: [] } },
        [],
      ),
      ietf_headers: fc.constantFrom<unknown>(true, false, 1),
      own_keys: fc.constantFrom<unknown>({}, { most: 0 }, { most: -1 }, { days_most: 0 }, { other: 1 }, 5),
      content: fc.array(rule, { maxLength: 2 }),
    },
    { requiredKeys: [] },
  )

  const webhook = fc.record(
    {
      url: fc.constantFrom<unknown>(
        ...['https://a.test', 'https://a.test:8443/a?b=c', 'https://[::1]/', 'http://127.0.0.1:9/', 'http://[::1]/x'],
        ...['http://localhost/', 'http://a.test/', 'http://localhost.a.test/', 'http://127.0.0.1@a.test/'],
        ...['https://u:p@a.test/', 'https://a.test/#x', 'https://a.test/ x', 'ftp://a.test/', '$URL', 5],
      ),
      secret: fc.constantFrom<unknown>('$HOOK', '$A', '$B_1', 'whsec_AAAA', 5),
      other: fc.constant(1),
    },
    { requiredKeys: ['url'] },
  )

  const keysOfTeam = fc.array(key, { maxLength: 2 }).map((keys) => ({ teams: { a: {} }, keys }))

  test.each<[string, fc.Arbitrary<object>]>([
    ['files', file],
    ['keys', keysOfTeam],
    ['webhooks', webhook.map((given) => ({ webhook: given }))],
  ])('agrees with the parser about generated %s', (_, generated) => {
    const verdicts = { accepted: 0, refused: 0 }
    fc.assert(
      fc.property(generated, (value) => {
        const text = JSON.stringify(value)
        const isAllowed = faults(text).every(({ allowed }) => inexpressible.test(allowed))
        verdicts[isAllowed ? 'accepted' : 'refused'] += 1
        expect([isValid(value), text]).toEqual([isAllowed, text])
      }),
      { numRuns: 1_500, seed: 1 },
    )
    expect(Math.min(verdicts.accepted, verdicts.refused)).toBeGreaterThan(30)
  })
})
