import { beforeEach, expect, test } from 'bun:test'
import type { Tab } from '../fakes/chromium.ts'
import { good } from '../fakes/good.ts'
import { startRig, type Rig } from '../rig.ts'
import { describeInChromium, inChromium } from './in-chromium.ts'

/** A service, and a server of another website. */
interface Websites extends Rig {
  readonly port: number
}

async function startWebsites(): Promise<Websites> {
  const rig = await startRig([good()])
  const html = { headers: { 'content-type': 'text/html' } }
  const website = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('<h1>A website</h1>', html) })
  return {
    ...rig,
    port: website.port ?? 0,
    async [Symbol.asyncDispose]() {
      await website.stop(true)
      await rig[Symbol.asyncDispose]()
    },
  }
}

describeInChromium('a page of another website', () => {
  let rig: Websites, tab: Tab
  inChromium(startWebsites, (scene) => ({ rig, tab } = scene))
  beforeEach(() => rig.upstreams[0]?.forget())

  /** Results of a script of the page: a status (0: it cannot read the answer), or `failed`. */
  const asks = (mode: string, type: string) => {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] })
    const options = { method: 'POST', mode, headers: { 'content-type': type }, body }
    const url = `${rig.service.url}/v1/chat/completions`
    return tab.evaluate(
      `fetch(${JSON.stringify(url)}, ${JSON.stringify(options)}).then(({ status }) => status, () => 'failed')`,
    )
  }

  test('spends nothing: no request reaches a provider, with or without a preflight', async () => {
    await tab.goto(`http://website.example:${rig.port}/`)
    expect([
      await asks('no-cors', 'text/plain'),
      await asks('cors', 'text/plain'),
      await asks('cors', 'application/json'),
    ]).toEqual([0, 'failed', 'failed'])
    expect(rig.hits()).toEqual([0])
  })

  test('spends nothing by a form', async () => {
    await tab.goto(`http://website.example:${rig.port}/`)
    await tab.evaluate(`(() => {
      const action = '${rig.service.url}/v1/chat/completions'
      const form = Object.assign(document.createElement('form'), { method: 'post', enctype: 'text/plain', action })
      const name = '{"model":"m","messages":[{"role":"user","content":"'
      form.append(Object.assign(document.createElement('input'), { name, value: '"}]}' }))
      document.body.append(form)
      form.submit()
    })()`)
    await tab.waitForUrl('**/v1/chat/completions')
    expect(await tab.text()).toContain('origin_not_allowed')
    expect(rig.hits()).toEqual([0])
  })

  test('is not taken for our own by a name that points here', async () => {
    await tab.goto(`http://website.example:${rig.service.port}/`)
    expect(await tab.text()).toContain("'website.example")
    await tab.goto(`http://website.example:${rig.service.port}/health`)
    expect(await tab.evaluate(`fetch('/v1/models').then(({ status }) => status)`)).toBe(403)
  })

  test('of this machine may ask, and read the answer', async () => {
    await tab.goto(`http://localhost:${rig.port}/`)
    expect([await asks('cors', 'application/json'), await asks('cors', 'text/plain')]).toEqual([200, 200])
    expect(rig.hits()).toEqual([2])
  })
})
