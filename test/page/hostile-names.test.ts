import { afterEach, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chat, question } from '../client.ts'
import type { Person, Tab } from '../fakes/chromium.ts'
import { ask, converse, chooseModel, lastMessage, openConversation, said } from './conversation.ts'
import { noHarm, saying, standsInOrder, startHostile, type HostileRig } from './hostile-rig.ts'
import { hostileNames, hostileTexts } from './hostile.ts'
import { describeInChromium, inChromium } from './in-chromium.ts'

let rig: HostileRig, person: Person, tab: Tab
inChromium(startHostile, (scene) => {
  ;({ rig, person, tab } = scene)
  rig.upstream.use(saying(hostileTexts(rig.decoy).slice(0, 3).join('\n\n'), { decoy: rig.decoy }))
})

const list = 'nav[aria-label="Conversations"]'
const fits = 'document.documentElement.scrollWidth <= innerWidth'

/** Chooses a line from the menu of the latest conversation. */
async function choose(line: string): Promise<void> {
  await tab.click(`${list} >> [aria-label^="More for"]`)
  await tab.click(`role=menuitem[name="${line}"]`)
}

describeInChromium('with markup or marks of direction in them', () => {
  afterEach(async () => {
    expect(await rig.harm(person, tab)).toEqual(noHarm)
  })

  test('names of models are text in the picker, below answers, among the requests and the providers', async () => {
    const [markup = '', reversed = '', long = ''] = hostileNames(rig.decoy)
    await openConversation(tab, rig.service.url)
    await chooseModel(tab, '<img src')
    expect(await tab.textOf('button:has-text("Model: ")')).toContain(markup)
    await converse(tab, 'Tell me')
    expect(await tab.textOf(`${lastMessage} >> summary`)).toContain(markup)
    await chooseModel(tab, 'longlong')
    await converse(tab, 'Again')
    expect(await tab.evaluate(fits)).toBe(true)
    // Names that only look like another one are not listed.
    await tab.press('Control+/')
    await tab.waitFor('[role="option"]')
    expect(
      await tab.evaluate(
        `[...document.querySelectorAll('[role="option"]')].some(({ textContent }) => textContent.includes('safe'))`,
      ),
    ).toBe(false)
    await tab.press('Escape')

    for (const model of [markup, reversed, long, `${rig.decoy}/<b>`])
      await chat(rig.service.url, question({ model }), { headers: { 'x-request-id': '<script>1</script>' } })
    await tab.goto(`${rig.service.url}/#/requests`)
    await tab.click('[data-key]:has-text("<img src") >> nth=0')
    await tab.waitFor('main >> text=Request id')
    expect(await tab.textOf('main')).toContain(markup)
    expect(await tab.textOf('main')).not.toContain('<script>')
    expect(await tab.evaluate(fits)).toBe(true)
    await tab.goto(`${rig.service.url}/#/providers`)
    await tab.click('main li h2 button >> nth=0')
    await tab.waitFor('li:nth-of-type(1) >> text=<img src')
  }, 20_000)

  test('errors of providers are text: in place of an answer, in the list of providers, and after a test', async () => {
    await openConversation(tab, rig.service.url)
    await chooseModel(tab, 'broken')
    await ask(tab, 'Tell me')
    await tab.click('[role="alert"] >> summary')
    await tab.waitFor('[role="alert"] >> text=/Failed <img src=x onerror=/')
    await tab.goto(`${rig.service.url}/#/providers`)
    await tab.click('li:nth-of-type(2) >> h2 button')
    await tab.waitFor('li:nth-of-type(2) >> text=/Failed <img src=x onerror=/')
    expect(await tab.evaluate(standsInOrder('li:nth-of-type(2)', ', model broken'))).toBe(true)
    await tab.click('[aria-label="More about b"]')
    await tab.click('role=menuitem[name="Test now"]')
    await tab.waitFor('li:nth-of-type(2) >> text=/^Test: Failed/')
    expect(await tab.textOf('li:nth-of-type(2)')).not.toMatch(/[\u202A-\u202E]/)
    await tab.goto(`${rig.service.url}/#/requests`)
    await tab.waitFor('[data-key] >> text=broken')
  }, 20_000)

  test('titles are text in the list, when searched, renamed, and exported', async () => {
    await openConversation(tab, rig.service.url)
    await converse(tab, '<img src=x onerror=window.hostileRan=1> \u202Edesrever')
    await tab.waitFor(`${list} >> [data-row] >> text=<img src=x onerror=window.hostileRan=1> desrever`)
    expect(await tab.evaluate('document.title')).toBe('<img src=x onerror=window.hostileRan=1> desrever · svc')
    await tab.fill(`${list} >> input[type=search]`, '<script>window')
    await tab.waitFor(`${list} >> mark`)
    await tab.fill(`${list} >> input[type=search]`, '')
    await choose('Rename')
    await tab.type('../../<b>x</b> \u202Egnp.exe\u0000')
    await tab.press('Enter')
    await tab.waitFor(`${list} >> [data-row] >> text=../../<b>x</b> gnp.exe`)
    await tab.click(`${list} >> [aria-label^="More for"]`)
    const { name, text } = await tab.download('role=menuitem[name="Export as Markdown"]')
    expect(name).toMatch(/^[a-z0-9-]+\.md$/)
    expect(text.split('\n')[0]).toBe('# ../../\\<b\\>x\\</b\\> gnp.exe')
    expect(text).toContain('<script>window.hostileRan=1')
  }, 20_000)

  test('imported conversations are text, and malformed ones are refused', async () => {
    const image = (id: string, dataUrl: string): object => ({ id, name: '<b>', dataUrl, width: 1, height: 1 })
    const conversation = (id: string, text: string, ...images: readonly object[]): object => ({
      id,
      title: '<b>brought</b> \u202Ein',
      isTitled: true,
      isPinned: false,
      created: 1,
      updated: 1,
      settings: { system: text, parameters: {} },
      messages: [{ role: 'user', id: `${id}-1`, time: 1, text, images }],
    })
    const script = '<script>window.hostileRan=1</script>'
    const svg = `<svg xmlns="http://www.w3.org/2000/svg"><image href="${rig.decoy}/svg.png"/>${script}</svg>`
    const conversations = [
      conversation('../../x', 'brought'),
      conversation('fine', `brought ${hostileTexts(rig.decoy).join('\n\n')}`),
      conversation('remote', 'brought', image('1', `${rig.decoy}/imported.png`)),
      conversation('svg', 'brought', image('2', `data:image/svg+xml;base64,${btoa(svg)}`)),
    ]
    const folder = await mkdtemp(join(tmpdir(), 'svc-hostile-')),
      path = join(folder, '<img src=x>.json')
    await writeFile(path, JSON.stringify({ format: 'svc-conversations', version: 1, exported: '', conversations }))
    await tab.goto(`${rig.service.url}/#/`)
    await tab.setFiles(`${list} >> input[type=file]`, [path])
    await tab.waitFor('dialog >> text=<img src=x>.json')
    await rm(folder, { recursive: true })
    for (const id of ['fine', 'remote', 'svg']) {
      await tab.goto(`${rig.service.url}/#/chat/${id}`)
      await tab.waitFor(id === 'fine' ? said('/^brought/') : 'text=There is no such conversation')
      expect(await rig.harm(person, tab)).toEqual(noHarm)
    }
  }, 20_000)

  test('names and texts of attached files are text, in the message, in a question and in its file', async () => {
    const markup = '<img src=x onerror=window.hostileRan=1>'
    const folder = await mkdtemp(join(tmpdir(), 'svc-hostile-'))
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="window.hostileRan=1"><script>1</script></svg>`
    const files = [`${markup}.txt`, '\u202Etxt.svg', '"onload="window.hostileRan=1".html', '```\n# x.md']
    const paths = files.map((name) => join(folder, name))
    for (const path of paths)
      await writeFile(
        path,
        `${svg}\n\`\`\`\n${hostileTexts(rig.decoy)
          .join('\n\n')
          .replaceAll(/[\0-\x08\x0b-\x1f]/g, '')}`,
      )
    await openConversation(tab, rig.service.url)
    await tab.setFiles('input[aria-label="Files"]', paths)
    await tab.until(`document.querySelectorAll('form ul[aria-label="Files"] li').length === ${files.length}`)
    await converse(tab, 'Read them')
    await rm(folder, { recursive: true })
    await tab.click('article ul[aria-label="Files"] button >> nth=0')
    await tab.waitFor('dialog >> text=<svg xmlns')
    expect(await rig.harm(person, tab)).toEqual(noHarm)
  }, 20_000)

  test('presets, folders and tool calls of imports are text, where they are listed, used and edited', async () => {
    const markup = '<img src=x onerror=window.hostileRan=1>'
    const all = `${markup} [a](javascript:window.hostileRan=1) {{${markup}}} \u202E`
    const shared = { description: all, system: all, prompt: all, model: markup, parameters: { temperature: 0 } }
    const presets = join(rig.service.home, 'presets.json')
    await writeFile(presets, JSON.stringify({ presets: { bad: shared } }))
    await openConversation(tab, rig.service.url)
    await tab.fill('#message', '/')
    await tab.waitFor('[role="option"] >> text=bad')
    await tab.press('Enter')
    await tab.until(`document.querySelector('#message').value.startsWith('<img')`)
    await tab.press('Control+.')
    await tab.waitFor('dialog >> text=bad')
    expect(await rig.harm(person, tab)).toEqual(noHarm)
    await tab.press('Escape')
    await rm(presets)
    const conversation = {
      id: 'kept',
      title: 'kept',
      folder: markup,
      isTitled: true,
      isPinned: false,
      created: 1,
      updated: 1,
      settings: { model: markup, system: markup, parameters: { stop: [markup] } },
      messages: [
        { role: 'user', id: 'k1', time: 1, text: markup, images: [] },
        {
          role: 'assistant',
          id: 'k2',
          time: 2,
          text: all,
          reasoning: all,
          status: 'failed',
          error: { kind: 'wire', status: 400, type: markup, code: markup, param: markup, message: all },
          finishReason: markup,
          logprobs: [{ token: markup, logprob: -1, top: [] }],
          provenance: {
            requestId: markup,
            provider: markup,
            model: markup,
            trail: [{ provider: markup, failure: markup, status: 400, ms: 1 }],
          },
        },
      ],
    }
    const folder = await mkdtemp(join(tmpdir(), 'svc-hostile-')),
      path = join(folder, 'kept.json')
    await writeFile(
      path,
      JSON.stringify({ format: 'svc-conversations', version: 1, exported: '', conversations: [conversation] }),
    )
    await tab.setFiles(`${list} >> input[type=file]`, [path])
    await tab.waitFor('dialog >> text=kept.json')
    await tab.press('Escape')
    await rm(folder, { recursive: true })
    await tab.goto(`${rig.service.url}/#/chat/kept`)
    await tab.click('[role="alert"] summary')
    await tab.waitFor(`[role="alert"] >> text=${markup}`)
    expect(await tab.evaluate(fits)).toBe(true)
  }, 20_000)

  test('the names, address and picture of a person, and of the service, are text', async () => {
    const markup = '<img src=x onerror=window.hostileRan=1>'
    const user = {
      id: markup,
      userName: `${markup} \u202Edesrever`,
      displayName: `${markup} "onload="window.hostileRan=1`,
      email: `${markup}@x.test`,
    }
    for (const avatarUrl of [
      'javascript:window.hostileRan=1',
      'data:text/html,<script>parent.hostileRan=1</script>',
      `${rig.decoy}/avatar.png`,
    ]) {
      const boot = { version: '1', isClosed: false, isOwner: false, user: { ...user, avatarUrl }, parts: [] }
      await person.answer('**/api/boot', { contentType: 'application/json', body: JSON.stringify(boot) })
      await tab.goto(`${rig.service.url}/`)
      await tab.reload()
      await tab.click('[aria-label^="Account of"]')
      await tab.waitFor(`text=${markup}@x.test`)
      expect(await rig.harm(person, tab)).toEqual(noHarm)
    }
  }, 20_000)
})
