import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chatLanguage } from '../fakes/languages/chat.ts'
import { answering, type Language } from '../fakes/languages/language.ts'
import { messagesLanguage } from '../fakes/languages/messages.ts'
import { responsesLanguage } from '../fakes/languages/responses.ts'
import { errorReply } from '../fakes/replies.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { ask, stage, type Stage } from './stage.ts'

/** Refusals that name a trait of the target, and the request in the other form (failover.md, Adapted once). */

/** Refuses requests whose body has the mark, in the words of a server. */
interface Habit {
  readonly id: string
  readonly language: Language
  readonly status: number
  readonly refuses: (body: string, path: string) => boolean
  readonly words: string
  /** Name in the trail. */
  readonly trait: string
}

const habits: readonly Habit[] = [
  {
    id: 'tools-as-responses',
    language: responsesLanguage,
    status: 400,
    refuses: (body, path) => path.endsWith('/chat/completions') && body.includes('"tools"'),
    words: 'Function tools are not supported in /v1/chat/completions. To use function tools, use /v1/responses',
    trait: 'tools_as_responses',
  },
  {
    id: 'responses-only',
    language: responsesLanguage,
    status: 404,
    refuses: (_, path) => path.endsWith('/chat/completions'),
    words: 'This model is only supported in v1/responses and not in v1/chat/completions.',
    trait: 'as_responses',
  },
  {
    id: 'no-effort',
    language: chatLanguage,
    status: 422,
    refuses: (body) => body.includes('"reasoning_effort"'),
    words: 'This model does not support reasoning_effort',
    trait: 'no_effort',
  },
]

let service: ServiceUnderTest
let upstream: Stage

beforeAll(async () => {
  upstream = stage()
  const providers = habits.map(({ id, language, refuses, status, words }) =>
    upstream.add({
      id,
      language,
      model: id,
      spoken: (spoken) => (exchange) =>
        refuses(Buffer.from(exchange.hit.body).toString(), exchange.hit.path)
          ? exchange.write(errorReply(status, { message: words, type: 'invalid_request_error', code: null }))
          : answering(spoken, [{ kind: 'text', text: 'Done.' }])(exchange),
    }),
  )
  service = await startService({ providers })
})
afterAll(async () => {
  upstream.stop()
  await service[Symbol.asyncDispose]()
})

const tools = [{ name: 'weather', description: 'Tells the weather.', schema: { type: 'object', properties: {} } }]

describe.each(habits)('$id', ({ id, trait }) => {
  test('is taught by a refusal, and the next request knows it', async () => {
    const question = { model: id, tools, thinks: true }
    for (const [caller, isTaught] of [
      [chatLanguage, true],
      [messagesLanguage, false],
    ] as const) {
      const before = upstream.hits(id).length
      const heard = await ask(service.url, caller, { ...question, stream: true })
      expect(heard).toMatchObject({ status: 200, text: 'Done.', isComplete: true })
      expect(upstream.hits(id).length - before).toBe(isTaught ? 2 : 1)
      const trail = heard.headers.get('x-svc-trail') ?? ''
      expect(trail.includes(`adapted=${trait}`)).toBe(isTaught)
      expect(heard.headers.get('x-svc-attempts')).toBe('1')
    }
  })
})

test('members that a provider is not sent are named, whatever their names', async () => {
  const spread = Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`member_${n}`, n]))
  const body = {
    model: 'responses-only',
    messages: [{ role: 'user', content: 'Hello' }],
    'ü\r\nx-evil: 1': 1,
    'a;b, c=d': 2,
    ...spread,
  }
  const response = await fetch(`${service.url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(body) })
  expect(response.status).toBe(200)
  const dropped = response.headers.get('x-svc-dropped') ?? ''
  expect(dropped).toMatch(/^\?\?\?x-evil\?\?1, a\?b\?\?c\?d, member_0, .*, member_29, more$/)
  expect(response.headers.get('x-svc-trail')).toContain(`;dropped=${dropped.replaceAll(', ', '+')};ms=`)
})

test('what a provider cannot be asked otherwise is refused', async () => {
  const body = { model: 'tools-as-responses', messages: [{ role: 'user', content: 'Hello' }], tools: [{}], n: 2 }
  const response = await fetch(`${service.url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(body) })
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('use /v1/responses')])
})
