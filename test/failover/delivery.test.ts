import { describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { errorOf, isDone, pick } from '../client.ts'
import { firstTokens } from '../fakes/faults/cut.ts'
import { streamOf } from '../fakes/faults/stream.ts'
import {
  chunk,
  done,
  event,
  framed,
  reply,
  streamEvents,
  streamHead,
  tokens,
  unframedStreamHead,
} from '../fakes/replies.ts'
import { startRig } from '../rig.ts'
import { beforeGood, testOnRows } from './test-on-rows.ts'

const finish = event(chunk({}, 'stop'))

describe('a stream delivered', () => {
  const eventTexts = streamEvents(['Grüße ', '日本語 ', '👩‍👩‍👧 ', 'end'])
  const text = eventTexts.join('')
  const content = 'Grüße 日本語 👩‍👩‍👧 end'
  const bytes = new TextEncoder().encode(text)

  testOnRows(
    'framed with %s › arrives token for token',
    beforeGood([
      ['LF', streamOf(text)],
      ['CRLF', streamOf(text.replaceAll('\n', '\r\n'))],
      ['CR', streamOf(text.replaceAll('\n', '\r'))],
      [
        'mixed line ends',
        streamOf(
          eventTexts.map((each, index) => each.replaceAll('\n', ['\n', '\r\n', '\r'][index % 3] ?? '\n')).join(''),
        ),
      ],
      ['a byte order mark', streamOf(`\ufeff${text}`)],
      ['comments between', streamOf(eventTexts.map((each) => `: ping\n\n${each}`).join(''))],
      ['comments inside events', streamOf(eventTexts.map((each) => `: ping\n${each}`).join(''))],
      ['no space after data:', streamOf(text.replaceAll('data: ', 'data:'))],
      [
        'event, id and retry fields',
        streamOf(eventTexts.map((each) => `event: message\nid: 7\nretry: 1\n${each}`).join('')),
      ],
      ['data over several lines', streamOf(text.replaceAll('"choices":', '\ndata: "choices":'))],
      ['a piece a byte', streamOf(...Array.from(bytes, (_, index) => bytes.subarray(index, index + 1)))],
      [
        'pieces of three bytes, inside characters',
        streamOf(
          ...Array.from({ length: Math.ceil(bytes.length / 3) }, (_, index) =>
            bytes.subarray(index * 3, index * 3 + 3),
          ),
        ),
      ],
      [
        'the end of the connection as its framing',
        async (exchange) => {
          await exchange.write(unframedStreamHead + text)
          exchange.close()
        },
      ],
      [
        'gzip',
        (exchange) =>
          exchange.write(
            reply(200, gzipSync(text), { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }),
          ),
      ],
    ]),
    async (rig) => {
      const answer = await rig.askStream()
      expect([answer.content, isDone(answer), errorOf(answer)]).toEqual([content, true, undefined])
      expect(rig.hits()).toEqual([1, 0])
    },
  )

  testOnRows(
    'row 36 › %s after finish_reason, without [DONE] › [DONE] is added',
    beforeGood([
      ['a clean end', streamOf(firstTokens('a') + finish)],
      [
        'the end of the connection',
        async (exchange) => {
          await exchange.write(unframedStreamHead + firstTokens('a') + finish)
          exchange.close()
        },
      ],
      [
        'a close without the last chunk',
        async (exchange) => {
          await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(firstTokens('a') + finish)]))
          exchange.close()
        },
      ],
    ]),
    async (rig) => {
      const answer = await rig.askStream()
      expect([answer.content, isDone(answer), errorOf(answer)]).toEqual([tokens(3, 'a').join(''), true, undefined])
      expect(rig.hits()).toEqual([1, 0])
    },
  )

  test('keeps tool calls, reasoning, logprobs and unknown fields of the provider', async () => {
    const deltas = [
      { role: 'assistant', reasoning_content: 'hm' },
      { content: 'a' },
      { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"n":9007199254740993}' } }] },
      { x_unknown: [1, { deep: null }] },
    ]
    await using rig = await startRig([
      streamOf(...deltas.map((delta) => event(chunk(delta, null, { system_fingerprint: 'fp' }))), finish + done),
    ])
    const answer = await rig.askStream()
    const received = answer.events
      .map(({ json }) => pick(json, 'choices', 0, 'delta'))
      .filter((delta) => delta !== undefined)
    expect(received).toEqual([...deltas, {}])
    expect(answer.text).toContain('{\\"n\\":9007199254740993}')
    expect(isDone(answer)).toBe(true)
  })
})
