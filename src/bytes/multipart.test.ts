import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { boundaryOf, FormSyntaxError, readForm, type FormPart } from './multipart.ts'
import { runInSlices, runThrough, sliceBytes } from './pace.ts'
import { countedPauses } from './testing.ts'
import { encode, latin1 } from './text.ts'

const boundary = 'b'

function partsOf(body: Uint8Array, of = boundary): readonly FormPart[] {
  return runThrough(readForm(body, of, { limit: Infinity }))
}

/** Names and contents. */
function shown(text: string, of = boundary) {
  const body = Buffer.from(text, 'latin1')
  return partsOf(body, of).map(({ name, start, end }) => [name, latin1(body, start, end)])
}

const part = (headers: string, content = 'x') => `--b\r\n${headers}\r\n\r\n${content}\r\n`
const named = (name: string, content?: string) => part(`Content-Disposition: form-data; name="${name}"`, content)

describe('a boundary', () => {
  test.each([
    ['multipart/form-data; boundary=abc', 'abc'],
    ['Multipart/Form-Data; charset=utf-8; Boundary="a b?"', 'a b?'],
    ['multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxk', '----WebKitFormBoundary7MA4YWxk'],
    [`multipart/form-data; boundary=${'x'.repeat(70)}`, 'x'.repeat(70)],
    [`multipart/form-data; boundary=${'x'.repeat(71)}`, undefined],
    ['multipart/form-data', undefined],
    ['multipart/form-data; boundary=""', undefined],
    ['multipart/form-data; boundary="a "', undefined],
    ['multipart/form-data; boundary="a\\"b"', undefined],
    ['multipart/form-data; boundary=a; boundary=b', undefined],
    ['multipart/mixed; boundary=a', undefined],
    ['application/json', undefined],
    ['', undefined],
  ])('of %s is %p', (contentType, expected) => {
    expect(boundaryOf(contentType)).toBe(expected)
  })
})

describe('a form', () => {
  test('has its parts, with any bytes in them', () => {
    const text = `${named('a', '1')}${named('b', '')}${named('a', '-b\r\n--\r\n\r\nb--')}--b--`
    expect(shown(text)).toEqual([
      ['a', '1'],
      ['b', ''],
      ['a', '-b\r\n--\r\n\r\nb--'],
    ])
    expect(shown('--b--\r\n')).toEqual([])
  })

  test('has the facts of each part', () => {
    const headers = [
      'content-type: audio/wav',
      'CONTENT-DISPOSITION: form-data; filename="a.wav"; name=file',
      'Content-Transfer-Encoding: binary',
    ]
    const [file] = partsOf(encode(`${part(headers.join('\r\n'))}--b--`))
    expect(file).toMatchObject({ name: 'file', isFile: true, contentType: 'audio/wav' })
    const [plain] = partsOf(encode(`${named('x')}--b--`))
    expect(plain).toMatchObject({ name: 'x', isFile: false, contentType: '' })
  })

  test.each([
    ['', 'does not begin'],
    ['preamble\r\n--b\r\n', 'does not begin'],
    ['--other\r\n', 'does not begin'],
    [named('a'), 'no final boundary'],
    [`${named('a')}--b`, 'no final boundary'],
    [`${named('a')}--b-`, 'begins with the boundary and goes on'],
    [`${named('a')}--b--x`, 'after the final boundary'],
    [`${named('a')}--b--\r\n\r\n`, 'after the final boundary'],
    [`${named('a')}--b \r\n`, 'begins with the boundary and goes on'],
    [`${named('a', '1\r\n--bc')}--b--`, 'begins with the boundary and goes on'],
    [`${named('a', '1--b')}--b--`, 'within a line'],
    [`${named('a', '--b\r\n')}--b--`, 'within a line'],
    [`${named('a', '1\n--b\n')}--b--`, 'within a line'],
    ['--b\n\n', 'begins with the boundary and goes on'],
    ['--b\r\ncontent-disposition: form-data; name="a"\r\n', 'do not end'],
    [`${part(`x: ${'y'.repeat(9_000)}`)}--b--`, 'do not end'],
    ['--b\r\n\r\nx\r\n--b--', 'no clear name'],
    [`${part('content-disposition: form-data')}--b--`, 'no clear name'],
    [`${part('content-disposition: attachment; name="a"')}--b--`, 'no clear name'],
    [`${part('content-disposition: form-data; name="a"; name="b"')}--b--`, 'no clear name'],
    [`${part('content-disposition: form-data; name="a"; name*=utf-8\'\'b')}--b--`, 'no clear name'],
    [`${part('content-disposition: form-data; name="mod\\el"')}--b--`, 'no clear name'],
    [`${part('content-disposition: form-data;\r\n name="a"')}--b--`, 'malformed header'],
    [`${part('content-disposition : form-data; name="a"')}--b--`, 'malformed header'],
    [`${part('content-disposition: form-data; name="a\nb"')}--b--`, 'malformed header'],
    [`${part('content-disposition: form-data; name="a"\r\nContent-Disposition: form-data; name="b"')}--b--`, 'twice'],
    [`${part('content-disposition: form-data; name="a"\r\ncontent-transfer-encoding: base64')}--b--`, 'encoding'],
    [`${named('a').repeat(1_001)}--b--`, 'more than 1000 parts'],
  ])('%# that readers could understand in different ways is refused: %s', (text, reason) => {
    expect(() => shown(text)).toThrow(FormSyntaxError)
    expect(() => shown(text)).toThrow(reason)
  })

  const name = fc.stringMatching(/^[a-z[\]_-]{1,8}$/)
  const content = fc.uint8Array({ maxLength: 60 })
  const entries = fc.array(fc.tuple(name, content, fc.boolean()), { minLength: 1, maxLength: 6 })

  async function written(parts: readonly (readonly [string, Uint8Array, boolean])[]) {
    const form = new FormData()
    for (const [key, bytes, isFile] of parts)
      if (isFile) form.append(key, new Blob([new Uint8Array(bytes)]), 'a file.png')
      else form.append(key, Buffer.from(bytes).toString('hex'))
    const response = new Response(form)
    return { contentType: response.headers.get('content-type') ?? '', body: await response.bytes() }
  }

  test('as libraries write it is read as they mean it', async () => {
    await fc.assert(
      fc.asyncProperty(entries, async (parts) => {
        const { contentType, body } = await written(parts)
        const found = partsOf(body, boundaryOf(contentType))
        expect(found.map(({ name, isFile }) => [name, isFile])).toEqual(parts.map(([key, , isFile]) => [key, isFile]))
        for (const [index, [, bytes, isFile]] of parts.entries()) {
          const { start = 0, end = 0 } = found[index] ?? {}
          const expected = isFile ? Buffer.from(bytes) : Buffer.from(Buffer.from(bytes).toString('hex'))
          expect(Buffer.from(body.subarray(start, end)).equals(expected)).toBe(true)
        }
      }),
      { numRuns: 200 },
    )
  })

  test('that is damaged is refused, or read as another reader does', async () => {
    const damage = fc.record({ at: fc.nat(), byte: fc.constantFrom(0, 9, 10, 13, 32, 34, 45, 58, 59, 61, 92, 98, 255) })
    await fc.assert(
      fc.asyncProperty(entries, fc.array(damage, { minLength: 1, maxLength: 3 }), fc.nat(), async (parts, all, cut) => {
        const { contentType, body } = await written(parts)
        for (const { at, byte } of all) body[at % body.length] = byte
        const damaged = cut % 3 === 0 ? body.subarray(0, cut % body.length) : body
        let found: readonly FormPart[]
        try {
          found = partsOf(damaged, boundaryOf(contentType))
        } catch (error) {
          expect(error).toBeInstanceOf(FormSyntaxError)
          return
        }
        const other = await new Response(new Uint8Array(damaged), {
          headers: { 'content-type': contentType },
        }).formData()
        const names = [...other.keys()]
        expect(found.filter(({ name }) => /^[ -~]*$/.test(name)).map(({ name }) => name)).toEqual(
          names.filter((key) => /^[ -~]*$/.test(key)),
        )
      }),
      { numRuns: 500 },
    )
  })

  test('that is large is read in slices, with the same result', async () => {
    const content = Buffer.alloc(3 * 1024 * 1024, '\r\n--')
    const body = Buffer.concat([Buffer.from('--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n'), content])
    const whole = Buffer.concat([body, Buffer.from(`\r\n${named('c')}--b--`)])
    using pauses = countedPauses()
    const found = await runInSlices(readForm(whole, boundary, { limit: sliceBytes }), pauses.pause)
    expect(found).toEqual(partsOf(whole))
    expect(found[0] && found[0].end - found[0].start).toBe(content.length)
    expect(pauses.count()).toBeGreaterThan(5)
  })

  test('finds a boundary at any place of a slice', () => {
    for (let offset = -4; offset <= 4; offset++) {
      const content = 'x'.repeat(sliceBytes + offset)
      expect(shown(`${named('a', content)}${named('c')}--b--`).map(([key]) => key)).toEqual(['a', 'c'])
    }
  })
})
