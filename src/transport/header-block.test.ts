import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { HeaderError, headerBlock, parseOrigin } from './header-block.ts'

describe('a header block', () => {
  test('has one line for each header, names in lower case', () => {
    const block: string = headerBlock({ Authorization: 'Bearer key-for-tests', 'X-Tab': 'a\tb', empty: '' })
    expect(block).toBe('authorization: Bearer key-for-tests\r\nx-tab: a\tb\r\nempty: \r\n')
  })

  test.each(['a\r\nb: c', 'a\nb', 'a\rb', 'a\0b', 'ü', 'a\x7fb'])('refuses the value %j', (value) => {
    expect(() => headerBlock({ x: value })).toThrow(HeaderError)
  })

  test.each(['', 'a b', 'a:', 'a\r\n', 'ü', 'a\0'])('refuses the name %j', (name) => {
    expect(() => headerBlock({ [name]: 'x' })).toThrow(HeaderError)
  })

  test.each(['Host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Accept-Encoding', 'Expect', 'Upgrade'])(
    'leaves %s to the transport',
    (name) => {
      expect(() => headerBlock({ [name]: '1' })).toThrow(HeaderError)
    },
  )

  test('never quotes the value it rejects', () => {
    expect(() => headerBlock({ 'x-key': 'key-for-tests\n' })).toThrow(
      'The header x-key has a character that is not visible ASCII',
    )
  })

  test('has exactly one line for each header, or is rejected', () => {
    const unit = fc.constantFrom(...'aZ0-_.:;,"/ \t\r\n\0\x7fü😀')
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit, maxLength: 6 }), fc.string({ unit, maxLength: 6 }), { maxKeys: 4 }),
        (headers) => {
          try {
            const lines = headerBlock(headers).split('\r\n')
            expect(lines.pop()).toBe('')
            expect(lines.length).toBe(Object.keys(headers).length)
            for (const line of lines) expect(line).toMatch(/^[!-~]+: [\t -~]*$/)
          } catch (error) {
            expect(error).toBeInstanceOf(HeaderError)
          }
        },
      ),
    )
  })
})

describe('parseOrigin', () => {
  test.each([
    ['https://api.example.com/v1', { secure: true, hostname: 'api.example.com', port: 443 }],
    ['http://api.example.com', { secure: false, hostname: 'api.example.com', port: 80 }],
    ['http://127.0.0.1:8080/x?y', { secure: false, hostname: '127.0.0.1', port: 8080 }],
    ['https://[::1]:8443', { secure: true, hostname: '::1', port: 8443 }],
  ])('%s', (url, origin) => {
    expect(parseOrigin(new URL(url))).toEqual(origin)
  })

  test('rejects other schemes than HTTP', () => {
    expect(() => parseOrigin(new URL('file:///etc/passwd'))).toThrow(TypeError)
  })
})
