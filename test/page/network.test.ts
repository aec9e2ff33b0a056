import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Person, Tab } from '../fakes/chromium.ts'
import { faultUpstream, type FaultUpstream } from '../fakes/fault-upstream.ts'
import { talker, type Talk, type Talker } from '../fakes/talker.ts'
import { provider, startService, type ServiceUnderTest } from '../harness.ts'
import { logged } from '../sign-in/rig.ts'
import { complaintsOf } from './complaints.ts'
import { ask, lastMessage, openConversation, said } from './conversation.ts'
import { describeInChromium, useChromium, wide } from './in-chromium.ts'

const started: ServiceUnderTest[] = []
const chromium = useChromium()
let upstream: FaultUpstream, talk: Talker, person: Person, tab: Tab

beforeEach(() => {
  talk = talker()
  upstream = faultUpstream(talk.script)
  person = chromium.person(wide)
  tab = person.tab()
})
afterEach(async () => {
  upstream.stop()
  for (const service of started.splice(0)) {
    service.signal('SIGKILL')
    await service.exited
    await service[Symbol.asyncDispose]()
  }
})

/** Starts a service with model `m`, which is killed after the tests: some of them stop it themselves. */
async function start(environment: Readonly<Record<string, string>> = {}, port = 0): Promise<ServiceUnderTest> {
  const service = await startService(
    { providers: [provider('a', upstream.url)], failover: { on_cut: 'error' } },
    { environment, port },
  )
  started.push(service)
  return service
}

/** Starts an answer and sends half of it. */
async function half({ url }: ServiceUnderTest): Promise<Talk> {
  await openConversation(tab, url)
  await ask(tab, 'Tell me')
  const asked = await talk.next()
  await asked.say('Half of it,')
  await tab.waitFor(said('Half of it,'))
  return asked
}

/** Script: the Cumulative Layout Shift so far. The observer gets past shifts at once. */
const shifts = `new Promise((resolve) => {
  let sum = 0
  const observer = new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) sum += value
  })
  observer.observe({ type: 'layout-shift', buffered: true })
  setTimeout(() => resolve(sum), 50)
})`

/** Sends SIGTERM to a service, and waits until it drains. */
async function askToStop(service: ServiceUnderTest): Promise<void> {
  service.signal('SIGTERM')
  await logged(service, ['stopping'])
}

describeInChromium('a service that is asked to stop in the middle of an answer', () => {
  test('has it come to its end first', async () => {
    const service = await start()
    const asked = await half(service)
    await askToStop(service)
    await asked.say(' and the rest.')
    await asked.finish()
    await tab.waitFor(said('Half of it, and the rest.'))
    await tab.waitFor('[aria-label="Send"]')
    expect(await tab.evaluate(`document.querySelector('[role="alert"]')`)).toBeNull()
    expect(await service.exited).toBe(0)
    expect(await complaintsOf(tab)).toEqual([])
  }, 20_000)

  test('and reaches its deadline ends the answer with an error; its text is kept', async () => {
    const service = await start({ SVC_DRAIN_MS: '200' })
    await half(service)
    await askToStop(service)
    await tab.waitFor('[role="alert"]')
    expect(await tab.textOf(lastMessage)).toContain('Half of it,')
    expect(await service.exited).toBe(0)
    await start({}, service.port)
    await tab.reload()
    await tab.waitFor(said('Half of it,'))
    await tab.click(`${lastMessage} >> [aria-label="Retry"]`)
    const again = await talk.next()
    expect(again.messages).toEqual(['user: Tell me'])
    await again.say('All of it.')
    await again.finish()
    await tab.waitFor(said('All of it.'))
    // The explanation of the error is a part that a stopped service cannot send; the error stands without it.
    const complaints = await complaintsOf(tab)
    expect(complaints.filter((text) => !text.startsWith('a part of the page did not load'))).toEqual([])
  }, 20_000)

  test('still serves the page and answers within the drain window', async () => {
    const service = await start({ SVC_DRAIN_WINDOW_MS: '60000', SVC_DRAIN_MS: '60000' })
    const asked = await half(service)
    await askToStop(service)
    expect((await fetch(`${service.url}/ready`)).status).toBe(503)
    const other = chromium.person().tab()
    await openConversation(other, service.url)
    await ask(other, 'Are you there?')
    const second = await talk.next()
    await second.say('For a while.')
    await second.finish()
    await other.waitFor(said('For a while.'))
    await asked.say(' and the rest.')
    await asked.finish()
    await tab.waitFor(said('Half of it, and the rest.'))
    expect([await complaintsOf(tab), await complaintsOf(other)]).toEqual([[], []])
  }, 20_000)
})

describeInChromium('over a slow network', () => {
  test('the page comes, its parts do not move, and an answer is read from its first word on', async () => {
    const service = await start()
    await tab.setSpeed({ latencyMs: 200, bytesPerSecond: 100_000 })
    const asked = await half(service)
    expect(await tab.evaluate(`document.querySelector('${lastMessage}').innerText.includes('and the rest')`)).toBe(
      false,
    )
    await asked.say(' and the rest.')
    await asked.finish()
    await tab.waitFor(said('Half of it, and the rest.'))
    expect(Number(await tab.evaluate(shifts))).toBeLessThan(0.02)
    expect(await complaintsOf(tab)).toEqual([])
  }, 30_000)
})

describeInChromium('without a network', () => {
  test('a part that was not loaded yet shows a message, and is loaded later; open views go on', async () => {
    const service = await start()
    await openConversation(tab, service.url)
    await person.setOffline(true)
    await tab.press('Control+.')
    await tab.waitFor('dialog >> text=This part of the page did not load')
    await tab.press('Escape')
    await tab.fill('#message', 'Half a thought')
    await tab.click('#sidebar >> text=Manage')
    await tab.waitFor('main >> text=This part of the page did not load')
    await tab.back()
    await tab.until(`document.querySelector('#message')?.value === 'Half a thought'`)
    await tab.click('#sidebar >> text=Manage')
    await tab.waitFor('main >> text=This part of the page did not load')
    await person.setOffline(false)
    await tab.click('main >> button:has-text("Try again")')
    await tab.waitFor('h2 >> text="a"')
    await tab.back()
    await tab.press('Control+.')
    await tab.waitFor('dialog >> text=System prompt')
  }, 20_000)
})
