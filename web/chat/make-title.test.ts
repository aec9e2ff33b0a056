import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Conversation } from '../history/conversation.ts'
import { makeTitle, titleIn } from './make-title.ts'
import { answerMessage, userMessage } from './testing.ts'

const conversation: Conversation = {
  id: 'c',
  title: 'Why is it blue',
  isTitled: false,
  isPinned: false,
  created: 0,
  updated: 0,
  settings: { system: '', parameters: {} },
  messages: [userMessage('Why is the sky blue?'), answerMessage({ text: 'Scattering.' })],
}

/** Asks, and returns the title with the requests. */
async function asked(
  changes: Partial<Conversation> = {},
  answer: () => Promise<Response> = async () =>
    Response.json({ choices: [{ message: { content: '"Blue *skies*"' } }] }),
  model = 'cheap',
): Promise<{ readonly title: string | undefined; readonly bodies: readonly unknown[] }> {
  const bodies: unknown[] = []
  const title = await makeTitle(
    {
      async fetch(path, options) {
        bodies.push([path, JSON.parse(String(options?.body))])
        return await answer()
      },
    },
    model,
    { ...conversation, ...changes },
  )
  return { title, bodies }
}

describe('makeTitle', () => {
  test('asks the model once, with the question and the answer', async () => {
    const { title, bodies } = await asked()
    expect(title).toBe('Blue skies')
    expect(bodies).toHaveLength(1)
    expect(bodies[0]).toMatchObject(['/v1/chat/completions', { model: 'cheap', stream: false, max_tokens: 200 }])
    expect(JSON.stringify(bodies[0])).toMatch(/Why is the sky blue\?.*Scattering\./)
  })

  test.each([
    ['a person chose the title', { isTitled: true }],
    ['it has two answers', { messages: [...conversation.messages, answerMessage()] }],
    ['its answer failed', { messages: [userMessage('x'), answerMessage({ status: 'failed' })] }],
    ['its answer has no text', { messages: [userMessage('x'), answerMessage({ text: ' ' })] }],
    [
      'the echo answered',
      {
        messages: [
          userMessage('x'),
          answerMessage({ provenance: { requestId: 'r', provider: 'local', model: 'echo', trail: [] } }),
        ],
      },
    ],
  ] satisfies readonly (readonly [string, Partial<Conversation>])[])('asks nothing when %s', async (_, changes) => {
    expect(await asked(changes)).toEqual({ title: undefined, bodies: [] })
  })

  test('asks no echo', async () => {
    for (const model of ['echo', 'local/echo']) expect((await asked({}, undefined, model)).bodies).toEqual([])
  })

  test('has no title after any failure', async () => {
    for (const answer of [
      () => Promise.reject(new Error('429')),
      async () => new Response('<html>'),
      async () => Response.json({ error: { message: 'no' } }),
      async () => Response.json({ choices: [] }),
      async () => Response.json({ choices: [{ message: { content: ' \u202e\n' } }] }),
    ])
      expect((await asked({}, answer)).title).toBeUndefined()
  })
})

describe('titleIn', () => {
  test.each([
    ['Blue skies', 'Blue skies'],
    ['“Blue skies.”', 'Blue skies'],
    ['Title: **Blue** skies', 'Blue skies'],
    ['# Blue skies\n\nBecause …', 'Blue skies'],
    ['<think>Hm, a title.</think>\n\nBlue skies', 'Blue skies'],
    ['«Ciel bleu»', 'Ciel bleu'],
    ['青い空', '青い空'],
    ['evil\u202etitle\u0000', 'eviltitle'],
    ['Is it x^2?', 'Is it x^2?'],
  ])('%j is %j', (answer, title) => expect(titleIn(answer)).toBe(title))

  test.each(['', '"', '—', 'I am sorry, but I cannot write a title for this conversation because it is long'])(
    '%j is none',
    (answer) => expect(titleIn(answer)).toBeUndefined(),
  )

  test('is one visible line of at most 80 characters, whatever the model writes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (answer) => {
        const title = titleIn(answer)
        if (title === undefined) return
        expect(title.length).toBeLessThanOrEqual(80)
        expect(title).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u)
        expect(title.trim()).not.toBe('')
      }),
    )
  })
})
