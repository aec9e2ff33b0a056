import { afterAll, describe, expect, test } from 'bun:test'
import { browserCommand, openCommandWith } from './open.ts'
import { runCommand } from './testing.ts'

const service = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: ({ url }) => new Response(null, { status: new URL(url).pathname.endsWith('/health') ? 200 : 404 }),
})
afterAll(() => service.stop(true))
const root = `http://127.0.0.1:${service.port}`

/** Runs `svc open`. `opened` has the addresses for the browser. */
async function open(url: string, hasBrowser = true) {
  const opened: string[] = []
  const command = openCommandWith(async (address) => {
    opened.push(address)
    return hasBrowser
  })
  return { ...(await runCommand(command, ['--url', url], { environment: { SVC_TOKEN: 'abc' } })), opened }
}

describe('svc open', () => {
  test.each([
    [root, `${root}/`],
    [`${root}/v1/`, `${root}/`],
    [`${root}/behind/a/proxy?token=x#y`, `${root}/behind/a/proxy/`],
  ])('opens %s as an address without credentials, and prints it', async (url, address) => {
    expect(await open(url)).toEqual({ code: 0, out: `${address}\n`, err: '', opened: [address] })
  })

  test('says that there is no browser', async () => {
    expect(await open(root, false)).toMatchObject({
      code: 0,
      out: `${root}/\n`,
      err: expect.stringContaining('no browser was found'),
    })
  })

  test('refuses an address with a user or password, without repeating it', async () => {
    const refused = open('http://ada:secret@127.0.0.1:1')
    await expect(refused).rejects.toThrow('--url: found an address with a user or password')
    await expect(refused).rejects.not.toThrow('secret')
  })

  test('opens nothing where no service answers', async () => {
    await expect(open('http://127.0.0.1:1')).rejects.toThrow('no answer from http://127.0.0.1:1/')
  })

  test.each([
    ['darwin', {}, 'open'],
    ['win32', {}, 'rundll32'],
    ['linux', { DISPLAY: ':0' }, 'xdg-open'],
    ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, 'xdg-open'],
    ['linux', {}, undefined],
  ])('knows the command of %s with %p', (platform, environment, command) => {
    expect(browserCommand(platform, environment)?.[0]).toBe(command)
  })
})
