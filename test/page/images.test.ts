import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'
import { readImageHeader } from '../../web/images/image-header.ts'
import { big, bytesOf, exif, pngHead, realImages } from '../../web/images/testing.ts'
import { parseJson, pick } from '../client.ts'
import type { Tab } from '../fakes/chromium.ts'
import { good } from '../fakes/good.ts'
import { startRig, type Rig } from '../rig.ts'
import { violationsOf } from './axe.ts'
import { describeInChromium, inChromium } from './in-chromium.ts'

let rig: Rig, tab: Tab, folder: string
inChromium(
  () => startRig([good()]),
  async (scene) => {
    ;({ rig, tab } = scene)
    await tab.goto(`${rig.service.url}/`)
    await tab.waitFor('button[aria-haspopup="dialog"]:has-text("Model: m")')
  },
)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-pictures-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Makes a PNG of one colour. */
function png(width: number, height: number): Uint8Array<ArrayBuffer> {
  const chunk = (name: string, data: Uint8Array) =>
    bytesOf(big(data.length, 4), name, data, big(crc32(bytesOf(name, data)), 4))
  const rows = new Uint8Array(height * (1 + width * 3)).fill(120)
  for (let row = 0; row < height; row += 1) rows[row * (1 + width * 3)] = 0
  return bytesOf(
    '\x89PNG\r\n\x1a\n',
    chunk('IHDR', bytesOf(big(width, 4), big(height, 4), [8, 2, 0, 0, 0])),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', new Uint8Array()),
  )
}

/** Writes files of these names and bytes. @returns their paths */
function written(files: Readonly<Record<string, Uint8Array>>): Promise<readonly string[]> {
  return Promise.all(
    Object.entries(files).map(async ([name, bytes]) => {
      const path = join(folder, name)
      await writeFile(path, bytes)
      return path
    }),
  )
}

/** Picks files of these names and bytes. */
async function pickFiles(files: Readonly<Record<string, Uint8Array>>): Promise<void> {
  await tab.setFiles('input[aria-label="Files"]', await written(files))
}

/** Drops a picture on the page, or pastes it. */
async function bring(event: 'paste' | 'drop', name: string, bytes: Uint8Array): Promise<void> {
  await tab.evaluate(`(() => {
    const carried = new DataTransfer()
    const bytes = Uint8Array.from(atob('${bytes.toBase64()}'), (sign) => sign.charCodeAt(0))
    carried.items.add(new File([bytes], '${name}', { type: 'image/png' }))
    const target = document.querySelector('#message'), always = { bubbles: true, cancelable: true }
    if ('${event}' === 'paste') target.dispatchEvent(new ClipboardEvent('paste', { clipboardData: carried, ...always }))
    else for (const type of ['dragenter', 'dragover', 'drop'])
      target.dispatchEvent(new DragEvent(type, { dataTransfer: carried, ...always }))
  })()`)
}

/** Sends the message. @returns its content at the upstream */
async function sent(text = 'What is this?'): Promise<unknown> {
  const hit = rig.upstreams[0]?.nextHit()
  await tab.fill('#message', text)
  await tab.press('Enter')
  const body = parseJson(new TextDecoder().decode((await hit)?.body))
  await tab.waitFor('text=good-2')
  return pick(body, 'messages', 0, 'content')
}

/** Kind and size of the picture at a position of the content, by its bytes. */
function pictureAt(
  content: unknown,
  index: number,
): { readonly type: string; readonly header: ReturnType<typeof readImageHeader> } {
  const [, type = '', data = ''] =
    /^data:(image\/\w+);base64,(.+)$/.exec(String(pick(content, index, 'image_url', 'url'))) ?? []
  return { type, header: readImageHeader(Uint8Array.fromBase64(data)) }
}

describeInChromium('pictures', () => {
  test('that are picked reach the provider as they are, after the text', async () => {
    await pickFiles({ 'a.png': realImages.png.bytes, 'b.gif': realImages.gif.bytes })
    await tab.waitFor('[aria-label="Remove b.gif"]')
    expect(await sent()).toEqual([
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${realImages.png.bytes.toBase64()}` } },
      { type: 'image_url', image_url: { url: `data:image/gif;base64,${realImages.gif.bytes.toBase64()}` } },
    ])
    await tab.waitForGone('[aria-label^="Remove"]')
    expect(await tab.evaluate(`[...document.querySelectorAll('main img')].map((each) => each.alt).join(' ')`)).toBe(
      'a.png b.gif',
    )
    expect(await tab.complaints()).toEqual([])
  })

  test('that are pasted or dropped do as well, and need no text', async () => {
    const hit = rig.upstreams[0]?.nextHit()
    await bring('paste', 'pasted.png', realImages.png.bytes)
    await tab.waitFor('[aria-label="Remove pasted.png"]')
    await bring('drop', 'dropped.png', png(40, 30))
    await tab.waitFor('[aria-label="Remove dropped.png"]')
    await tab.click('[aria-label="Send"]')
    const content = pick(parseJson(new TextDecoder().decode((await hit)?.body)), 'messages', 0, 'content')
    expect(pictureAt(content, 0)).toMatchObject({ type: 'image/png', header: { size: { width: 1, height: 1 } } })
    expect(pictureAt(content, 1)).toMatchObject({ type: 'image/png', header: { size: { width: 40, height: 30 } } })
  })

  test.each([['#sidebar'], ['header'], ['[role="log"]'], ['#message']])(
    'that are dropped on %s are attached',
    async (selector) => {
      await tab.dropFiles(selector, await written({ 'dropped.png': png(40, 30) }))
      await tab.waitFor('[aria-label="Remove dropped.png"]')
    },
  )

  test('that are dropped on other views, or on a dialog, are refused, and the page stays', async () => {
    const paths = await written({ 'dropped.png': png(40, 30) })
    await tab.press('Control+.')
    await tab.waitFor('dialog')
    await tab.dropFiles('dialog', paths)
    await tab.press('Escape')
    await tab.waitForGone('dialog')
    await tab.click('#sidebar >> text=Manage')
    await tab.waitFor('text=Test all')
    await tab.dropFiles('main', paths)
    await tab.dropFiles('header', paths)
    await tab.click('text=Back to the chat')
    await tab.waitFor('#message')
    expect([await tab.url(), await tab.evaluate(`document.querySelector('[aria-label^="Remove"]')`)]).toEqual([
      `${rig.service.url}/#/`,
      null,
    ])
  })

  test('that are huge are scaled down, and those that lie on their side are turned', async () => {
    const photo = Uint8Array.fromBase64(
      String(
        await tab.evaluate(
          `(() => {
            const canvas = Object.assign(document.createElement('canvas'), { width: 300, height: 200 })
            canvas.getContext('2d').fillRect(9, 9, 99, 99)
            return canvas.toDataURL('image/jpeg').split(',')[1]
          })()`,
        ),
      ),
    )
    await pickFiles({
      'huge.png': png(6000, 1500),
      'turned.jpg': bytesOf(photo.subarray(0, 2), exif(6, false), photo.subarray(2)),
    })
    await tab.waitFor('[aria-label="Remove turned.jpg"]')
    const content = await sent()
    expect(pictureAt(content, 1)).toMatchObject({
      type: 'image/png',
      header: { kind: 'png', size: { width: 2048, height: 512 } },
    })
    expect(pictureAt(content, 2)).toMatchObject({
      type: 'image/jpeg',
      header: { kind: 'jpeg', isUpright: true, size: { width: 200, height: 300 } },
    })
  })

  test('that can be none are refused with their names and why, and the others are taken', async () => {
    await pickFiles({
      'program.png': bytesOf('MZ', [0, 1, 2, 3]),
      'bomb.png': pngHead(50_000, 50_000, 'IDAT'),
      'cut.png': png(50, 50).subarray(0, 60),
      'phone.heic': bytesOf([0, 0, 0, 24], 'ftypheic', [0, 0, 0, 0], 'mif1heic'),
      'good.png': png(5, 5),
    })
    await tab.waitFor('[aria-label="Remove good.png"]')
    const text = await tab.textOf('main [role="alert"]')
    for (const words of [
      'program.png: It is neither text, nor a PDF, nor a picture',
      'bomb.png: It has 50,000 × 50,000 pixels',
      'cut.png: It is broken',
      'phone.heic: It is in HEIC',
    ])
      expect(text).toContain(words)
    expect(await tab.evaluate(`document.querySelectorAll('[aria-label^="Remove"]').length`)).toBe(1)
  })

  test('can be looked at large and removed, by key and by pointer', async () => {
    await pickFiles({ 'one.png': png(900, 600), 'two.png': png(30, 30) })
    await tab.waitFor('[aria-label="Remove two.png"]')
    await tab.evaluate(`document.querySelector('form button:has(img[alt="one.png"])').focus()`)
    await tab.press('Enter')
    await tab.waitFor('dialog >> text=900 × 600')
    expect(await tab.evaluate(`document.querySelector('dialog img').getBoundingClientRect().width > 500`)).toBe(true)
    expect(await violationsOf(tab)).toEqual([])
    await tab.press('Escape')
    await tab.waitForGone('dialog')
    expect(await tab.evaluate(`document.activeElement.querySelector('img')?.alt`)).toBe('one.png')
    await tab.press('Tab')
    await tab.press('Enter')
    await tab.waitForGone('[aria-label="Remove one.png"]')
    await tab.click('[aria-label="Remove two.png"]')
    await tab.waitForGone('ul[aria-label="Pictures"] img')
    expect(await sent()).toBe('What is this?')
  })
})
