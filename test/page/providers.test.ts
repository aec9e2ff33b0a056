import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chat, pick, question } from '../client.ts'
import type { Person, Tab } from '../fakes/chromium.ts'
import { faultUpstream, type FaultUpstream } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { startGithub } from '../fakes/identity/github.ts'
import { errorReply } from '../fakes/replies.ts'
import { provider, startService, type ServiceUnderTest } from '../harness.ts'
import { startSignIn } from '../sign-in/rig.ts'
import { chooseModel } from './conversation.ts'
import { describeInChromium, useChromium } from './in-chromium.ts'

const chromium = useChromium()
let service: ServiceUnderTest, fine: FaultUpstream, limited: FaultUpstream, person: Person, tab: Tab

/** Makes a file with one line and a comment for each provider. */
function fileOf(ids: readonly string[], off: readonly string[] = []): string {
  const lines = ids.map((id) => {
    const enabled = off.includes(id) ? ', "enabled": false' : ''
    const { url } = id === 'b' ? limited : fine
    return `    { "id": "${id}", "base_url": "${url}", "models": ["m"]${enabled} }, // about ${id}`
  })
  return `{\n  // the order of my choice\n  "providers": [\n${lines.join('\n')}\n  ],\n}\n`
}

beforeAll(async () => {
  fine = faultUpstream(good())
  limited = faultUpstream((exchange) =>
    exchange.write(errorReply(429, { message: 'Slow down' }, { 'retry-after': '90' })),
  )
  service = await startService(fileOf(['a', 'b', 'c']))
})
afterAll(async () => {
  await service.stop()
  fine.stop()
  limited.stop()
})
beforeEach(() => {
  person = chromium.person()
  tab = person.tab()
})

const order = `[...document.querySelectorAll('main ol h2')].map((heading) => heading.textContent).join(' ')`
const focused = `document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? ''`

/** Writes a file, and opens the view of it. */
async function show(text: string, ids: string): Promise<void> {
  await service.configure(text)
  await tab.goto(`${service.url}/#/providers`)
  await showsOrder(ids)
}

function showsOrder(ids: string): Promise<void> {
  return tab.until(`${order} === ${JSON.stringify(ids)}`)
}

function said(words: string): Promise<void> {
  return tab.until(
    `[...document.querySelectorAll('[aria-live]')]
      .some((region) => region.textContent.includes(${JSON.stringify(words)}))`,
  )
}

/** Makes a choice of the menu of a row. */
async function choose(id: string, item: string): Promise<void> {
  await tab.click(`[aria-label="More about ${id}"]`)
  await tab.click(`role=menuitem[name="${item}"]`)
}

/** Moves the focus with Tab, from the beginning of the content, to the element with this label. */
async function tabTo(label: string): Promise<void> {
  await tab.evaluate(`document.querySelector('main').focus()`)
  for (let count = 0; count < 40; count++) {
    await tab.press('Tab')
    if (String(await tab.evaluate(focused)) === label) return
  }
  throw new Error(`Tab does not come to ${label}`)
}

/** Opens the details of all rows, when they are there. */
async function openAll(): Promise<void> {
  const closed = `[...document.querySelectorAll('main ol > li h2 [aria-expanded="false"]')]`
  await tab.until(`document.querySelector('main ol > li') !== null`)
  await tab.evaluate(`${closed}.forEach((button) => button.click())`)
}

/** Makes the tab hidden, so that it does not refresh. */
async function hide(): Promise<void> {
  await tab.evaluate(
    `Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' })
    document.dispatchEvent(new Event('visibilitychange'))`,
  )
}

async function unhide(): Promise<void> {
  await tab.evaluate(`delete document.visibilityState; document.dispatchEvent(new Event('visibilitychange'))`)
}

/** Waits until the API of providers answers as wanted. */
async function untilListed({ url }: ServiceUnderTest, isWanted: (answer: unknown) => boolean): Promise<void> {
  for (let round = 0; round < 400; round++) {
    if (isWanted(await (await fetch(`${url}/api/providers`)).json())) return
    await Bun.sleep(20)
  }
  throw new Error('in vain')
}

describeInChromium('the providers', () => {
  afterEach(async () => {
    const expected = /status of 40[09]|ERR_INTERNET_DISCONNECTED/
    const complaints = (await tab.complaints()).filter((text) => !expected.test(text))
    expect(complaints).toEqual([])
  })

  test('that are switched off take their models with them: a new conversation asks another one', async () => {
    await service.configure({ providers: [provider('a', fine.url, ['m', 'only-a']), provider('b', fine.url)] })
    await tab.goto(`${service.url}/`)
    await tab.waitFor('button:has-text("Model: ")')
    await chooseModel(tab, 'only-a')
    await tab.click('#sidebar >> text=Manage')
    await showsOrder('a b')
    await tab.click('[role="switch"] >> nth=0')
    await said('off')
    await tab.click('text=Back to the chat')
    await tab.until(`document.querySelector('main [aria-haspopup="dialog"]')?.textContent === 'Model: m'`)
  }, 20_000)

  test('are listed in their order, each with its state, figures and models', async () => {
    const many = Array.from({ length: 30 }, (_, index) => `model-${index}`)
    await service.configure({
      providers: [
        provider('busy', limited.url),
        provider('b', fine.url, ['m', ...many]),
        provider('keyless', fine.url, ['k'], { api_key: '$NO_SUCH_KEY' }),
        provider('idle', fine.url, ['i'], { enabled: false }),
      ],
    })
    await tab.goto(`${service.url}/#/providers`)
    await showsOrder('busy b keyless idle')
    await chat(service.url, question({ stream: true }))
    await tab.reload()
    await tab.waitFor('li:nth-of-type(1) >> text=/^rate limit, it asked to wait, until .* in \\d+ s/')
    await openAll()
    const cards = Array.from({ length: 4 }, async (_, index) =>
      (await tab.textOf(`main ol > li:nth-of-type(${index + 1})`)).replaceAll(/\n+/g, '\n'),
    )
    const [busy = '', b = '', keyless = '', idle = ''] = await Promise.all(cards)
    expect(busy).toMatch(/^1\nbusy\nhttp:.* · 1 model\nCooling\nrate limit, [^]*openai protocol · http:\/\/127[^]*\n/)
    expect(busy).toMatch(/0\s% of 1 answered[^]*Answered\n0\s% of 1\nTime to first token\n–/)
    expect(busy).toMatch(/–[^]*Last error\n429 rate limit, model m, [^]*\nSlow down\n/)
    expect(b).toMatch(/^2\nb\n[^]*OK\n[^]*Answered\n100\s% of 1\nTime to first token\np50 [\d.]+ m?s, p95 [\d.]+ m?s\n/)
    expect(b).toMatch(/m?s\n[^]*Serves\s+m\s+model-0\s+model-1\s+model-2\s+All 31 models/)
    expect(keyless).toMatch(/Key missing\n[^]*NO_SUCH_KEY is not set/)
    expect(idle).toMatch(/Off\nnot asked/)
    const seconds = Number(/in (\d+) s/.exec(busy)?.[1])
    await tab.waitFor(`text=/in ${seconds - 1} s/`)
  }, 20_000)

  test('list all their models, and filter them', async () => {
    const many = Array.from({ length: 30 }, (_, index) => `model-${index}`)
    await service.configure({ providers: [provider('a', fine.url, many)] })
    await tab.goto(`${service.url}/#/providers`)
    await openAll()
    await tab.click('summary >> text=All 30 models')
    await tab.waitFor('text=model-29')
    await tab.fill('[aria-label="Filter the models of a"]', '29')
    await tab.until(`document.querySelectorAll('details[open] li').length === 1`)
  })

  test('are moved by pointer: the file is rewritten with its comments, the focus stays, and it is said', async () => {
    await show(fileOf(['a', 'b', 'c']), 'a b c')
    await choose('a', 'Down')
    await showsOrder('b a c')
    await said('a is now number 2 of 3')
    expect(await tab.evaluate(focused)).toBe('More about a')
    expect(await readFile(service.file, 'utf8')).toBe(fileOf(['b', 'a', 'c']))
  })

  test('are dragged by their handles, with Escape as the way out, and moved to the top by a menu', async () => {
    await show(fileOf(['a', 'b', 'c']), 'a b c')
    const row = (place: number) => `main ol > li:nth-of-type(${place})`
    await tab.drag(`${row(1)} [data-handle]`, row(2))
    await showsOrder('b a c')
    await said('a is now number 2 of 3')
    expect(await readFile(service.file, 'utf8')).toBe(fileOf(['b', 'a', 'c']))
    await tab.drag(`${row(1)} [data-handle]`, row(1))
    await tab.evaluate(`{
      const at = (type, clientY) => new PointerEvent(type, { clientY, pointerId: 9, bubbles: true, cancelable: true })
      document.querySelector('${row(1)} [data-handle]').dispatchEvent(at('pointerdown', 0))
      dispatchEvent(at('pointermove', 9999))
    }`)
    await tab.press('Escape')
    await tab.evaluate(`dispatchEvent(new PointerEvent('pointerup', { clientY: 9999, pointerId: 9 }))`)
    expect(await readFile(service.file, 'utf8')).toBe(fileOf(['b', 'a', 'c']))
    await choose('c', 'To the top')
    await showsOrder('c b a')
    await said('c is now number 1 of 3')
    expect(await readFile(service.file, 'utf8')).toBe(fileOf(['c', 'b', 'a']))
  })

  test('are tested all together, with progress', async () => {
    await show(fileOf(['a', 'b', 'c'], ['c']), 'a b c')
    await tab.click('role=button[name="Test all"]')
    await said('2 tested, 1 failed')
    await tab.waitFor('main >> text="2 of 2 tested, 1 failed"')
    await tab.waitFor('li:nth-of-type(1) >> text=/^Test: Answered/')
    expect(await tab.textOf('li:nth-of-type(3)')).not.toContain('Test:')
  })

  test('are removed after a question, with their comments', async () => {
    await show(fileOf(['a', 'b', 'c']), 'a b c')
    await choose('b', 'Remove…')
    await tab.click('dialog >> role=button[name="Keep it"]')
    await choose('b', 'Remove…')
    await tab.click('dialog >> role=button[name="Remove"]')
    await showsOrder('a c')
    await said('b is removed')
    expect(await readFile(service.file, 'utf8')).toBe(fileOf(['a', 'c']))
  })

  test('are added by a view: tested by itself, at a place, and the comments of the file stay', async () => {
    using lister = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json({ data: [{ id: 'm' }] }) })
    await show(fileOf(['a']), 'a')
    await tabTo('Add a provider')
    await tab.press('Enter')
    await tab.waitFor('main form select')
    expect(await tab.evaluate('location.hash')).toBe('#/providers/add')
    await tab.select('main form select >> nth=0', 'other')
    await tab.click('role=button[name="Add as number 2"]')
    await tab.waitFor('main >> text=/^An http or https address/')
    expect(await tab.evaluate('document.activeElement.getAttribute("aria-invalid")')).toBe('true')
    await tab.type(`http://127.0.0.1:${lister.port}`)
    await tab.press('Tab')
    await tab.waitFor('main >> text=/^It answers, in /')
    await said('1 model, none with a price')
    await tab.fill('role=textbox[name="Name"]', 'lab')
    await tab.click('main summary')
    await tab.fill('role=textbox[name^="Environment variable"]', 'OPENAI_API_KEY')
    await tab.press('Enter')
    await tab.waitFor('main >> text=/a name that begins with SVC_KEY_/')
    await tab.fill('role=textbox[name^="Environment variable"]', 'SVC_KEY_LAB')
    await tab.waitFor('main >> text="SVC_KEY_LAB is not set: nothing was asked"')
    await tab.fill('role=textbox[name^="Environment variable"]', '')
    await tab.waitFor('main >> text=/^It answers, in /')
    await tab.click('main >> text=/Only some/')
    await tab.click('main fieldset li label')
    await tab.click('role=button[name="Ask it earlier"]')
    expect(await tab.textOf('main section ol')).toMatch(/^1\s+lab new\s+2\s+a$/)
    await tab.click('role=button[name="Add as number 1"]')
    await showsOrder('lab a')
    await said('lab is now number 1 of 2')
    expect(await readFile(service.file, 'utf8')).toContain(
      `"providers": [\n    { "id": "lab", "base_url": "http://127.0.0.1:${lister.port}", ` +
        `"models": [ "m" ] },\n    { "id": "a"`,
    )
    expect(await readFile(service.file, 'utf8')).toContain('// about a\n')
  }, 20_000)

  test('are changed by a form, tested before, with comments and the rest of the entry', async () => {
    using lister = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => Response.json({ data: [{ id: 'm' }, { id: 'n' }] }),
    })
    const url = `http://127.0.0.1:${lister.port}/v1`
    await show(fileOf(['a', 'b']), 'a b')
    await choose('b', 'Settings…')
    await tab.fill('role=textbox[name="Base URL"]', url)
    await tab.fill('role=textbox[name^="Environment variable"]', 'OPENAI_API_KEY')
    await tab.click('dialog >> role=button[name="Save"]')
    await tab.waitFor('dialog >> text=/Allowed here: a name that begins with SVC_KEY_/')
    await tab.fill('role=textbox[name^="Environment variable"]', '')
    await tab.click('dialog >> role=button[name="Test"]')
    await tab.waitFor('dialog >> text="2 models, none with a price."')
    await tab.click('dialog li label >> nth=1')
    await tab.fill('role=textbox[name="Connecting"]', '0')
    await tab.click('dialog >> role=button[name="Save"]')
    await tab.waitFor('dialog [role="alert"] >> text=/^Whole numbers from 1 to 86,400,000/')
    await tab.fill('role=textbox[name="Connecting"]', '7000')
    // Another editor is faster: nothing is overwritten, and what was typed stays.
    await service.configure(fileOf(['b', 'a']))
    await tab.press('Enter')
    await tab.waitFor('dialog >> text=/was changed meanwhile/')
    expect(await readFile(service.file, 'utf8')).toBe(fileOf(['b', 'a']))
    await tab.click('dialog >> role=button[name="Save"]')
    await tab.waitForGone('dialog')
    await said('b is changed')
    const changed = fileOf(['b', 'a'])
      .replace(limited.url, url)
      .replace('["m"]', '["m", "n"], "timeouts": {"connect_ms":7000}')
    expect(await readFile(service.file, 'utf8')).toBe(changed)
    // An entry with a key of the file keeps its address.
    await show(changed.replace('"id": "b"', '"id": "b", "api_key": "x"'), 'b a')
    await choose('b', 'Settings…')
    await tab.fill('role=textbox[name="Base URL"]', 'http://127.0.0.1:9/v1')
    for (const button of ['Test', 'Save']) {
      await tab.click(`dialog >> role=button[name="${button}"]`)
      await tab.waitFor('dialog [role="alert"]:has-text("must not go to another address")')
      await tab.fill('role=textbox[name="Base URL"]', `http://127.0.0.1:9/${button}`)
    }
  }, 20_000)

  test('are added by a view that forgets a test of another address, under way or done', async () => {
    const gate = Promise.withResolvers<void>()
    using lister = Bun.serve({
      ...{ port: 0, hostname: '127.0.0.1' },
      async fetch() {
        await gate.promise
        return Response.json({ data: [{ id: 'm' }] })
      },
    })
    await show(fileOf(['a']), 'a')
    await tab.click('role=link[name="Add a provider"]')
    async function ask(): Promise<void> {
      await tab.select('main form select >> nth=0', 'other')
      await tab.fill('role=textbox[name="Base URL"]', `http://127.0.0.1:${lister.port}/v1`)
      // While the address has the focus, it may be half typed.
      await tab.press('Tab')
    }
    await ask()
    await tab.waitFor('main >> text=/^Asking for its models/')
    await tab.select('main form select >> nth=0', 'groq')
    gate.resolve()
    await tab.until(
      `performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/api/providers/look')) &&
        new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(true))))`,
    )
    expect(await tab.textOf('main')).not.toMatch(/Asking for|It answers/)
    await ask()
    await tab.waitFor('main >> text=/^It answers, in /')
    await tab.select('main form select >> nth=0', 'groq')
    await tab.waitForGone('main >> text=/^It answers/')
    expect(await tab.textOf('main')).not.toContain('Only some')
  }, 20_000)

  test('are changed by a form that says at once when the file was changed meanwhile', async () => {
    await show(fileOf(['a', 'b']), 'a b')
    await choose('b', 'Settings…')
    await tab.fill('role=textbox[name="Base URL"]', 'http://127.0.0.1:9/v1')
    await person.hold('**/api/providers/settings*')
    await service.configure(fileOf(['b', 'a']))
    await tab.press('Enter')
    await tab.waitFor('dialog [role="alert"]:has-text("was changed meanwhile")')
  }, 20_000)

  test('of a brand are added without any key, which its row takes, tests and never shows again', async () => {
    await using bare = await startService(undefined)
    await tab.goto(`${bare.url}/#/providers`)
    await tab.click('role=link[name="Add a provider"]')
    await tab.select('main form select', 'groq')
    await tab.waitFor('main >> text="GROQ_API_KEY is not set"')
    await tab.click('role=button[name="Add as number 1"]')
    await showsOrder('groq')
    await tab.waitFor('li >> text="Key missing"')
    await tab.waitFor('li >> text="GROQ_API_KEY is not set"')
    expect(JSON.parse(await readFile(bare.file, 'utf8'))).toEqual({ providers: [{ id: 'groq' }] })
    await tab.press('Tab')
    await tab.fill('[aria-label="Key of groq"]', 'typed 1')
    await tab.click('role=button[name="Save and test"]')
    await tab.waitFor('li >> text=/without spaces/')
    await tab.fill('[aria-label="Key of groq"]', 'typed-1')
    await tab.press('Enter')
    await tab.waitFor('li >> text=/^Test: /')
    expect(await readFile(join(bare.home, 'keys.env'), 'utf8')).toEndWith('GROQ_API_KEY=typed-1\n')
    expect(await tab.evaluate('document.body.innerHTML')).not.toContain('typed-1')
  }, 40_000)

  test('whose key is refused say so, in words, and take another one', async () => {
    using strict = Bun.serve({
      ...{ port: 0, hostname: '127.0.0.1' },
      fetch: ({ headers }) =>
        headers.get('authorization') === 'Bearer right'
          ? Response.json({ data: [{ id: 'm' }] })
          : Response.json({ error: { message: 'Incorrect API key', code: 'invalid_api_key' } }, { status: 401 }),
    })
    await using bare = await startService(undefined)
    await tab.goto(`${bare.url}/#/providers/add`)
    await tab.select('main form select >> nth=0', 'other')
    await tab.fill('role=textbox[name="Base URL"]', `http://127.0.0.1:${strict.port}/v1`)
    await tab.fill('main input[type=password]', 'wrong')
    await tab.waitFor('main >> text="The key is refused (401)"')
    await tab.fill('main input[type=password]', 'right')
    await tab.waitFor('main >> text=/^It answers, in /')
    await tab.fill('main input[type=password]', 'wrong')
    await tab.waitFor('main >> text="The key is refused (401)"')
    await tab.click('role=button[name="Add as number 1"]')
    await showsOrder('server')
    await tab.click('[aria-label="More about server"]')
    await tab.click('role=menuitem[name="Test now"]')
    await tab.waitFor('li >> text="Test: The key is refused (401)"')
    await tab.waitFor('[aria-label="Key of server"]')
  }, 20_000)

  test('without a price that a limit of money counts take one in their row', async () => {
    await using counted = await startService(
      { providers: [provider('a', fine.url), provider('b', fine.url)] },
      { files: { 'access.json': JSON.stringify({ limits: [{ for: 'everyone', usd: 5, per: 'day' }] }) } },
    )
    await tab.goto(`${counted.url}/#/providers`)
    await tab.click('li:nth-of-type(1) >> role=button[name="It is free"]')
    await tab.waitFor('li:nth-of-type(1) >> text=/ · free$/')
    await tab.waitForGone('li:nth-of-type(1) >> text="No price"')
    await tab.click('li:nth-of-type(2) >> role=button[name="Set a price"]')
    await tab.type('0,5')
    await tab.press('Tab')
    await tab.type('2')
    await tab.waitFor(`li >> text=/^It writes "price": .*"output":2/`)
    await tab.press('Enter')
    await tab.waitFor('li:nth-of-type(2) >> text=/ · \\$0.50 in, \\$2 out$/')
    const { providers } = JSON.parse(await readFile(counted.file, 'utf8'))
    expect(providers.map(({ price }: { readonly price: unknown }) => price)).toEqual([0, { input: 0.5, output: 2 }])
  }, 20_000)

  test('are changed with a typed key, which the page never shows again', async () => {
    const keys: (string | null)[] = []
    using lister = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch({ headers }) {
        keys.push(headers.get('authorization'))
        return Response.json({ data: [{ id: 'm' }] })
      },
    })
    await using bare = await startService({ providers: [provider('lab', `http://127.0.0.1:${lister.port}/v1`)] })
    const keysEnv = () => readFile(join(bare.home, 'keys.env'), 'utf8')
    for (const key of ['typed-2', 'typed-3']) {
      await tab.goto(`${bare.url}/#/providers`)
      await showsOrder('lab')
      await choose('lab', 'Settings…')
      await tab.waitFor('dialog input[type=password]')
      expect(await tab.evaluate(`document.querySelector('dialog input[type=password]').value`)).toBe('')
      await tab.fill('dialog input[type=password]', key)
      await tab.click('dialog >> role=button[name="Test"]')
      await tab.waitFor('dialog >> text=/^It answers, in /')
      await tab.click('dialog >> role=button[name="Save"]')
      await tab.waitForGone('dialog')
      expect(await keysEnv()).toEndWith(`SVC_KEY_LAB=${key}\n`)
      expect(keys).toContain(`Bearer ${key}`)
    }
  }, 20_000)

  test('are moved by arrow keys at their number, and at the end of the list nothing is lost', async () => {
    await show(fileOf(['a', 'b', 'c']), 'a b c')
    await tabTo('Move b, number 2 of 3')
    await tab.press('ArrowUp')
    await showsOrder('b a c')
    expect(await tab.evaluate(focused)).toBe('Move b, number 1 of 3')
    await tab.press('ArrowUp')
    await tab.press('ArrowDown')
    await showsOrder('a b c')
    expect(await readFile(service.file, 'utf8')).toBe(fileOf(['a', 'b', 'c']))
  })

  test('are moved twice by pressing twice, however slowly the service answers', async () => {
    await show(fileOf(['a', 'b', 'c']), 'a b c')
    await tab.setSpeed({ latencyMs: 150, bytesPerSecond: 1_000_000 })
    await tab.evaluate(`document.querySelector('[aria-label="Move c, number 3 of 3"]').focus()`)
    await tab.press('ArrowUp')
    await tab.press('ArrowUp')
    await showsOrder('c a b')
    expect(await tab.text()).not.toContain('changed meanwhile')
    expect(await readFile(service.file, 'utf8')).toBe(fileOf(['c', 'a', 'b']))
  })

  test('are switched off by pointer and on by keyboard', async () => {
    await show(fileOf(['a', 'b', 'c']), 'a b c')
    await tab.click('[aria-label="Ask c"]')
    await tab.waitFor('li:nth-of-type(3) >> text=not asked')
    await said('c is switched off')
    expect(await readFile(service.file, 'utf8')).toBe(fileOf(['a', 'b', 'c'], ['c']))
    await tabTo('Ask c')
    await tab.press('Space')
    await tab.waitFor('[aria-label="Ask c"][aria-checked="true"]')
    expect(await readFile(service.file, 'utf8')).toMatch(
      /"id": "c".*"models": \["m"\](, "enabled": true)? }, \/\/ about c/,
    )
  })

  test('are tested by pointer and by keyboard, with the result in its place', async () => {
    await show(fileOf(['a', 'b', 'c']), 'a b c')
    await choose('a', 'Test now')
    await tab.waitFor('li:nth-of-type(1) >> text=/^Test: Answered in .* \\(model m\\)/')
    await tabTo('More about b')
    await tab.press('Enter')
    await tab.press('Enter')
    await tab.waitFor('li:nth-of-type(2) >> text=/^Test: Failed after .* \\(model m\\): 429 /')
    expect(String(await tab.evaluate(focused))).toBe('More about b')
  })

  test('are not changed when the file has changed meanwhile: it is shown, and can be changed then', async () => {
    await show(fileOf(['a', 'b', 'c']), 'a b c')
    await hide()
    await service.configure(fileOf(['c', 'b', 'a']))
    await choose('b', 'Up')
    await tab.waitFor('text=providers.json was changed meanwhile')
    await said('The change was not made')
    await showsOrder('c b a')
    expect(await readFile(service.file, 'utf8')).toBe(fileOf(['c', 'b', 'a']))
    await tab.click('role=button[name="Move b to place 1 as it is now"]')
    await showsOrder('b c a')
    await tab.waitForGone('text=providers.json was changed meanwhile')
    expect(await tab.evaluate('document.activeElement.id')).toBe('main')
    expect(await readFile(service.file, 'utf8')).toBe(fileOf(['b', 'c', 'a']))
  })

  test('stay unchanged while the file has faults, which are shown by line until they are repaired', async () => {
    await show(fileOf(['a', 'b', 'c']), 'a b c')
    await hide()
    await service.configure('{ "providers": [{ "id": "a", "protocol": "smoke", "base_url": "http://127.0.0.1:9" }] }')
    await untilListed(service, (answer) => pick(answer, 'notice') !== undefined)
    await unhide()
    await tab.waitFor('role=alert >> text=/providers.json:1:\\d+: .*smoke/')
    expect(await tab.evaluate(order)).toBe('a b c')
    await hide()
    await service.configure(fileOf(['c', 'b', 'a']))
    await untilListed(service, (answer) => pick(answer, 'notice') === undefined)
    await unhide()
    await tab.waitForGone('role=alert')
    await showsOrder('c b a')
  }, 20_000)

  test('stay, with their age, when the service cannot be reached', async () => {
    await show(fileOf(['a', 'b', 'c']), 'a b c')
    await person.setOffline(true)
    await hide()
    await unhide()
    await tab.waitFor('text=The service cannot be reached')
    await tab.waitFor('text=/Last updated/')
    expect(await tab.evaluate(order)).toBe('a b c')
    await person.setOffline(false)
    await tab.click('role=button[name="Try again"]')
    await tab.waitForGone('text=The service cannot be reached')
  })

  test('have no timer while the tab is hidden', async () => {
    await service.configure(fileOf(['a', 'b', 'c']))
    await tab.goto(`${service.url}/#/requests`)
    await tab.waitFor('h1 >> text=Requests')
    await tab.evaluate(`(() => {
      const { setInterval, clearInterval } = window
      window.running = new Set()
      window.setInterval = (...given) => { const timer = setInterval(...given); running.add(timer); return timer }
      window.clearInterval = (timer) => { running.delete(timer); clearInterval(timer) }
      location.hash = '#/providers'
    })()`)
    await showsOrder('a b c')
    expect(Number(await tab.evaluate('running.size'))).toBeGreaterThan(3)
    await hide()
    await tab.until('running.size === 0')
    await unhide()
    await tab.until('running.size > 3')
  })

  test('without a file cannot be changed; a key in keys.env, as the page says, adds its provider', async () => {
    await using bare = await startService(undefined)
    await tab.goto(`${bare.url}/#/providers`)
    await tab.waitFor('text=that writes the first providers.json')
    await tab.waitFor('[aria-label^="Ask "]:disabled')
    await tab.click('role=link[name="Add a provider"]')
    await tab.select('main form select', 'hand')
    await tab.waitFor('main >> text=/GROQ_API_KEY=… into/')
    await tab.click('role=link[name="Cancel"]')
    await bare.write('keys.env', { text: 'GROQ_API_KEY=any\n', mode: 0o600 })
    await untilListed(bare, (answer) => pick(answer, 'source') === 'detected')
    await hide()
    await unhide()
    await tab.until(`document.querySelector('[aria-label="Ask groq"]') !== null`)
    expect(await tab.evaluate(order)).toBe('groq')
  }, 20_000)
})

describeInChromium('where people sign in', () => {
  test('users who are not owners can view, and not change', async () => {
    await using rig = await startSignIn(startGithub)
    await rig.service.configure({
      providers: [provider('a', rig.upstream.url), provider('b', rig.upstream.url)],
      owners: ['other-user'],
    })
    const { token } = await rig.signIn()
    await tab.goto(`${rig.service.url}/health`)
    await tab.evaluate(`document.cookie = 'token=${token}; path=/'`)
    await tab.goto(`${rig.service.url}/#/providers`)
    await tab.waitFor('text=Only the owners of this service may change its providers')
    await showsOrder('a b')
    expect(
      await tab.evaluate(`document.querySelectorAll('main [role=switch], main ol button:not([aria-expanded])').length`),
    ).toBe(0)
    expect(await tab.text()).not.toMatch(/Add a provider|Test all/)
  }, 20_000)
})
