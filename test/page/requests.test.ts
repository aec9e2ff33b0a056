import { afterEach, beforeEach, expect, test } from 'bun:test'
import { chat, question } from '../client.ts'
import type { Tab } from '../fakes/chromium.ts'
import { good } from '../fakes/good.ts'
import { startGithub } from '../fakes/identity/github.ts'
import { errorReply } from '../fakes/replies.ts'
import { startService } from '../harness.ts'
import { startRig, type Rig } from '../rig.ts'
import { startSignIn } from '../sign-in/rig.ts'
import { describeInChromium, useChromium } from './in-chromium.ts'

const chromium = useChromium()
let tab: Tab

beforeEach(() => {
  tab = chromium.person({ viewport: { width: 1280, height: 900 } }).tab()
})

const priced = { models: [{ name: 'm', price: { input: 100, output: 1_000 } }, 'other'] }

/** Starts a service with two providers, the first of which always answers 429. */
function startPair(): Promise<Rig> {
  return startRig(
    [(exchange) => exchange.write(errorReply(429, { message: 'Slow down' }, { 'retry-after': '0' })), good()],
    { each: { b: priced } },
  )
}

/** Opens the view, and waits until it is live and shows `count` requests. */
async function show({ service }: Pick<Rig, 'service'>, count: string): Promise<void> {
  await tab.goto(`${service.url}/#/requests`)
  await tab.waitFor('main >> text="Live"')
  await tab.waitFor(`main >> text="${count}"`)
}

/** Texts of the cells of all drawn rows. */
async function rows(): Promise<readonly (readonly string[])[]> {
  const found = await tab.evaluate(
    `[...document.querySelectorAll('[data-key]')].map((row) =>
      [...row.cells].map((cell) => cell.innerText.replaceAll(/\\s+/g, ' ').trim()))`,
  )
  return Array.isArray(found) ? found : []
}

/** Chooses an option of a field by typing its beginning. */
async function choose(label: string, beginning: string): Promise<void> {
  await tab.evaluate(
    `[...document.querySelectorAll('label')]
      .find(({ textContent }) => textContent === ${JSON.stringify(label)}).control.focus()`,
  )
  await tab.type(beginning)
}

describeInChromium('the requests', () => {
  afterEach(async () => {
    expect(
      (await tab.complaints()).filter(
        (text) =>
          !/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|404 \(Not Found\)/.test(text),
      ),
    ).toEqual([])
  })

  test('are listed newest first with trail, status, times, tokens and cost, and appear as they end', async () => {
    await using rig = await startPair()
    await rig.askStream({ stream_options: { include_usage: true } })
    await show(rig, '1 request')
    expect(await rows()).toEqual([
      [
        expect.stringMatching(/^Request of \d/),
        'm',
        'failed: a busy , then → b answered',
        'OK 200',
        expect.stringMatching(/^[\d.]+ m?s$/),
        expect.stringMatching(/^[\d.]+ m?s$/),
        '3 in, / 5 out',
        '$0.0053',
      ],
    ])
    expect(await tab.evaluate(`document.querySelectorAll('[role=columnheader]').length`)).toBe(8)
    await chat(rig.service.url, question({ model: 'unlisted-model' }))
    await tab.waitFor('main >> text="2 requests"')
    expect((await rows())[0]?.slice(1, 4)).toEqual(['unlisted-model', 'no provider was asked', 'model not found 404'])
    await tab.until(
      `document.querySelector('main dl').innerText.replaceAll(/\\s+/g, ' ')
        .startsWith('Requests 2 in the last hour Errors 50 % 1 of 2 ')`,
    )
  }, 20_000)

  test('show all facts of one on its own page, by keyboard and by pointer, and nothing of its content', async () => {
    await using rig = await startPair()
    await rig.ask({ messages: [{ role: 'user', content: 'a secret question' }] }, { 'x-request-id': 'first-id' })
    await rig.ask({}, { 'x-request-id': 'second-id' })
    await show(rig, '2 requests')
    await tab.evaluate(`document.querySelector('[data-key] button').focus()`)
    await tab.press('ArrowDown')
    await tab.press('Enter')
    await tab.waitFor('main >> role=heading[name="Request"]')
    await tab.until(`location.hash === '#/requests/first-id'`)
    const text = (await tab.textOf('main')).replaceAll(/\s+/g, ' ')
    expect(text).toMatch(/Request id first-id .*Model m Format chat Status OK 200 Served by b Duration /)
    expect(text).toMatch(/ Tokens 3 in, 5 out Cost \$0\.0053, by the price in providers\.json 2 attempts/)
    expect(text).toMatch(/2 attempts a busy · rate limit, status 429 [\d.]+ m?s b answered, status 200 · 3 in, 5 out/)
    expect(text).toMatch(/3 in, 5 out · \$0\.0053 [\d.]+ m?s Questions and/)
    await tab.back()
    await tab.waitFor('main >> role=heading[name="Requests"]')
    await tab.until(`document.activeElement.closest('[data-key]')?.dataset.key.endsWith(' first-id') === true`)
    expect(await tab.text()).not.toContain('a secret question')
    await tab.click('[data-key$="second-id"]')
    await tab.waitFor('main >> text=second-id')
    // Over plain HTTP from another machine scripts have no clipboard.
    await tab.evaluate(
      `Object.defineProperty(navigator, 'clipboard', { value: undefined })
      document.addEventListener('copy', () => { window.copied = document.activeElement.value })
      void 0`,
    )
    await tab.click('[aria-label="Copy the request id"]')
    await tab.until(
      `window.copied === 'second-id' && document.activeElement.getAttribute('aria-label') === 'Copy the request id'`,
    )
    await tab.reload()
    await tab.waitFor('main >> text=second-id')
    await tab.click('main header >> role=link[name="Requests"]')
    await tab.waitFor('main >> text="2 requests"')
    await tab.goto(`${rig.service.url}/#/requests/no-such-request`)
    await tab.waitFor('main >> text="No request with this id is remembered"')
  }, 20_000)

  test('are filtered by each column, with the filters in the address, which can be cleared', async () => {
    await using rig = await startPair()
    await rig.ask()
    await rig.ask({ model: 'other' })
    await chat(rig.service.url, question({ model: 'unlisted-model' }))
    await chat(rig.service.url, '{')
    await show(rig, '4 requests')
    await tab.click('role=button[name="A provider failed"]')
    await tab.waitFor('main >> text="1 of 4 requests"')
    await tab.until(`location.hash === '#/requests?failed=yes'`)
    await tab.press('Space')
    await tab.waitFor('main >> text="4 requests"')
    await tab.click('role=button[name="Last hour"]')
    await tab.waitFor('main >> text="4 of 4 requests"')
    await tab.waitFor('role=button[name="Last hour"][pressed=true]')
    await tab.press('Enter')
    await tab.waitFor('main >> text="4 requests"')
    await choose('Status', 'Refused')
    await tab.waitFor('main >> text="2 of 4 requests"')
    await tab.click('role=button[name="More"]')
    await choose('Error', 'invalid')
    await tab.waitFor('main >> text="1 of 4 requests"')
    await tab.until(`location.hash === '#/requests?status=refused&error=invalid_json'`)
    await tab.reload()
    await tab.waitFor('main >> text="1 of 4 requests"')
    await tab.click('role=button[name="Clear filters"]')
    await tab.waitFor('main >> text="4 requests"')
    await tab.click('role=button[name="More"]')
    await tab.until(`location.hash === '#/requests'`)
    await choose('Provider', 'a')
    await tab.waitFor('main >> text="1 of 4 requests"')
    await tab.click('role=button[name="Clear filters"]')
    await choose('Model', 'other')
    await tab.waitFor('main >> text="1 of 4 requests"')
    await tab.press('Home')
    await tab.waitFor('main >> text="4 requests"')
    await tab.fill('main input[type=search]', 'UNLISTED')
    await tab.waitFor('main >> text="1 of 4 requests"')
    await tab.fill('main input[type=search]', '')
    await tab.fill('label:text-is("Duration from, ms") + input', '60000')
    await tab.waitFor('text=No request matches the filters')
    await tab.click('role=button[name="Clear filters"] >> nth=1')
    await tab.waitFor('main >> text="4 requests"')
    // The pressed button has disappeared, so the list gets the focus.
    expect(await tab.evaluate(`document.activeElement.innerText`)).toContain('4 requests')
    for (const [label, reached, missed] of [
      ['Costs at least, $', '0.005', '0,006'],
      ['Tokens at least', '8', '9'],
      ['Time to first token from, ms', '', '60000'],
      ['From', '2026-01-01T00:00', '2099-01-01T00:00'],
      ['To', '2099-01-01T00:00', '2026-01-01T00:00'],
    ] as const) {
      await tab.fill(`label:text-is("${label}") + input`, missed)
      await tab.waitFor('text=No request matches the filters')
      await tab.fill(`label:text-is("${label}") + input`, reached)
      await tab.waitForGone('text=No request matches the filters')
    }
    await tab.until(`/[?&]to=/.test(location.hash)`)
    await tab.reload()
    await tab.waitFor('main >> text="1 of 4 requests"')
    await tab.waitFor('role=button[name="More (4)"]')
    expect(
      await tab.evaluate(
        `[...document.querySelectorAll('main [aria-label="Filters"] input')]
          .map(({ value }) => value).filter((value) => value !== '').join(' ')`,
      ),
    ).toBe('2026-01-01T00:00 2099-01-01T00:00 8 0.005')
  }, 20_000)

  test('that are under way are shown above, until they end', async () => {
    const finishing = Promise.withResolvers<void>()
    await using rig = await startRig([
      async (exchange) => {
        await finishing.promise
        await good()(exchange)
      },
    ])
    await show(rig, '0 requests')
    const asked = rig.ask({ model: 'm' })
    await tab.waitFor('main section >> text="Running: 1"')
    await tab.waitFor('main section li >> text=/ · m .*asking /')
    finishing.resolve()
    await asked
    await tab.waitForGone('main section >> text="Running: 1"')
    await tab.waitFor('main >> text="1 request"')
  }, 20_000)

  test('wait behind a button while it is paused, or while one of them is read', async () => {
    await using rig = await startPair()
    await rig.ask()
    await show(rig, '1 request')
    await tab.click('role=button[name="Pause"]')
    await tab.waitFor('main >> text="Paused"')
    await rig.ask()
    await tab.waitFor('role=button[name="1 new request"]')
    expect(await rows()).toHaveLength(1)
    await tab.click('role=button[name="1 new request"]')
    await tab.waitFor('main >> text="2 requests"')
    await tab.waitFor('main >> text="Live"')
    await tab.evaluate(`document.querySelector('[data-key] button').focus()`)
    const key = await tab.evaluate(`document.activeElement.closest('[data-key]').dataset.key`)
    await rig.ask()
    await tab.waitFor('role=button[name="1 new request"]')
    expect(
      await tab.evaluate(
        `[document.activeElement.closest('[data-key]').dataset.key, document.querySelector('[data-key]').dataset.key]`,
      ),
    ).toEqual([key, key])
    await tab.press('Shift+Tab')
    await tab.waitFor('main >> text="3 requests"')
  }, 20_000)

  test('are drawn only where they are seen, and reached by keyboard to the last', async () => {
    await using rig = await startPair()
    for (let round = 0; round < 30; round++) await Promise.all(Array.from({ length: 10 }, () => rig.ask()))
    await rig.ask({}, { 'x-request-id': 'the-newest' })
    await show(rig, '301 requests')
    expect((await rows()).length).toBeLessThan(60)
    expect(await tab.evaluate(`document.querySelector('table[role=table]').getAttribute('aria-rowcount')`)).toBe('302')
    await tab.evaluate(`document.querySelector('[data-key] button').focus()`)
    await tab.press('End')
    await tab.until(
      `document.activeElement.closest('[data-key]')?.getAttribute('aria-rowindex') === '302' &&
        document.activeElement.getBoundingClientRect().top < innerHeight`,
    )
    expect((await rows()).length).toBeLessThan(60)
    await tab.press('Home')
    await tab.until(`document.activeElement.closest('[data-key]')?.dataset.key.endsWith(' the-newest')`)
  }, 20_000)

  test('of the last hour are charts, read minute by minute by keyboard and by pointer, with a table', async () => {
    await using rig = await startPair()
    await rig.askStream({ stream_options: { include_usage: true } })
    await chat(rig.service.url, question({ model: 'unlisted-model' }))
    await show(rig, '2 requests')
    await tab.until(
      `document.querySelector('svg[role=img]').getAttribute('aria-label')
        .startsWith('Requests by minute: 2 in the last hour, 1 of them with an error.')`,
    )
    await tab.evaluate(`document.querySelector('[role=slider]').focus()`)
    const told = async (): Promise<string> =>
      String(await tab.evaluate(`document.activeElement.getAttribute('aria-valuetext')`))
    // The requests may be from the minute before.
    for (let minute = 0; minute < 2 && (await told()).includes('Requests 0'); minute++) await tab.press('ArrowLeft')
    expect(await told()).toMatch(/^\d.*: Requests [12], Errors [01]$/)
    await tab.press('Home')
    await tab.until(`document.activeElement.getAttribute('aria-valuetext').endsWith(': Requests 0, Errors 0')`)
    await tab.press('Escape')
    await tab.waitForGone('main figure p')
    await tab.click('main figure >> nth=2 >> [role=slider]')
    await tab.waitFor('main figure >> nth=2 >> text=/^In \\d/')
    await tab.click('summary >> text=Show as table >> nth=0')
    await tab.waitFor('main figure table')
    const sums = `[1, 2].map((column) => [...document.querySelectorAll('main figure tbody tr')]
      .reduce((sum, row) => sum + Number(row.cells[column].textContent), 0))`
    expect(await tab.evaluate(sums)).toEqual([2, 1])
  }, 20_000)

  test('are followed again after the service was gone', async () => {
    const first = await startService({ providers: [{ id: 'echo' }] })
    await show({ service: first }, '0 requests')
    await first.stop()
    await tab.waitFor('main >> text="Reconnecting…"')
    await using second = await startService({ providers: [{ id: 'echo' }] }, { port: first.port })
    await chat(second.url, question({ model: 'echo' }))
    await tab.waitFor('main >> text="Live"')
    await tab.waitFor('main >> text="1 request"')
  }, 20_000)
})

describeInChromium('where people sign in', () => {
  test('the requests have users, and users who are not owners see their own', async () => {
    await using rig = await startSignIn(startGithub)
    const [ada, bob] = [await rig.signIn('ada'), await rig.signIn('bob')]
    await rig.service.configure({
      providers: [{ id: 'a', base_url: rig.upstream.url, models: ['m'] }],
      owners: ['ada'],
    })
    await rig.logged('configuration reloaded')
    await rig.ask({ 'x-session-token': ada.token })
    await rig.ask({ 'x-session-token': bob.token })
    const usersAs = async (token: string, count: string): Promise<unknown> => {
      await tab.goto(`${rig.service.url}/health`)
      await tab.evaluate(`document.cookie = 'token=${token}; path=/'`)
      await show(rig, count)
      return (await rows()).map((cells) => cells[1])
    }
    expect(await usersAs(ada.token, '2 requests')).toEqual(['bob', 'ada'])
    await choose('Person', 'ada')
    await tab.waitFor('main >> text="1 of 2 requests"')
    expect(await usersAs(bob.token, '1 request')).toEqual(['bob'])
    await tab.waitFor('text=Yours among the last 1,000')
  }, 20_000)
})
