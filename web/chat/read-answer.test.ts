import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readAnswer, type AnswerEnd } from './read-answer.ts'
import type { AnswerPiece } from './read-choice.ts'

interface Gathered extends AnswerPiece {
  readonly end: AnswerEnd
}

async function gather(response: Response, signal?: AbortSignal): Promise<Gathered> {
  const answer = readAnswer(response, signal)
  let all: AnswerPiece = { text: '', reasoning: '' }
  for (;;) {
    const step = await answer.next()
    if (step.done === true) return { ...all, end: step.value }
    all = { ...all, ...step.value, text: all.text + step.value.text, reasoning: all.reasoning + step.value.reasoning }
  }
}

const streamType = { headers: { 'content-type': 'text/event-stream; charset=utf-8' } }
const jsonType = { headers: { 'content-type': 'application/json' } }

function stream(...events: readonly unknown[]): Response {
  return new Response(
    events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join(''),
    streamType,
  )
}

const delta = (members: Readonly<Record<string, unknown>>, finish: string | null = null) => ({
  choices: [{ index: 0, delta: members, finish_reason: finish }],
})

describe('readAnswer › a stream', () => {
  test('says that it was stopped, perhaps in another tab', async () => {
    const events = `data: ${JSON.stringify(delta({ content: 'Hel' }))}\n\nevent: stopped\ndata: {}\n\n`
    expect(await gather(new Response(events, streamType))).toMatchObject({ text: 'Hel', end: { kind: 'stopped' } })
  })

  test('yields text, finish reason and usage, and is complete with [DONE]', async () => {
    const usage = { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }
    expect(
      await gather(
        stream(
          delta({ role: 'assistant', content: '' }),
          delta({ content: 'Hel' }),
          delta({ content: 'lo' }),
          delta({}, 'stop'),
          usage,
          '[DONE]',
        ),
      ),
    ).toEqual({
      text: 'Hello',
      reasoning: '',
      finishReason: 'stop',
      promptTokens: 3,
      completionTokens: 2,
      end: { kind: 'complete' },
    })
  })

  test.each([
    ['reasoning_content', [delta({ reasoning_content: 'hm' }), delta({ content: 'yes' })]],
    ['reasoning', [delta({ reasoning: 'hm' }), delta({ content: 'yes' })]],
    ['both, with equal content', [delta({ reasoning: 'hm', reasoning_content: 'hm' }), delta({ content: 'yes' })]],
    ['<think> in the text', [delta({ content: '<th' }), delta({ content: 'ink>hm</think>\nyes' })]],
  ])('reads reasoning from %s', async (_, chunks) => {
    expect(await gather(stream(...chunks, '[DONE]'))).toMatchObject({ text: 'yes', reasoning: 'hm' })
  })

  test('is interrupted without [DONE], and yields the text held back', async () => {
    expect(await gather(stream(delta({ content: 'a' })))).toMatchObject({ text: 'a', end: { kind: 'interrupted' } })
    expect(await gather(stream(delta({ content: '<thi' })))).toMatchObject({
      text: '<thi',
      end: { kind: 'interrupted' },
    })
  })

  test('is interrupted when the connection breaks', async () => {
    let isFirst = true
    const body = new ReadableStream({
      pull(controller) {
        if (isFirst)
          controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(delta({ content: 'a' }))}\n\n`))
        else controller.error(new TypeError('network error'))
        isFirst = false
      },
    })
    expect(await gather(new Response(body, streamType))).toMatchObject({ text: 'a', end: { kind: 'interrupted' } })
  })

  test('is complete when the connection breaks after [DONE]', async () => {
    let isFirst = true
    const body = new ReadableStream({
      pull(controller) {
        if (isFirst) controller.enqueue(new TextEncoder().encode('data: [DONE]\n\n'))
        else controller.error(new TypeError('network error'))
        isFirst = false
      },
    })
    expect(await gather(new Response(body, streamType))).toMatchObject({ end: { kind: 'complete' } })
  })

  test('throws when stopped', async () => {
    const controller = new AbortController()
    controller.abort(new Error('stopped'))
    const body = new ReadableStream({ pull: (pulled) => pulled.error(controller.signal.reason) })
    await expect(gather(new Response(body, streamType), controller.signal)).rejects.toThrow('stopped')
  })

  test('fails with an error event, and ignores events after it', async () => {
    const error = { message: 'The answer was cut off', type: 'api_error', param: null, code: 'provider_error' }
    expect(await gather(stream(delta({ content: 'a' }), { error }, delta({ content: 'b' }), '[DONE]'))).toEqual({
      text: 'a',
      reasoning: '',
      end: {
        kind: 'failed',
        error: { kind: 'wire', message: 'The answer was cut off', type: 'api_error', code: 'provider_error' },
      },
    })
  })

  test('yields log probabilities, and leaves out invalid ones', async () => {
    const content = [
      { token: 'a', logprob: -0.1, top_logprobs: [{ token: 'a', logprob: -0.1 }, { token: 7 }] },
      { token: 'b' },
      null,
    ]
    expect(
      await gather(stream({ choices: [{ delta: { content: 'a' }, logprobs: { content } }] }, '[DONE]')),
    ).toMatchObject({ logprobs: [{ token: 'a', logprob: -0.1, top: [{ token: 'a', logprob: -0.1 }] }] })
  })

  test('never throws, for any input', async () => {
    const member = fc.constantFrom(
      'choices',
      'delta',
      'message',
      'content',
      'error',
      'usage',
      'logprobs',
      'top_logprobs',
      'finish_reason',
      'reasoning',
    )
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.string(),
        fc.double(),
        fc.constant(null),
        fc.boolean(),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(member, tie('value'), { maxKeys: 4 }),
      ),
    }))
    await fc.assert(
      fc.asyncProperty(fc.array(value, { maxLength: 4 }), async (events) => {
        const { text, reasoning } = await gather(stream(...events.map((event) => JSON.stringify(event)), '[DONE]'))
        expect(typeof text + typeof reasoning).toBe('stringstring')
      }),
      { numRuns: 300 },
    )
  })
})

describe('readAnswer › a whole answer', () => {
  test('yields everything at once', async () => {
    const message = { role: 'assistant', content: '<think>hm</think>yes', refusal: null }
    const whole = { choices: [{ message, finish_reason: 'length' }], usage: { prompt_tokens: 1, completion_tokens: 2 } }
    expect(await gather(Response.json(whole))).toEqual({
      text: 'yes',
      reasoning: 'hm',
      finishReason: 'length',
      promptTokens: 1,
      completionTokens: 2,
      end: { kind: 'complete' },
    })
  })

  test('joins the texts of parts, and yields a refusal as text', async () => {
    expect(
      await gather(
        Response.json({
          choices: [{ message: { content: [{ type: 'text', text: 'a' }, { type: 'x' }, { text: 'b' }] } }],
        }),
      ),
    ).toMatchObject({ text: 'ab' })
    expect(await gather(Response.json({ choices: [{ message: { content: null, refusal: 'no' } }] }))).toMatchObject({
      text: 'no',
    })
  })

  test.each([
    ['cut JSON', '{"choices":[{"mess'],
    ['no JSON', '<html>'],
    ['another JSON', '[]'],
  ])('is interrupted by %s', async (_, body) => {
    expect(await gather(new Response(body, jsonType))).toMatchObject({ text: '', end: { kind: 'interrupted' } })
  })
})
