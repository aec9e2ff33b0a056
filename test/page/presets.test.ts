import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson, pick } from '../client.ts'
import type { Tab } from '../fakes/chromium.ts'
import { good } from '../fakes/good.ts'
import { startRig, type Rig } from '../rig.ts'
import { overflowOf, violationsOf } from './axe.ts'
import { complaintsOf } from './complaints.ts'
import { ask, openConversation } from './conversation.ts'
import { describeInChromium, inChromium } from './in-chromium.ts'

let rig: Rig, tab: Tab
inChromium(
  () => startRig([good()]),
  (scene) => {
    ;({ rig, tab } = scene)
  },
)
const file = (): string => join(rig.service.home, 'presets.json')
beforeEach(async () => {
  writeFileSync(file(), '{"presets":{}}')
  await openConversation(tab, rig.service.url)
})
afterEach(async () => expect(await complaintsOf(tab)).toEqual([]))

/** Opens the settings, and the form of a new preset. */
async function openForm(): Promise<void> {
  await tab.press('Control+.')
  await tab.click('button:has-text("New from these settings")')
  await tab.until(`document.activeElement.id.endsWith('-name')`)
}

/** Sends a message. @returns the body at the upstream */
async function sent(send: () => Promise<void>): Promise<unknown> {
  const hit = rig.upstreams[0]?.nextHit()
  await send()
  return parseJson(new TextDecoder().decode((await hit)?.body))
}

describeInChromium('presets', () => {
  test('are made of the settings, chosen with keys, and ask for their variables', async () => {
    await tab.press('Control+.')
    await tab.fill('dialog textarea', 'Be brief.')
    await tab.click('button:has-text("New from these settings")')
    await tab.until(`document.activeElement.id.endsWith('-name')`)
    await tab.type('Translate it')
    await tab.press('Tab')
    await tab.type('Into {{language}}: {{text}}')
    await tab.press('Tab')
    expect(await tab.evaluate('document.activeElement.value')).toBe('Be brief.')
    await tab.press('Control+End')
    await tab.type(' Translate into {{language}}.')
    await tab.click('button:has-text("Save the preset")')
    await tab.waitFor('[role="status"] >> text=write /Translate-it in a message')
    expect(await violationsOf(tab)).toEqual([])
    await tab.press('Escape')
    await tab.waitForGone('dialog')
    await tab.press('Control+Shift+O')
    await tab.evaluate(`document.querySelector('#message').focus()`)
    await tab.type('/tr')
    await tab.waitFor('[role="listbox"] >> text=/Translate-it')
    expect(
      await tab.evaluate(`(({ activeElement: field }) => [field.id, field.getAttribute('aria-autocomplete'),
        document.getElementById(field.getAttribute('aria-activedescendant')).ariaSelected])(document)`),
    ).toEqual(['message', 'list', 'true'])
    expect(await violationsOf(tab)).toEqual([])
    await tab.press('Enter')
    await tab.waitFor('dialog >> text=/Translate-it')
    expect(await violationsOf(tab)).toEqual([])
    await tab.type('French <b>')
    await tab.press('Tab')
    await tab.type('{{language}}')
    await tab.press('Enter')
    await tab.until(`document.querySelector('#message').value === 'Into French <b>: {{language}}'`)
    await tab.until(`document.activeElement.id === 'message'`)
    expect(pick(await sent(() => tab.press('Enter')), 'messages')).toEqual([
      { role: 'system', content: 'Be brief. Translate into French <b>.' },
      { role: 'user', content: 'Into French <b>: {{language}}' },
    ])
  }, 20_000)

  test('list is left with Escape, and a text that names none is sent', async () => {
    await openForm()
    await tab.type('brief')
    await tab.click('button:has-text("Save the preset")')
    await tab.waitFor('li >> text=/brief')
    await tab.press('Escape')
    await tab.fill('#message', '')
    await tab.type('/br')
    await tab.waitFor('[role="option"]')
    await tab.press('Escape')
    await tab.waitForGone('[role="option"]')
    expect(await tab.evaluate(`document.activeElement.hasAttribute('aria-activedescendant')`)).toBe(false)
    await tab.press('Backspace')
    await tab.waitFor('[role="option"]')
    await tab.press('Escape')
    expect(pick(await sent(() => ask(tab, '/etc/hosts')), 'messages')).toEqual([
      { role: 'user', content: '/etc/hosts' },
    ])
  }, 20_000)

  test('are shared by owners, in the file, which others change too', async () => {
    await openForm()
    await tab.type('ours')
    await tab.click('[role="switch"]:has-text("Share it with all users")')
    await tab.click('button:has-text("Save the preset")')
    await tab.waitFor('li:has-text("/ours") >> text=shared')
    expect(parseJson(readFileSync(file(), 'utf8'))).toEqual({ presets: { ours: {} } })
    writeFileSync(file(), '{"presets":{"ours":{"system":"Ours."},"<b>":{}}}')
    await tab.press('Escape')
    await tab.press('Control+.')
    await tab.waitFor('text=Shared presets')
    await tab.waitFor('dialog >> text=found an invalid name')
    writeFileSync(file(), '{"presets":{"ours":{"system":"<img src=x onerror=alert(1)>","description":"<i>x</i>"}}}')
    await tab.press('Escape')
    await tab.press('Control+.')
    await tab.waitFor('li >> text=<i>x</i>')
    expect(await tab.evaluate(`document.querySelectorAll('li i, li img').length`)).toBe(0)
    await tab.click('[aria-label="Delete ours…"]')
    await tab.press('Enter')
    await tab.waitFor('[role="status"] >> text=The preset ours is deleted.')
    expect(parseJson(readFileSync(file(), 'utf8'))).toEqual({ presets: {} })
  }, 20_000)

  test('are exported and imported, and chosen with the pointer on a phone', async () => {
    await tab.setSize(390, 844)
    await openForm()
    await tab.type('short')
    await tab.press('Tab')
    await tab.type('Say it shortly: ')
    await tab.click('button:has-text("Save the preset")')
    const { name, text } = await tab.download('[aria-label="Export own presets"]')
    expect(name).toBe('svc-presets.json')
    await tab.click('[aria-label="Delete short…"]')
    await tab.press('Enter')
    await tab.waitForGone('dialog li')
    const path = join(rig.service.home, 'exported.json')
    writeFileSync(path, text)
    await tab.setFiles('input[aria-label="File of presets"]', [path])
    await tab.waitFor('[role="status"] >> text=1 added, 0 were here already.')
    writeFileSync(path, '{"format":"svc-conversations"')
    await tab.setFiles('input[aria-label="File of presets"]', [path])
    await tab.waitFor('[role="status"] >> text=The file is not JSON')
    for (const theme of ['light', 'dark']) {
      await tab.evaluate(`document.documentElement.dataset.theme = '${theme}'`)
      expect([await violationsOf(tab), await overflowOf(tab)]).toEqual([[], 0])
    }
    await tab.press('Escape')
    await tab.fill('#message', '/')
    await tab.click('[role="option"]')
    await tab.until(`document.querySelector('#message').value === 'Say it shortly: '`)
    await tab.waitFor('button:has-text("Model: m")')
  }, 20_000)

  test('set the settings of all models of a comparison', async () => {
    writeFileSync(file(), '{"presets":{"ours":{"system":"Ours.","prompt":"Hello"}}}')
    await tab.press('Control+Shift+L')
    await tab.waitFor('h1 >> text=Compare models')
    await tab.fill('#message', '/ou')
    await tab.waitFor('[role="option"]')
    await tab.evaluate(`document.querySelector('#message').focus()`)
    await tab.press('Tab')
    await tab.until(`document.querySelector('#message').value === 'Hello'`)
    expect(pick(await sent(() => tab.press('Enter')), 'messages')).toEqual([
      { role: 'system', content: 'Ours.' },
      { role: 'user', content: 'Hello' },
    ])
  }, 20_000)

  test('stand for every new conversation, are left out of one, and end', async () => {
    writeFileSync(file(), '{"presets":{"ours":{"system":"Ours.","parameters":{"seed":1}},"ask":{"system":"{{x}}"}}}')
    await tab.press('Control+.')
    await tab.waitFor('li:has-text("/ask")')
    expect(await tab.evaluate(`document.querySelectorAll('dialog [aria-pressed]').length`)).toBe(1)
    await tab.evaluate(`document.querySelector('dialog [aria-pressed]').focus()`)
    await tab.press('Space')
    await tab.waitFor('[role="status"] >> text=Every new conversation begins with the preset ours.')
    await tab.waitFor('dialog >> text=Like every new conversation, this one has the settings of /ours.')
    expect([await violationsOf(tab), await overflowOf(tab)]).toEqual([[], 0])
    await tab.press('Escape')
    const system = [{ role: 'system', content: 'Ours.' }]
    const first = await sent(() => ask(tab, 'one'))
    expect([pick(first, 'messages'), pick(first, 'seed')]).toEqual([[...system, { role: 'user', content: 'one' }], 1])
    // The copy in the browser follows the preset.
    writeFileSync(file(), '{"presets":{"ours":{"system":"Changed."}}}')
    await openConversation(tab, rig.service.url)
    await tab.press('Control+.')
    await tab.until(`document.querySelector('dialog textarea')?.value === 'Changed.'`)
    await tab.press('Escape')
    await tab.press('Control+Shift+L')
    await tab.waitFor('h1 >> text=Compare models')
    await tab.press('Control+.')
    await tab.until(`document.querySelector('dialog textarea')?.value === 'Changed.'`)
    await tab.press('Escape')
    await tab.press('Control+Shift+O')
    await tab.waitFor('h1 >> text=New conversation')
    await tab.press('Control+.')
    await tab.click('button:has-text("Leave it out here")')
    await tab.waitForGone('dialog >> text=Like every new conversation')
    await tab.until(`document.activeElement === document.querySelector('dialog textarea')`)
    await tab.press('Escape')
    expect(pick(await sent(() => ask(tab, 'two')), 'messages')).toEqual([{ role: 'user', content: 'two' }])
    await tab.waitFor('h1 >> text=two')
    await tab.press('Control+Shift+O')
    await tab.waitFor('h1 >> text=New conversation')
    await tab.press('Control+.')
    await tab.click('dialog [aria-pressed="true"]')
    await tab.waitFor('[role="status"] >> text=New conversations begin without the preset ours.')
    await tab.press('Escape')
    expect(pick(await sent(() => ask(tab, 'three')), 'messages')).toEqual([{ role: 'user', content: 'three' }])
  }, 30_000)
})
