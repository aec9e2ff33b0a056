import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pdfOf } from '../../web/files/testing.ts'
import { realImages } from '../../web/images/testing.ts'
import { parseJson, pick } from '../client.ts'
import type { Tab } from '../fakes/chromium.ts'
import { good } from '../fakes/good.ts'
import { startRig, type Rig } from '../rig.ts'
import { violationsOf } from './axe.ts'
import { describeInChromium, inChromium } from './in-chromium.ts'

const models = [
  { name: 'm', context: 2_000, input: ['text'] },
  { name: 'wide', context: 100_000, input: ['text'] },
  { name: 'sees', context: 50_000, input: ['text', 'image'] },
]

let rig: Rig, tab: Tab, folder: string
inChromium(
  () => startRig([good()], { each: { a: { models } } }),
  async (scene) => {
    ;({ rig, tab } = scene)
    await tab.goto(`${rig.service.url}/`)
    await tab.waitFor('button[aria-haspopup="dialog"]:has-text("Model: m")')
  },
)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-files-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Picks files of these names and contents. */
async function pickFiles(files: Readonly<Record<string, Uint8Array | string>>): Promise<void> {
  await tab.setFiles('input[aria-label="Files"]', await written(files))
}

function written(files: Readonly<Record<string, Uint8Array | string>>): Promise<readonly string[]> {
  return Promise.all(
    Object.entries(files).map(async ([name, content]) => {
      const path = join(folder, name)
      await writeFile(path, content)
      return path
    }),
  )
}

/** Sends the message. @returns the messages at the upstream */
async function sent(text: string, answers: number): Promise<unknown> {
  const hit = rig.upstreams[0]?.nextHit()
  if (text !== '') await tab.fill('#message', text)
  await tab.click('[aria-label="Send"]')
  const body = parseJson(new TextDecoder().decode((await hit)?.body))
  await tab.waitFor(`[role="log"] article:nth-of-type(${2 * answers}) >> text=good-2`).catch(() => undefined)
  return pick(body, 'messages')
}

/** Waits until the draft with this text is in the browser's database, a moment after its last change. */
async function draftSaved(text: string): Promise<void> {
  await tab.evaluate(`(async () => {
    const [{ name }] = await indexedDB.databases()
    const opening = indexedDB.open(name)
    await new Promise((resolve) => (opening.onsuccess = resolve))
    for (;;) {
      const asking = opening.result.transaction('drafts').objectStore('drafts').getAll()
      await new Promise((resolve) => (asking.onsuccess = resolve))
      if (JSON.stringify(asking.result).includes(${JSON.stringify(text)})) return opening.result.close()
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()`)
}

const chips = (): Promise<unknown> =>
  tab.evaluate(
    `[...document.querySelectorAll('ul[aria-label="Files"] li')]
      .map((each) => each.innerText.replaceAll('\\n', ' ')).join('|')`,
  )

describeInChromium('files', () => {
  test('of text and PDF are shown with their tokens, can be read, removed by key, and reach the provider', async () => {
    await pickFiles({
      'figures.csv': 'day,sum\n1,2\n',
      'report.pdf': pdfOf(['First page', 'Second page']),
      'page.html': '<img src=x onerror="document.title=1"><script>document.title=2</script>',
    })
    await tab.waitFor('[aria-label="Remove page.html"]')
    expect(await chips()).toMatch(
      /^Show figures\.csv ≈ 3 tokens\|Show report\.pdf ≈ 6 tokens\|Show page\.html ≈ 18 tokens$/,
    )
    expect(await violationsOf(tab)).toEqual([])
    await tab.evaluate(`document.querySelector('ul[aria-label="Files"] li:nth-child(3) button').focus()`)
    await tab.press('Enter')
    await tab.waitFor('dialog >> text=onerror')
    expect(await violationsOf(tab)).toEqual([])
    await tab.press('Escape')
    await tab.waitForGone('dialog')
    await tab.press('Tab')
    await tab.press('Enter')
    await tab.waitForGone('[aria-label="Remove page.html"]')
    expect(await sent('Sum it up', 1)).toEqual([
      {
        role: 'user',
        content:
          'File figures.csv:\n```csv\nday,sum\n1,2\n```\n\n' +
          'File report.pdf:\n```\nFirst page\n\nSecond page\n```\n\nSum it up',
      },
    ])
    await tab.waitForGone('[aria-label^="Remove"]')
    expect(await chips()).toMatch(/^Show figures\.csv.*Show report\.pdf/s)
    expect([await tab.evaluate('document.title'), await tab.complaints()]).toEqual([
      expect.stringContaining('Sum it up'),
      [],
    ])
  })

  test('that are dropped or pasted do as well; they survive a reload, an edit and a fork', async () => {
    await tab.dropFiles('#message', await written({ 'a.md': '# One' }))
    await tab.waitFor('[aria-label="Remove a.md"]')
    await tab.evaluate(`(() => {
      const clipboardData = new DataTransfer()
      clipboardData.items.add(new File(['two'], 'b.txt', { type: 'text/plain' }))
      document.querySelector('#message').dispatchEvent(
        new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
    })()`)
    await tab.waitFor('[aria-label="Remove b.txt"]')
    await draftSaved('b.txt')
    await tab.reload()
    await tab.waitFor('[aria-label="Remove b.txt"]')
    const both = 'File a.md:\n```md\n# One\n```\n\nFile b.txt:\n```txt\ntwo\n```'
    expect(pick(await sent('', 1), 0, 'content')).toBe(both)
    await tab.waitFor('text=good-2')
    await tab.reload()
    await tab.waitFor('text=good-2')
    await tab.click('[aria-label="Edit message"]')
    await tab.waitFor('form [aria-label="Remove a.md"]')
    await tab.click('form [aria-label="Remove a.md"]')
    const hit = rig.upstreams[0]?.nextHit()
    await tab.click('form:has([aria-label="Remove b.txt"]) >> text=Send')
    const body = parseJson(new TextDecoder().decode((await hit)?.body))
    expect(pick(body, 'messages', 0, 'content')).toBe('File b.txt:\n```txt\ntwo\n```')
  })

  test('that cannot be sent are refused with their names and why', async () => {
    await pickFiles({
      'empty.txt': '',
      'tool.exe': Uint8Array.of(0x4d, 0x5a, 0, 0, 1),
      'cut.pdf': '%PDF-1.7\nnothing',
      'scan.pdf': pdfOf(['']),
      'good.txt': 'good',
    })
    await tab.waitFor('[aria-label="Remove good.txt"]')
    const text = await tab.textOf('main [role="alert"]')
    for (const words of [
      'empty.txt: It is empty.',
      'tool.exe: It is neither text, nor a PDF',
      'cut.pdf: It is a damaged PDF.',
      'scan.pdf: It has no text',
    ])
      expect(text).toContain(words)
  })

  test('that the model does not take come with one that does', async () => {
    await pickFiles({ 'long.txt': 'word '.repeat(2_000) })
    await tab.waitFor('text=m takes 2k tokens, and these are about 3k.')
    await tab.click('text=Use wide')
    await tab.waitFor('button[aria-haspopup="dialog"]:has-text("Model: wide")')
    await tab.waitForGone('text=takes 2k tokens')
    await pickFiles({ 'a.png': realImages.png.bytes })
    await tab.waitFor('text=wide does not read pictures.')
    expect(await violationsOf(tab)).toEqual([])
    await tab.evaluate(`[...document.querySelectorAll('button')].find((each) => each.innerText === 'Use sees').focus()`)
    await tab.press('Enter')
    await tab.waitFor('button[aria-haspopup="dialog"]:has-text("Model: sees")')
    await tab.waitForGone('text=does not read pictures')
    expect(pick(await sent('What?', 1), 0, 'content', 1, 'type')).toBe('image_url')
  })
})
