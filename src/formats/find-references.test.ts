import { describe, expect, test } from 'bun:test'
import { referencesIn } from './find-references.ts'

const inBody = (request: object): number => referencesIn(new TextEncoder().encode(JSON.stringify(request)))
const user = (...content: readonly object[]) => ({ messages: [{ role: 'user', content }] })
const https = 'https://example.org/a'
const data = 'data:image/png;base64,aGk='

describe('content by reference', () => {
  test.each([
    [
      'chat, by address',
      user({ type: 'image_url', image_url: { url: https } }, { type: 'file', file: { file_id: 'f' } }),
      2,
    ],
    ['chat, as a text', user({ type: 'image_url', image_url: https }), 1],
    [
      'Messages',
      user(
        { type: 'document', source: { type: 'url', url: https } },
        { type: 'image', source: { type: 'file', file_id: 'f' } },
      ),
      2,
    ],
    [
      'Messages, in a result',
      user({
        type: 'tool_result',
        tool_use_id: 't',
        content: [{ type: 'image', source: { type: 'url', url: https } }],
      }),
      1,
    ],
    [
      'Responses',
      {
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_file', file_url: https },
              { type: 'input_image', image_url: https },
            ],
          },
        ],
      },
      2,
    ],
    [
      'Gemini',
      {
        contents: [{ parts: [{ fileData: { fileUri: 'gs://bucket/a.pdf' } }, { file_data: { file_uri: https } }] }],
        cachedContent: 'cachedContents/1',
      },
      3,
    ],
    ['members of other providers', user({ type: 'document_url', document_url: https }, { image: https }), 2],
    ['a video, as an object', user({ type: 'video_url', video_url: { url: 's3://bucket/a.mp4' } }), 1],
    ['a list of pictures', { messages: [], image: [{ url: https }, { url: data }] }, 1],
    ['sound of an earlier answer', { messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] }, 1],
  ])('is counted in %s', (_name, request, count) => {
    expect(inBody(request)).toBe(count)
  })

  test.each(['file\\u005fid', '\\u0066ile_id'])('is counted if its name is written as %s', (name) => {
    expect(referencesIn(new TextEncoder().encode(`{"messages":[{"content":[{"${name}":"f"}]}]}`))).toBe(1)
  })

  test.each(['dat\\u0061:image/png;base64,aGk=', 'h\\u0074tp://a'])('is counted if its scheme is hidden: %s', (url) => {
    expect(referencesIn(new TextEncoder().encode(`{"messages":[{"image_url":{"url":"${url}"}}]}`))).toBe(1)
  })

  test.each([
    ['a form', new TextEncoder().encode('preamble\r\n--x\r\n"file_id"')],
    ['base64 with its name', new TextEncoder().encode('{"input":[{"image":"/9j/4AAQSkZJRgABAQ"}]}')],
  ])('is not in %s', (_name, body) => {
    expect(referencesIn(body)).toBe(0)
  })

  test.each([
    ['data', user({ type: 'image_url', image_url: { url: data } }, { type: 'file', file: { file_data: data } })],
    [
      'a source that was cited',
      user({ type: 'search_result', source: https, annotations: [{ url: https, file_id: 'f' }] }),
    ],
    [
      'a member of a schema',
      { input: 'x', tools: [{ parameters: { properties: { image_url: { type: 'string' } } } }] },
    ],
    ['addresses in texts', user({ type: 'text', text: https })],
    [
      'the input of a call',
      {
        messages: [
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 't', name: 'f', input: { url: https, file_id: 'x' } }],
          },
        ],
      },
    ],
    ['a function call of Gemini', { contents: [{ parts: [{ functionCall: { name: 'f', args: { url: https } } }] }] }],
    [
      'schemas of tools',
      {
        ...user({ type: 'text', text: 'x' }),
        tools: [{ function: { parameters: { properties: { url: { default: https } } } } }],
      },
    ],
  ])('is not %s', (_name, request) => {
    expect(inBody(request)).toBe(0)
  })
})
