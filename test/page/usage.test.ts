import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { usedRequest, batchOf } from '../../src/ledger/use/testing.ts'
import { useStore } from '../../src/ledger/use/use-store.ts'
import type { RequestRecord } from '../../src/observe/record.ts'
import { sentBy } from '../../src/people/testing.ts'
import { pick } from '../client.ts'
import type { PersonOptions, Tab } from '../fakes/chromium.ts'
import { good } from '../fakes/good.ts'
import { startGithub } from '../fakes/identity/github.ts'
import { startRig } from '../rig.ts'
import { startSignIn, type SignInRig } from '../sign-in/rig.ts'
import { overflowOf, violationsOf } from './axe.ts'
import { describeInChromium, useChromium, wide } from './in-chromium.ts'

const chromium = useChromium()
const dayMs = 86_400_000
const pictures = process.env['SVC_TEST_PICTURES']
let rig: SignInRig
let tab: Tab

beforeEach(async () => {
  rig = await startSignIn(startGithub, { flags: ['--auth', 'keys'], owners: ['ada'] })
})
afterEach(async () => {
  const complaints = await tab.complaints()
  await rig[Symbol.asyncDispose]()
  // The page asks who it is for before the session is there, and the picture of a person is at no real address.
  const known = /401 \(Unauthorized\)|ERR_NAME_NOT_RESOLVED/
  expect(complaints.filter((text) => !known.test(text))).toEqual([])
})

/** Writes the use by these requests into the database of the service. */
async function used(records: readonly RequestRecord[]): Promise<void> {
  const { home } = rig.service
  const store = useStore({
    path: join(home, 'svc.db'),
    rowsPath: join(home, 'requests.db'),
    zone: 'UTC',
    lockMs: 5_000,
  })
  expect(await store.write([batchOf(1, records)])).toEqual({})
  await store.close()
}

/** Opens the view as a signed-in person. */
async function show(person: string, options: PersonOptions = wide): Promise<void> {
  const visitor = chromium.person(options)
  tab = visitor.tab()
  const { token } = await rig.signIn(person)
  await visitor.setCookie(rig.service.url, 'token', token)
  await tab.goto(`${rig.service.url}/#/usage`)
  await tab.waitFor('main >> role=heading[name="Usage"]')
}

/** A person as the ledger knows them. */
async function storedAs(person: string): Promise<Pick<RequestRecord, 'user' | 'person'>> {
  const { token } = await rig.signIn(person)
  const headers = { authorization: `Bearer ${token}` }
  const session: unknown = await (await fetch(`${rig.service.url}/auth`, { headers })).json()
  const boot: unknown = await (await fetch(`${rig.service.url}/api/boot`, { headers })).json()
  const userId = String(pick(session, 'userId'))
  return sentBy({ user: person, userId, subject: String(pick(boot, 'user', 'id')) })
}

/** The first column of the table of use, without its heading. */
async function models(): Promise<readonly unknown[]> {
  return ((await tableRows()) as readonly (readonly string[])[]).slice(1).map(([name]) => name)
}

async function tableRows(): Promise<unknown> {
  await tab.waitFor('main table')
  return await tab.evaluate(
    `[...document.querySelectorAll('main table tr')].map((row) => [...row.cells].map((cell) => cell.innerText.trim()))`,
  )
}

const someDays = (): RequestRecord[] =>
  Array.from({ length: 300 }, (_, index) => {
    const [model = '', provider = '', nanoUsd = 0] =
      [
        ['gpt-5', 'openai', 40_000_000],
        ['claude-sonnet-5', 'anthropic', 30_000_000],
        ['llama-4', 'groq', 2_000_000],
        ['gemini-3', 'gemini', 9_000_000],
        ['<b>mistral</b>', 'mistral', 1_000_000],
      ][index % 5] ?? []
    return usedRequest({
      time: Date.now() - Math.floor((index / 300) * 29 * dayMs) - 1_000,
      listedAs: String(model),
      provider: String(provider),
      user: index % 3 === 0 ? 'ada' : 'bob',
      usage: { promptTokens: 1_200, completionTokens: 300, totalTokens: 1_500, cachedTokens: 200 },
      cost: index % 7 === 3 ? undefined : { nanoUsd: Number(nanoUsd), source: index % 5 === 4 ? 'reported' : 'config' },
      stream: true,
      firstTokenMs: 200 + (index % 50) * 20,
      totalMs: 1_000 + (index % 40) * 100,
      ...(index % 20 === 0
        ? {
            status: 502,
            error: 'provider_error',
            trail: [{ name: String(provider), status: 500, failure: index % 40 === 0 ? 'timeout' : 'server', ms: 5 }],
          }
        : {}),
    })
  })

describeInChromium('the use', () => {
  test('is shown to owners: figures, a chart and a table, which can be grouped and saved', async () => {
    await used([
      usedRequest({
        time: Date.now(),
        user: 'ada',
        listedAs: 'gpt-5',
        cost: { nanoUsd: 2_500_000_000, source: 'config' },
      }),
      usedRequest({
        time: Date.now(),
        user: 'bob',
        listedAs: 'llama',
        cost: { nanoUsd: 500_000_000, source: 'reported' },
      }),
      usedRequest({ time: Date.now() - 20 * dayMs, user: 'bob', listedAs: '=old', cost: undefined }),
    ])
    await show('ada')
    expect(await tableRows()).toEqual([
      // Columns in which all is 0 are hidden.
      ['Model', 'Requests', 'Input', 'Output', 'Priced', 'Reported', 'Cost', 'Total p50', 'Total p95'],
      ['gpt-5', '1', '10', '4', '$2.50', '$0', '$2.50', '13 ms', '13 ms'],
      ['llama', '1', '10', '4', '$0', '$0.50', '$0.50', '13 ms', '13 ms'],
      ['Total', '2', '20', '8', '$2.50', '$0.50', '$3.00', '–', '–'],
    ])
    await tab.waitFor('main >> text="$3.00"')
    await tab.waitFor('main >> text=/\\$2.50 priced, \\$0.50 reported/')
    await tab.waitFor('main >> text=/days are those of UTC/')
    await tab.select('select >> nth=0', '30d')
    await tab.until(`document.querySelector('main table')?.innerText.includes('=old') === true`)
    expect(JSON.stringify(await tableRows())).toContain('No price')
    await tab.select('select >> nth=1', 'person')
    await tab.until(`document.querySelector('main table')?.innerText.includes('bob') === true`)
    const file = await tab.download('main >> role=button[name="CSV"]')
    expect(file.name).toBe('usage-by-person.csv')
    expect(file.text.split('\r\n')[0]).toStartWith('time,name,requests')
    expect(file.text).toContain(',bob,1,')
  }, 30_000)

  test('can be read with the keyboard: the chart says each day', async () => {
    await used(someDays())
    await show('ada')
    await tab.waitFor('[role="slider"]')
    await tab.evaluate(`document.querySelector('main [role="slider"]').focus()`)
    await tab.press('ArrowLeft')
    const text = String(await tab.evaluate(`document.querySelector('main [role="slider"]').ariaValueText`))
    expect(text).toMatch(/: gpt-5 \$[\d.]+, claude-sonnet-5 \$/)
  }, 30_000)

  test('is of own dates, by person and day, with the choice in the address', async () => {
    await used(someDays())
    await show('ada')
    const date = (daysAgo: number): string => new Date(Date.now() - daysAgo * dayMs).toISOString().slice(0, 10)
    await tab.goto(`${rig.service.url}/#/usage?from=${date(20)}&to=${date(10)}&by=person`)
    await tab.until(`document.querySelector('main table')?.innerText.includes('bob') === true`)
    await tab.click('main summary >> nth=0')
    await tab.waitFor('main details table')
    const days = await tab.evaluate(
      `[...document.querySelectorAll('main details table tr')].map((row) => row.cells.length)`,
    )
    // A heading and 11 days; a column of days and two of people.
    expect(days).toEqual(Array.from({ length: 12 }, () => 3))
    await tab.select('select >> nth=2', 'kinds')
    await tab.until(`location.hash.endsWith('&by=person&chart=kinds')`)
    await tab.waitFor('main >> text="Tokens by kind and day"')
    await tab.reload()
    await tab.waitFor('main >> text="Tokens by kind and day"')
    await tab.select('select >> nth=0', '24h')
    await tab.until(`location.hash.includes('time=24h')`)
  }, 30_000)

  test('shows speed in p50 and p95, and failures by class, to owners', async () => {
    await used(someDays())
    await show('ada')
    await tab.waitFor('main >> text="Time to first token, p50 and p95"')
    await tab.waitFor('main >> text="Failed requests by error"')
    const [head] = (await tableRows()) as readonly (readonly string[])[]
    expect(head?.slice(-4)).toEqual(['First token p50', 'First token p95', 'Total p50', 'Total p95'])
  }, 30_000)

  test('of others than owners is their own, and that of the teams that they lead', async () => {
    const teams = { search: { leads: ['bob'], members: ['cleo'] } }
    await rig.service.write('access.json', JSON.stringify({ teams }))
    await rig.logged('limits reloaded')
    const of = (user: string, sent = sentBy({ user, userId: `id of ${user}` })) =>
      usedRequest({ time: Date.now(), ...sent, listedAs: `asked-by-${user}` })
    await used([of('ada'), of('bob', await storedAs('bob')), of('cleo')])
    await show('bob')
    await tab.waitFor('text=/Yours\\./')
    expect(await models()).toEqual(['asked-by-bob', 'Total'])
    await tab.select('select >> nth=0', 'search')
    await tab.waitFor('text=/Of the members and the keys of the team search/')
    expect(await models()).toEqual(['asked-by-bob', 'asked-by-cleo', 'Total'])
    expect((await tab.download('main >> role=button[name="CSV"]')).text).not.toContain('asked-by-ada')
    await tab.reload()
    await tab.waitFor('text=/Of the members and the keys of the team search/')
    expect(await tab.evaluate(`document.querySelector('main').innerText`)).not.toContain('Team\n')
  }, 30_000)

  const looks: readonly (readonly [string, PersonOptions])[] = [
    ['light', { ...wide, colorScheme: 'light' }],
    ['phone', { colorScheme: 'dark', viewport: { width: 390, height: 844 }, hasTouch: true }],
  ]
  test.each(looks)(
    'has no faults of accessibility: %s',
    async (look, options) => {
      await used(someDays())
      await show('ada', options)
      await tab.select('select >> nth=0', '30d')
      await tab.until(`document.querySelector('main table')?.innerText.includes('mistral') === true`)
      expect(await violationsOf(tab)).toEqual([])
      expect(await overflowOf(tab)).toBe(0)
      if (pictures !== undefined) await tab.screenshot(join(pictures, `usage-${look}.png`))
    },
    30_000,
  )

  describe('stored requests', () => {
    /** Opens the list of requests as a signed-in person. */
    async function showRequests(person: string, options?: PersonOptions): Promise<void> {
      await show(person, options)
      await tab.goto(`${rig.service.url}/#/requests`)
      await tab.waitFor('main >> role=button[name="Older requests"]')
    }
    const shown = (): Promise<unknown> => tab.evaluate(`document.querySelector('main [role=table]')?.ariaRowCount`)

    test('follow the live ones, are found by filters, and each has its page', async () => {
      const met = { met: 'waited', for: 'each person', kind: 'at_once', limit: 2 } as const
      await used(someDays().map((record) => ({ ...record, limits: [met], waitedMs: 900 })))
      await showRequests('ada')
      await tab.waitFor('main >> text="No request yet."')
      await tab.click('main >> role=button[name="Older requests"]')
      await tab.until(`document.querySelector('main [role=table]')?.ariaRowCount === '201'`)
      await tab.waitFor('main >> text=/Searched back to/')
      await tab.click('main >> role=button[name="Older requests"]')
      await tab.until(`document.querySelector('main [role=table]')?.ariaRowCount === '301'`)
      await tab.waitFor('main >> text=/There are no older ones. The oldest is of/')
      await tab.select('main [aria-label="Filters"] >> role=combobox[name^="Model"]', '<b>mistral</b>')
      await tab.click('main >> role=button[name="Search older requests"]')
      await tab.until(`document.querySelector('main [role=table]')?.ariaRowCount === '61'`)
      await tab.click('main [data-key] button')
      await tab.waitFor('main >> role=heading[name="Request"]')
      await tab.waitFor('main >> text=/as the provider reported it/')
      await tab.waitFor('main >> text="waited 900 ms: 2 at once (each person)"')
      await tab.click('main header >> role=link[name="Requests"]')
      expect(await shown()).toBe('61')
      const file = await tab.download('main >> role=button[name="CSV"]')
      expect([file.name, file.text.trimEnd().split('\r\n').length]).toEqual(['requests.csv', 61])
    }, 60_000)

    test('of others than owners are their own', async () => {
      const bob = await storedAs('bob')
      await used(someDays().map((record) => (record.user === 'bob' ? { ...record, ...bob } : record)))
      await showRequests('bob')
      await tab.click('main >> role=button[name="Older requests"]')
      await tab.until(`document.querySelector('main [role=table]')?.ariaRowCount === '201'`)
      expect(await tab.textOf('main [role=table]')).not.toContain('ada')
    }, 30_000)

    test.each(looks)(
      'have no faults of accessibility: %s',
      async (look, options) => {
        await used(someDays())
        await showRequests('ada', options)
        await tab.click('main >> role=button[name="More"]')
        await tab.click('main >> role=button[name="Older requests"]')
        await tab.waitFor('main >> text=/Searched back to/')
        expect(await violationsOf(tab)).toEqual([])
        expect(await overflowOf(tab)).toBe(0)
        if (pictures === undefined) return
        await tab.screenshot(join(pictures, `older-${look}.png`))
        await tab.click('main [data-key] button')
        await tab.waitFor('main >> role=heading[name="Request"]')
        await tab.screenshot(join(pictures, `older-request-${look}.png`))
      },
      30_000,
    )
  })

  test('is not offered where no use is kept', async () => {
    await using open = await startRig([good()])
    tab = chromium.person(wide).tab()
    await tab.goto(`${open.service.url}/#/requests`)
    await tab.waitFor('nav[aria-label="Manage"]')
    expect(await tab.textOf('nav[aria-label="Manage"]')).not.toContain('Usage')
  }, 30_000)
})
