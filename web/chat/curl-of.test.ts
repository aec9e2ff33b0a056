import { describe, expect, test } from 'bun:test'
import { curlOf } from './curl-of.ts'
import { userMessage } from './testing.ts'

const origin = 'http://127.0.0.1:1'
const settings = { model: 'm', system: '', parameters: {} }

/** Runs a command in a shell. Returns curl's arguments and standard input. */
async function run(
  command: string,
  environment: Record<string, string> = {},
): Promise<{ readonly given: readonly string[]; readonly body: unknown }> {
  const shell = Bun.spawn(
    ['sh', '-c', `curl() { for each in "$@"; do printf '%s\\n' "$each"; done; cat; }\n${command}`],
    { stdout: 'pipe', env: { PATH: process.env['PATH'] ?? '', ...environment } },
  )
  const [before = '', ...after] = (await new Response(shell.stdout).text()).split('@-\n')
  return { given: before.trim().split('\n'), body: JSON.parse(after.join('@-\n')) }
}

describe('curlOf', () => {
  test('sends the same request, for any content', async () => {
    const text = 'it\'s "$HOME" `id` \\n !! \n@-\nJSON'
    const { given, body } = await run(curlOf({ origin, settings, messages: [userMessage(text)], isClosed: false }))
    expect(given).toEqual([
      '-N',
      `${origin}/v1/chat/completions`,
      '-H',
      'content-type: application/json',
      '--data-binary',
    ])
    expect(body).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: text }],
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test('names a token variable if sign-in is required, and contains no token', async () => {
    const command = curlOf({ origin, settings, messages: [userMessage('a')], isClosed: true })
    expect((await run(command, { SVC_TOKEN: 'abc' })).given).toContain('authorization: Bearer abc')
  })

  test('disables buffering only for a streamed answer', async () => {
    const { given } = await run(
      curlOf({
        origin,
        settings: { ...settings, parameters: { stream: false } },
        messages: [userMessage('a')],
        isClosed: false,
      }),
    )
    expect(given).not.toContain('-N')
  })
})
