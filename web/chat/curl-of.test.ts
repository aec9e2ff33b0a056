import { describe, expect, test } from 'bun:test'
import { curlOf } from './curl-of.ts'
import { userMessage } from './testing.ts'

const origin = 'http://127.0.0.1:1'
const settings = { model: 'm', system: '', parameters: {} }

/** What a shell hands to curl: its arguments, and its standard input. */
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
  test('asks the same, whatever is in it', async () => {
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

  test('names a token where somebody has to be signed in, and has none in it', async () => {
    const command = curlOf({ origin, settings, messages: [userMessage('a')], isClosed: true })
    expect((await run(command, { SVC_TOKEN: 'abc' })).given).toContain('authorization: Bearer abc')
  })

  test('does not wait for a stream where there is none', async () => {
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
