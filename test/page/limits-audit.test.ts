import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { storableKey } from '../../src/ledger/testing.ts'
import { pick } from '../client.ts'
import type { PersonOptions, Tab } from '../fakes/chromium.ts'
import { startGithub } from '../fakes/identity/github.ts'
import { startSignIn, type SignInRig } from '../sign-in/rig.ts'
import { overflowOf, violationsOf } from './axe.ts'
import { describeInChromium, useChromium, wide } from './in-chromium.ts'

const chromium = useChromium()
const pictures = process.env['SVC_TEST_PICTURES']
let rig: SignInRig
let ada: string, grace: string

const limits = [
  { for: 'everyone', usd: 20, per: 'month' },
  { for: 'each person', requests: 60, per: 'day', at_once: 8 },
  { for: 'team:search', tokens: 100_000, per: 'hour', models: ['gpt-5*'] },
]
const access = { time_zone: 'Europe/Berlin', limits, teams: { search: { leads: ['ada'], members: ['<b>bob</b>'] } } }

beforeAll(async () => {
  rig = await startSignIn(startGithub, {
    flags: ['--auth', 'keys'],
    owners: ['ada'],
    files: { 'access.json': JSON.stringify(access) },
  })
  ada = (await rig.signIn('ada')).token
  grace = (await rig.signIn('grace')).token
})
afterAll(() => rig[Symbol.asyncDispose]())

/** Opens a view as a signed-in person. */
async function show(token: string, view: 'limits' | 'audit', options: PersonOptions = wide): Promise<Tab> {
  const visitor = chromium.person(options),
    tab = visitor.tab()
  await visitor.setCookie(rig.service.url, 'token', token)
  await tab.goto(`${rig.service.url}/#/${view}`)
  await tab.waitFor('main >> h1')
  return tab
}

async function complaintsOf(tab: Tab): Promise<readonly string[]> {
  // The picture of a person is at no real address.
  return (await tab.complaints()).filter((text) => !/ERR_NAME_NOT_RESOLVED/.test(text))
}

const asked = (path: string, token?: string) =>
  fetch(`${rig.service.url}${path}`, token === undefined ? {} : { headers: { 'x-session-token': token } })

/** Writes access.json, and waits until the service has it. @param sign text in the answer for owners */
async function limited(text: string, sign: string): Promise<void> {
  await rig.service.write('access.json', text)
  for (let round = 0; round < 400; round++) {
    if ((await (await asked('/api/limits', ada)).text()).includes(sign)) return
    await Bun.sleep(10)
  }
  throw new Error(`the limits are not those of ${text}`)
}

/** Changes that the service records, as another program of this machine. */
async function changes(count: number): Promise<void> {
  const ledger = await openLedger({ path: join(rig.service.home, 'svc.db') })
  for (let made = 0; made < count; made += 1) await ledger.keys.add(storableKey({ madeBy: 'ada', made: Date.now() }))
  await ledger.close()
}

describeInChromium('the view Limits', () => {
  test('shows owners each limit with its use, from the sidebar', async () => {
    expect((await rig.ask({ 'x-session-token': grace })).status).toBe(200)
    const tab = await show(ada, 'audit')
    await tab.click('nav[aria-label="Manage"] >> text=Limits')
    await tab.waitFor('main >> role=heading[name="$20.00 a month for everyone"]')
    await tab.waitFor('main >> text=/Days are those of Europe.Berlin/')
    await tab.waitFor('main li >> text=/of \\$20.00, begins again/')
    await tab.waitFor('main >> role=heading[name="60 requests a day for each person"]')
    await tab.waitFor('main >> role=rowheader[name="grace"]')
    expect(await tab.textOf('main li:nth-child(2) tbody tr')).toMatch(/grace\s+1\s+59/)
    await tab.waitFor('main >> text=/only gpt-5\\*/')
    await tab.click('main summary')
    await tab.waitFor('main >> text=/Members: <b>bob<\\/b>/')
    expect(await complaintsOf(tab)).toEqual([])
  }, 30_000)

  test('says why a change of the file is not active', async () => {
    await limited('{ "limits": [{ "for": "everybody", "requests": 1 }] }', '"fault"')
    const tab = await show(ada, 'limits')
    await tab.waitFor('main >> text=/is not active: the previous limits stay/')
    await tab.waitFor('main >> text=/access.json:1:\\d+: limits\\[0\\].for: found "everybody"/')
    await limited('{}', '"limits":[]')
    await tab.reload()
    await tab.until(`document.querySelector('main').innerText.includes('There are no limits')`)
    expect(await tab.textOf('main')).not.toContain('is not active')
    await limited(JSON.stringify(access), 'team:search')
    await tab.reload()
    await tab.waitFor('main >> role=heading[name="$20.00 a month for everyone"]')
  }, 30_000)
})

describeInChromium('the form of a limit', () => {
  const onDisk = () => readFileSync(join(rig.service.home, 'access.json'), 'utf8')
  async function focus(tab: Tab, label: string): Promise<void> {
    await tab.waitFor(`[aria-label="${label}"]`)
    await tab.evaluate(`document.querySelector('[aria-label="${label}"]').focus()`)
  }
  const file = '{\n  "limits": [\n    { "for": "everyone", "usd": 20, "per": "month" }, // all\n  ],\n}\n'

  test('adds the line that it shows, in four presses from the chat', async () => {
    await limited(file, '"limit":20')
    const tab = await show(ada, 'limits')
    await tab.goto(`${rig.service.url}/#/`)
    await tab.click('#sidebar >> role=link[name=/^Manage/]')
    await tab.click('nav[aria-label="Manage"] >> text=Limits')
    await tab.click('main >> role=link[name="Add a limit"]')
    await tab.waitFor('main >> role=heading[name="What it does today"]')
    await tab.waitFor('main >> text="$20.00 a month for everyone"')
    await tab.waitFor('main ol ins >> text=/"for": "each person", "usd": 5, "per": "day"/')
    expect(await violationsOf(tab)).toEqual([])
    if (pictures !== undefined) await tab.screenshot(join(pictures, 'limit-form.png'))
    await tab.click('main >> role=button[name="Save"]')
    await tab.waitFor('main >> role=heading[name="$5.00 a day for each person"]')
    expect(onDisk()).toContain('    { "for": "each person", "usd": 5, "per": "day" },\n  ],')
    expect(onDisk()).toContain('// all')
    expect(await complaintsOf(tab)).toEqual([])
  }, 30_000)

  test('changes and removes a limit by the keyboard, and keeps what it does not show', async () => {
    await limited(file.replace('"month"', '"month", "unpriced": "ask"'), '"limit":20')
    const tab = await show(ada, 'limits')
    await focus(tab, 'More about $20.00 a month for everyone')
    await tab.press('Enter')
    await tab.press('Enter')
    await tab.waitFor('main >> role=heading[name="Change a limit"]')
    await tab.fill('main >> role=textbox[name="US dollars"]', '$x')
    await tab.waitFor('main >> role=alert >> text=/limits.0..usd: found "\\$x", allowed: a number/')
    await tab.fill('main >> role=textbox[name="US dollars"]', '$30')
    await tab.click('main >> role=button[name="Requests a minute"]')
    await tab.waitFor('main ol ins >> text=/"usd": 30, "per": "month", "unpriced": "ask", "requests": 60 }, .. all/')
    await focus(tab, 'US dollars')
    await tab.press('Enter')
    await tab.waitFor('main >> role=heading[name="60 requests a minute for everyone"]')
    await focus(tab, 'More about $30.00 a month for everyone')
    await tab.press('Enter')
    await tab.press('ArrowDown')
    await tab.press('Enter')
    await tab.waitFor('dialog ol del')
    await tab.click('dialog >> role=button[name="Remove the limit"]')
    await tab.waitFor('main >> text="There are no limits."')
    expect(onDisk()).not.toContain('everyone')
    await limited(JSON.stringify(access), 'team:search')
  }, 30_000)

  test('says when the file was changed meanwhile, and saves nothing', async () => {
    await limited(file, '"limit":20')
    const tab = await show(ada, 'limits')
    await tab.evaluate(`location.hash = '#/limits/0'`)
    await tab.waitFor('main >> role=heading[name="Change a limit"]')
    await tab.fill('main >> role=textbox[name="US dollars"]', '25')
    await tab.waitFor('main ol ins >> text=/"usd": 25/')
    await limited(file.replace('20', '21'), '"limit":21')
    await tab.click('main >> role=button[name="Save"]')
    await tab.waitFor('main >> role=alert >> text=/changed in the meantime/')
    expect(onDisk()).toContain('21')
    await tab.click('main >> role=button[name="Read the limit again"]')
    await tab.until(`document.querySelector('main fieldset input')?.value === '$21'`)
    await limited(JSON.stringify(access), 'team:search')
  }, 30_000)
})

describeInChromium('access.json on the page', () => {
  const area = 'dialog textarea'
  const onDisk = () => readFileSync(join(rig.service.home, 'access.json'), 'utf8')

  test('is checked, compared and saved by mouse and keyboard, and again when it was changed meanwhile', async () => {
    const windows = `// Ours\r\n${JSON.stringify(access)}\r\n`
    await limited(windows, 'team:search')
    const tab = await show(ada, 'limits')
    await tab.click('role=button[name="Edit access.json"]')
    await tab.waitFor(area)
    expect(await tab.evaluate(`document.querySelector('${area}').value`)).toBe(windows.replaceAll('\r\n', '\n'))
    // The text has the focus. A fault is found, and leads to its line.
    await tab.press('Control+End')
    await tab.type('oops')
    await tab.press('Control+Enter')
    await tab.waitFor('dialog >> text="1 fault: nothing is saved"')
    if (pictures !== undefined) await tab.screenshot(join(pictures, 'access-fault.png'))
    await tab.click('dialog >> text="Line 3, column 1"')
    expect(await tab.evaluate(`document.activeElement.value.slice(document.activeElement.selectionStart)`)).toBe('oops')
    expect(await violationsOf(tab)).toEqual([])
    // Closing asks, since something is typed.
    await tab.press('Escape')
    await tab.waitFor('dialog >> text="Your changes are not saved"')
    await tab.press('Enter')
    await tab.waitForGone('dialog >> text="Your changes are not saved"')
    expect(await tab.evaluate(`document.activeElement.matches('${area}')`)).toBe(true)
    await tab.fill(area, `// Ours\n${JSON.stringify({ ...access, limits: [{ for: 'everyone', requests: 9 }] })}\n`)
    await tab.click('dialog >> text="Show changes"')
    await tab.waitFor('dialog ol del')
    if (pictures !== undefined) await tab.screenshot(join(pictures, 'access-changes.png'))
    expect(await tab.textOf('dialog ol')).toMatch(/removed\s*−\s*2[^]*added\s*\+\s*2[^]*"requests":9/)
    expect(await violationsOf(tab)).toEqual([])
    // Another editor is faster.
    await limited(`// Theirs\r\n${JSON.stringify(access)}\r\n`, 'team:search')
    await tab.press('Enter')
    await tab.waitFor('dialog >> text="The file was changed meanwhile: nothing is saved"')
    expect(onDisk()).toStartWith('// Theirs')
    await tab.click('dialog >> text="Show changes"')
    await tab.waitFor('dialog ol >> text="// Theirs"')
    await tab.press('Enter')
    await tab.waitForGone('dialog')
    await tab.waitFor('main >> role=heading[name="9 requests a minute for everyone"]')
    expect(onDisk()).toMatch(/^\/\/ Ours\r\n.*"requests":9.*\r\n$/)
    expect(await complaintsOf(tab)).toEqual([expect.stringContaining('409 (Conflict)')])
    await limited(JSON.stringify(access), 'team:search')
  }, 30_000)
})

/** Asks a route of access.json as a signed-in person. */
async function askFile(token: string, path: string, body?: object): Promise<{ status: number; json: unknown }> {
  const response = await fetch(`${rig.service.url}/api/limits/${path}`, {
    headers: { 'x-session-token': token, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  return { status: response.status, json: await response.json() }
}

test('an owner reads, checks and replaces access.json, with an entry in the audit; others may not', async () => {
  const path = join(rig.service.home, 'access.json')
  const onDisk = () => readFileSync(path, 'utf8')
  const before = onDisk()
  const { json } = await askFile(ada, 'file')
  const version = pick(json, 'version')
  expect(json).toEqual({ file: path, version: expect.stringMatching(/^[\da-f]{64}$/), text: before })
  const faulty = '{\n  "limits": [{ "for": "everybody", "requests": 1 }]\n}'
  const checked = await askFile(ada, 'check', { text: faulty })
  const message = expect.stringMatching(/^limits\[0\]\.for: found "everybody"/)
  expect(checked).toEqual({ status: 200, json: { faults: [{ line: 2, column: 23, message }] } })
  // Its parts are those of the running service.
  const elsewhere = await askFile(ada, 'check', { text: '{"limits":[{"for":"provider:none","usd":1,"per":"day"}]}' })
  expect(pick(elsewhere.json, 'faults', 0, 'message')).toContain('the id of a provider in providers.json')
  expect(await askFile(ada, 'file', { version, text: faulty })).toMatchObject({
    status: 400,
    json: { error: { code: 'invalid_value', message: expect.stringContaining('access.json:2:23: limits[0].for') } },
  })
  for (const [route, body] of [['file'], ['file', { version, text: '{}' }], ['check', { text: '{}' }]] as const)
    expect(await askFile(grace, route, body)).toMatchObject({ status: 403, json: { error: { code: 'owners_only' } } })
  expect(onDisk()).toBe(before)

  const after = `// On the page\n${JSON.stringify({ ...access, limits: [{ for: 'everyone', requests: 7 }] })}\n`
  const saved = await askFile(ada, 'file', { version, text: after })
  expect(saved.status).toBe(200)
  expect(onDisk()).toBe(after)
  // Active when it was answered.
  expect(await (await asked('/api/limits', ada)).json()).toMatchObject({ limits: [{ kind: 'requests', limit: 7 }] })
  expect(await askFile(ada, 'file', { version, text: '{}' })).toMatchObject({
    status: 409,
    json: { error: { code: 'conflict', message: expect.stringContaining('changed in the meantime') } },
  })
  expect(onDisk()).toBe(after)
  const audit: unknown = await (await asked('/api/audit', ada)).json()
  expect(pick(audit, 'entries', 0)).toMatchObject({ actor: 'ada', via: 'page', action: 'file.changed' })
  expect(pick(audit, 'entries', 0)).toMatchObject({
    object: 'access.json',
    before: JSON.stringify({ fingerprint: version }),
    after: JSON.stringify({ fingerprint: pick(saved.json, 'version') }),
  })
  await askFile(ada, 'file', { version: pick(saved.json, 'version'), text: before })
  expect(await (await asked('/api/limits', ada)).text()).toContain('team:search')
}, 20_000)

// Before the audit has a hundred entries, which take seconds.
describeInChromium('axe-core finds nothing to mend in both views', () => {
  const looks: readonly (readonly [string, PersonOptions])[] = [
    ['light', { ...wide, colorScheme: 'light' }],
    ['phone', { colorScheme: 'dark', viewport: { width: 390, height: 844 }, hasTouch: true }],
  ]
  test.each(looks)(
    '%s',
    async (look, options) => {
      await changes(2)
      const tab = await show(ada, 'limits', options)
      for (const view of ['limits', 'audit'] as const) {
        await tab.evaluate(`location.hash = '#/${view}'`)
        await tab.waitFor(view === 'limits' ? 'main li table' : 'main ol >> text=/made/')
        await tab.evaluate(`document.querySelector('main summary').click()`)
        expect(await violationsOf(tab)).toEqual([])
        expect(await overflowOf(tab)).toBe(0)
        if (pictures !== undefined) await tab.screenshot(join(pictures, `${view}-${look}.png`))
      }
    },
    30_000,
  )
})

describeInChromium('the view Audit', () => {
  test('lists changes with their facts, older ones on request, and that the chain is whole', async () => {
    await changes(130)
    const tab = await show(ada, 'audit')
    await tab.waitFor('main >> text=/The chain of \\d+ entries is whole/')
    expect(await tab.evaluate(`document.querySelectorAll('main ol > li').length`)).toBe(100)
    await tab.evaluate(`document.querySelector('main ol summary').focus()`)
    await tab.press('Enter')
    await tab.waitFor('main ol >> text="scopes: chat"')
    await tab.click('role=button[name="Older entries"]')
    await tab.waitForGone('role=button[name="Older entries"]')
    // Changes of access.json by other tests have entries, too.
    expect(await tab.evaluate(`document.querySelectorAll('main ol > li').length`)).toBeGreaterThanOrEqual(130)
    expect(await tab.textOf('main ol > li:last-child')).toMatch(/^1\s/)
    expect(await tab.textOf('main ol')).toContain('key “indexer” (1) made')
    expect(await tab.evaluate(`document.querySelector('main ol > li [title]').title`)).toMatch(/:\d\d:\d\d .*[A-Z]/)
    expect(await complaintsOf(tab)).toEqual([])
  }, 30_000)

  test('names an entry that was changed', async () => {
    await changes(1)
    const database = new Database(join(rig.service.home, 'svc.db'))
    const { object } = database.query<{ object: string }, []>('SELECT object FROM audit WHERE seq = 1').get() ?? {}
    database.run(`UPDATE audit SET object = '77' WHERE seq = 1`)
    const tab = await show(ada, 'audit')
    await tab.waitFor('role=alert >> text=/entry 1 does not follow from the beginning: changed or moved/')
    database.run(`UPDATE audit SET object = ? WHERE seq = 1`, [object ?? ''])
    database.close()
    await tab.reload()
    await tab.waitFor('main >> text=/is whole/')
  }, 30_000)
})

describeInChromium('both views', () => {
  test('are for owners: others get nothing of them', async () => {
    for (const path of ['/api/limits', '/api/audit', '/api/audit/verify']) {
      expect([path, (await asked(path)).status, (await asked(path, grace)).status]).toEqual([path, 401, 403])
      expect((await asked(path, ada)).status).toBe(200)
    }
    for (const view of ['limits', 'audit'] as const) {
      const tab = await show(grace, view)
      await tab.waitFor('main >> text="Only owners of this service may do this"')
      await tab.click('role=button[name=/^Account of/]')
      expect(await tab.textOf('[role="menu"]')).not.toMatch(/Limits|Audit/)
    }
  }, 30_000)
})
