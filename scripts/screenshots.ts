import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { personIdAt } from '../src/base/person-entry.ts'
import { usedRequest, batchOf } from '../src/ledger/use/testing.ts'
import { useStore } from '../src/ledger/use/use-store.ts'
import type { RequestRecord } from '../src/observe/record.ts'
import type { Person } from '../src/people/person.ts'
import { personOf } from '../src/people/testing.ts'
import { pick } from '../test/client.ts'
import { startChromium, type Tab } from '../test/fakes/chromium.ts'
import { startGithub } from '../test/fakes/identity/github.ts'
import { startService, type ServiceUnderTest } from '../test/harness.ts'
import { needs } from '../test/needs.ts'
import { settled } from '../test/page/axe.ts'
import { startSignIn, type SignInRig } from '../test/sign-in/rig.ts'

const help = `npm run screenshots [-- FOLDER]

Makes pictures of the main views of the page, light and dark, wide and on a phone. They show a real service with fake
providers, one of which has no free requests left. The pictures go to dist/screenshots/, those of the README and of
docs/page.md also to docs/pictures/. With FOLDER they go there, and none to docs.

npm run screenshots -- --all FOLDER [LANGUAGE]

Makes pictures of every view and state, in windows of 1440, 1024 and 390 pixels, light, dark and in forced colours, in
English or another language of the page, such as de.`

const root = join(import.meta.dir, '..')
const options = process.argv.slice(2),
  isAll = options[0] === '--all'
const [given, language = 'en'] = isAll ? options.slice(1) : options
if (options.includes('--help')) {
  console.log(help)
  process.exit(0)
}
if (given?.startsWith('-') === true || (isAll && given === undefined)) {
  console.error(help)
  process.exit(2)
}
const folder = given ?? join(root, 'dist', 'screenshots')
const chromiumPath = needs('chromium')
if (chromiumPath === undefined) {
  console.error('screenshots need Chromium (on Debian: apt-get install chromium)')
  process.exit(1)
}

const answer = `The \`failover\` function asks one provider **after the other**, and stops at the first answer:

\`\`\`ts
for (const provider of providers) {
  try {
    return await provider.chat(request, call)
  } catch (error) {
    if (call.signal.aborted) throw error // the client has left
    errors.push(error)
  }
}
\`\`\`

What happens next depends on the failure:

| Failure | The next provider is asked |
| --- | --- |
| \`429\` rate limit | yes, and this one rests for a while |
| timeout | yes |
| \`400\` bad request | no: it would fail there as well |
`

/** The first half of a stream, which then goes on with comments. */
async function* halfOf(body: string): AsyncGenerator<string> {
  yield body.slice(0, body.indexOf('\n\n', body.length / 2) + 2)
  for (;;) {
    await Bun.sleep(500)
    yield ': waiting\n\n'
  }
}

/** Starts an upstream for chat completions that answers with the text above, or refuses. */
function upstream(refusal?: {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly message: string
}): Bun.Server<undefined> {
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      if (refusal !== undefined)
        return Response.json({ error: { message: refusal.message, type: 'rate_limit_error' } }, refusal)
      const asked: unknown = await request.json()
      const isHeld = JSON.stringify(asked).includes('half of it')
      const isStream = typeof asked === 'object' && asked !== null && 'stream' in asked && asked.stream === true
      const usage = { prompt_tokens: 412, completion_tokens: 186, total_tokens: 598 }
      if (!isStream)
        return Response.json({
          id: 'made-up',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content: answer }, finish_reason: 'stop' }],
          usage,
        })
      const chunks = [...(answer.match(/.{1,12}/gs) ?? [])].map((content) => ({
        choices: [{ index: 0, delta: { content }, finish_reason: null }],
      }))
      const all = [...chunks, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }, { choices: [], usage }]
      const common = { id: 'made-up', object: 'chat.completion.chunk', created: 1, model: 'm' }
      const body = all.map((chunk) => `data: ${JSON.stringify({ ...common, ...chunk })}\n\n`).join('')
      await Bun.sleep(180)
      if (isHeld) return new Response(halfOf(body), { headers: { 'content-type': 'text/event-stream' } })
      return new Response(`${body}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } })
    },
  })
}

const models = (price: number) => [
  { name: 'llama-4-maverick', context: 131_072, input: ['text', 'image'], price: { input: price, output: price * 4 } },
  { name: 'qwen3-32b', context: 131_072, price: { input: price, output: price * 3 } },
]

const free = upstream({ status: 429, headers: { 'retry-after': '60' }, message: 'Rate limit reached' })
const paid = upstream()
const configuration = {
  providers: [
    { id: 'groq', base_url: `http://127.0.0.1:${free.port}/v1`, models: models(0) },
    {
      id: 'openrouter',
      base_url: `http://127.0.0.1:${paid.port}/v1`,
      models: [...models(0.15), { name: 'deepseek-v4', context: 163_840, price: { input: 0.27, output: 1.1 } }],
    },
    {
      id: 'openai',
      base_url: `http://127.0.0.1:${paid.port}/v1`,
      api_key: '$NO_SUCH_KEY',
      models: [{ name: 'gpt-6-mini', context: 400_000, input: ['text', 'image'], price: { input: 0.25, output: 2 } }],
    },
    { id: 'ollama', enabled: false, base_url: 'http://127.0.0.1:9/v1', models: ['qwen3-32b'] },
  ],
}

interface Look {
  readonly name: string
  readonly colorScheme: 'light' | 'dark'
  readonly viewport: { readonly width: number; readonly height: number }
  readonly hasTouch: boolean
  readonly locale: string
  readonly forcedColors?: 'active'
}

const sizes = isAll
  ? { '1440': [1440, 900], '1024': [1024, 768], '390': [390, 844] }
  : { wide: [1280, 860], phone: [390, 844] }
const schemes = isAll ? (['light', 'dark', 'forced'] as const) : (['light', 'dark'] as const)
const looks: readonly Look[] = schemes.flatMap((scheme) =>
  Object.entries(sizes).map(([size, [width = 0, height = 0]]) => ({
    name: `${scheme}-${size}`,
    colorScheme: scheme === 'dark' ? 'dark' : 'light',
    ...(scheme === 'forced' ? { forcedColors: 'active' } : {}),
    viewport: { width, height },
    hasTouch: width < 400,
    locale: language,
  })),
)

/** Views in docs/page.md. */
const ofPage = ['providers', 'provider-form', 'request', 'usage', 'limits']

await mkdir(folder, { recursive: true })
const chromium = await startChromium(chromiumPath)

async function picture(tab: Tab, name: string): Promise<void> {
  await tab.evaluate(settled)
  await tab.screenshot(join(folder, `${name}.png`))
  console.log(`${name}.png`)
}

async function ask(tab: Tab, text: string): Promise<void> {
  await tab.fill('#message', text)
  await tab.press('Control+Enter')
  await tab.waitFor('article summary')
  await tab.waitFor('[class^="code-"]')
}

async function views(service: ServiceUnderTest, look: Look): Promise<void> {
  const tab = chromium.person(look).tab()
  await tab.goto(`${service.url}/`)
  await tab.waitFor('#message')
  await picture(tab, `new-${look.name}`)
  await ask(tab, 'How does failover work here? Show me the loop.')
  await picture(tab, `chat-${look.name}`)
  await tab.press('Control+/')
  await tab.waitFor('[role="listbox"]')
  await picture(tab, `models-${look.name}`)
  await tab.press('Escape')
  await tab.goto(`${service.url}/#/providers`)
  await tab.waitFor('text=openrouter')
  await picture(tab, `providers-${look.name}`)
  await tab.goto(`${service.url}/#/requests`)
  await tab.waitFor('[role="row"] >> text=llama-4-maverick')
  await picture(tab, `requests-${look.name}`)
  await tab.click('[data-key] >> nth=0')
  await tab.waitFor('main dl code')
  await picture(tab, `request-${look.name}`)
  await tab.goto(`${service.url}/#/models`)
  await tab.waitFor('main li')
  await picture(tab, `model-list-${look.name}`)
  await tab.goto(`${service.url}/#/providers/add`)
  await tab.waitFor('main form select')
  await tab.select('main form select', 'mistral')
  await tab.waitFor('main input[type=password]')
  await picture(tab, `provider-form-${look.name}`)
}

const rich = `# Waves

The energy of a photon is $E = h\\nu$, and the integral of a bell curve:

$$\\int_{-\\infty}^{\\infty} e^{-x^2}\\,dx = \\sqrt{\\pi}$$

> [!NOTE]
> Both are exact.

\`\`\`html
<h1>Hello</h1>
<p>A page of two lines.</p>
\`\`\`
`

/** A conversation with pictures of what is rare, for an import. */
const imported = JSON.stringify({
  format: 'svc-conversations',
  version: 1,
  exported: '2026-11-21T12:00:00.000Z',
  conversations: [
    ['rich', 'Waves', rich],
    ...Array.from({ length: 12 }, (_, index) => [`old-${index}`, `An older conversation, number ${index}`, 'Yes.']),
  ].map(([id, title, text], index) => ({
    id,
    title,
    isTitled: true,
    isPinned: index === 1,
    created: Date.now() - index * 40_000_000,
    updated: Date.now() - index * 40_000_000,
    settings: { system: '', parameters: {} },
    messages: [
      { role: 'user', id: `${id}-1`, time: 1, text: title, images: [] },
      { role: 'assistant', id: `${id}-2`, time: 2, text, reasoning: 'Let me think.', status: 'complete' },
    ],
  })),
})

/** Views and states that are not in the documents. Selectors have no words, so that they fit every language. */
async function otherViews(service: ServiceUnderTest, look: Look): Promise<void> {
  const tab = chromium.person(look).tab()
  const isPhone = look.hasTouch
  const shot = (name: string): Promise<void> => picture(tab, `${name}-${look.name}`)
  await tab.goto(`${service.url}/`)
  await tab.waitFor('#message')
  await tab.press('Control+.')
  await tab.waitFor('dialog textarea')
  await tab.until(`document.querySelector('dialog').innerText.length > 200`)
  await shot('settings')
  await tab.click('dialog summary >> nth=0')
  await shot('settings-advanced')
  await tab.press('Escape')
  await tab.evaluate('document.activeElement.blur()')
  await tab.press('?')
  await tab.waitFor('dialog[open] kbd')
  await shot('keys-of-the-page')
  await tab.press('Escape')
  await tab.fill('#message', 'And half of it?')
  await tab.press('Control+Enter')
  await tab.waitFor('article pre')
  await shot('streaming')
  await tab.press('Escape')
  await tab.waitFor('article:last-of-type [aria-haspopup="menu"]')
  await tab.click('article:last-of-type [aria-haspopup="menu"] >> nth=-1')
  await shot('menu-of-an-answer')
  await tab.press('Escape')
  await tab.goto(`${service.url}/#/compare`)
  await tab.waitFor('#message')
  await shot('compare-empty')
  await tab.fill('#message', 'What is it?')
  await tab.press('Control+Enter')
  await tab.waitFor('article summary')
  await shot('compare')
  await tab.goto(`${service.url}/#/`)
  await tab.waitFor('#message')
  if (isPhone) await tab.click('[aria-controls="sidebar"]')
  await tab.waitFor('#sidebar')
  const file = join(tmpdir(), `svc-screenshots-${process.pid}.json`)
  await Bun.write(file, imported)
  await tab.setFiles('#sidebar input[type=file]', [file])
  await tab.waitFor('dialog[open]')
  await tab.until(`/\\b13\\b/.test(document.querySelector('dialog[open]').innerText)`)
  await shot('import')
  await tab.press('Escape')
  await shot('drawer')
  await tab.goto(`${service.url}/#/chat/rich`)
  await tab.reload()
  await tab.waitFor('math')
  await tab.click('article button[aria-pressed] >> nth=0')
  // A preview is as high as its content when it has been drawn.
  await tab.until(`parseInt(document.querySelector('iframe')?.style.height) > 80`)
  await shot('rich')
  await tab.goto(`${service.url}/#/chat/none`)
  await tab.waitFor('main')
  await shot('no-such-conversation')
  await tab.goto(`${service.url}/#/nothing`)
  await tab.waitFor('main')
  await shot('no-such-view')
}

/** An error in place of an answer, and the views of a service without requests and with a failing provider alone. */
async function failures(look: Look): Promise<void> {
  await using service = await startService({ providers: configuration.providers.slice(0, 1) })
  const tab = chromium.person(look).tab()
  await tab.goto(`${service.url}/#/requests`)
  await tab.waitFor('main h1')
  await picture(tab, `requests-empty-${look.name}`)
  await tab.goto(`${service.url}/`)
  await tab.waitFor('#message')
  await tab.fill('#message', 'Hello')
  await tab.press('Control+Enter')
  await tab.waitFor('[role="alert"]')
  await tab.click('[role="alert"] summary')
  await picture(tab, `error-${look.name}`)
  await using empty = await startService({ providers: [] })
  await tab.goto(`${empty.url}/`)
  await tab.waitFor('main')
  await picture(tab, `first-use-${look.name}`)
  await tab.goto(`${empty.url}/#/providers`)
  await tab.waitFor('main h1')
  await picture(tab, `providers-empty-${look.name}`)
}

const people = ['ada', 'grace', 'linus']
const dayMs = 86_400_000

/** Use of four weeks, by these people. */
async function writeUse(home: string, users: readonly Pick<RequestRecord, 'user' | 'person'>[]): Promise<void> {
  const store = useStore({
    path: join(home, 'svc.db'),
    rowsPath: join(home, 'requests.db'),
    zone: 'UTC',
    lockMs: 5_000,
  })
  const models = [
    ['gpt-6-mini', 'openai', 38_000_000],
    ['claude-sonnet-5', 'anthropic', 27_000_000],
    ['llama-4-maverick', 'openrouter', 3_000_000],
    ['qwen3-32b', 'groq', 0],
  ] as const
  const records = Array.from({ length: 1_200 }, (_, index) => {
    const [listedAs, provider, nanoUsd] = models[(index * 7 + Math.floor(index / 50)) % models.length] ?? models[0]
    return usedRequest({
      time: Date.now() - Math.floor((((index * 37) % 1_200) / 1_200) * 28 * dayMs) - 60_000,
      listedAs,
      provider,
      ...users[(index * 5) % users.length],
      usage: { promptTokens: 1_400, completionTokens: 420, totalTokens: 1_820, cachedTokens: 300 },
      cost: { nanoUsd, source: provider === 'openrouter' ? 'reported' : 'list' },
      ...(index % 40 === 0 ? { status: 502, error: 'provider_error' } : {}),
    })
  })
  await store.write([batchOf(1, records)])
  await store.close()
}

const access = {
  time_zone: 'Europe/Berlin',
  limits: [
    { for: 'everyone', usd: 200, per: 'month', models: ['gpt-6*', 'claude*'] },
    { for: 'each person', requests: 200, tokens: 400_000, per: 'hour' },
    { for: 'team:search', at_once: 8 },
  ],
  teams: { search: { leads: ['ada'], members: ['grace'] } },
}

/** A service with sign-in, keys, limits and some use, and the token of its owner. */
async function startTeam(): Promise<{ readonly rig: SignInRig; readonly token: string }> {
  const rig = await startSignIn(startGithub, {
    flags: ['--auth', 'keys'],
    owners: ['ada'],
    files: { 'access.json': JSON.stringify(access) },
  })
  const users: { readonly user: string; readonly person: Person; readonly token: string }[] = []
  for (const person of people.toReversed()) {
    const { token } = await rig.signIn(person)
    const { json } = await rig.get('/auth', { 'x-session-token': token })
    const userId = String(pick(json, 'userId'))
    const subject = personIdAt(`${String(rig.provider.config['base_url'])}/login/oauth/authorize`, userId)
    users.push({ user: person, person: personOf({ user: person, userId, subject }), token })
  }
  await writeUse(rig.service.home, users)
  let token = ''
  for (const person of users) {
    ;({ token } = person)
    for (let round = 0; round < 3 * person.user.length; round += 1) await rig.ask({ 'x-session-token': token })
    for (const name of ['laptop', 'nightly job'])
      await fetch(`${rig.service.url}/api/keys`, {
        method: 'POST',
        headers: { 'x-session-token': token, 'content-type': 'application/json' },
        body: JSON.stringify({ name, models: ['gpt-6*'] }),
      })
  }
  return { rig, token }
}

/** The views of a service with sign-in and keys, as its owner sees them. */
async function teamViews({ rig, token }: Awaited<ReturnType<typeof startTeam>>, look: Look): Promise<void> {
  const tab = chromium.person(look).tab()
  await tab.goto(`${rig.service.url}/health`)
  await tab.evaluate(`document.cookie = 'token=${token}; path=/'`)
  for (const [view, sign] of [
    ['usage', 'main table'],
    ['keys', 'main li'],
    ['keys/new', 'main form'],
    ['limits', 'main li h2'],
    ['limits/new', 'main section[aria-label]'],
    ['people', 'main li'],
    ['audit', 'main ol li'],
  ] as const) {
    await tab.goto(`${rig.service.url}/#/${view}`)
    await tab.waitFor(sign)
    if (view === 'usage') {
      await tab.select('main select:has(option[value="30d"])', '30d')
      await tab.until(`document.querySelector('main table')?.innerText.includes('qwen3-32b') === true`)
    }
    await picture(tab, `${view.replace('/', '-')}-${look.name}`)
  }
}

async function signIn(service: ServiceUnderTest, look: Look): Promise<void> {
  const tab = chromium.person(look).tab()
  await tab.goto(`${service.url}/`)
  await tab.waitFor('form[action^="/auth/"]')
  await picture(tab, `sign-in-${look.name}`)
}

try {
  await using closed = await startService(configuration, {
    flags: ['--auth', 'provider_auth'],
    files: { 'users/default/provider_auth/config.json': '{}' },
  })
  const team = await startTeam()
  await using _ = team.rig
  for (const look of looks) {
    // A separate service, without failures so far.
    await using open = await startService(configuration)
    await views(open, look)
    await signIn(closed, look)
    await teamViews(team, look)
    if (!isAll) continue
    await otherViews(open, look)
    await failures(look)
  }
  if (given === undefined) {
    await mkdir(join(root, 'docs', 'pictures'), { recursive: true })
    for (const name of ['chat-light', 'chat-dark', ...ofPage.map((view) => `${view}-light`)])
      await Bun.write(join(root, 'docs', 'pictures', `${name}.png`), Bun.file(join(folder, `${name}-wide.png`)))
  }
} finally {
  await chromium.close()
  await free.stop(true)
  await paid.stop(true)
}
