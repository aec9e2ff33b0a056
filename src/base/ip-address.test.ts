import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isInside, isVersion4, parseAddress, parseNetwork } from './ip-address.ts'

const hex = (text: string) => Buffer.from(parseAddress(text) ?? []).toString('hex')

describe('an address', () => {
  test.each([
    ['192.0.2.1', '00000000000000000000ffffc0000201'],
    ['::ffff:192.0.2.1', '00000000000000000000ffffc0000201'],
    ['::FFFF:c000:201', '00000000000000000000ffffc0000201'],
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['1::', '00010000000000000000000000000000'],
    ['2001:db8::ff00:42:8329', '20010db8000000000000ff0000428329'],
    ['2001:0db8:0000:0000:0000:ff00:0042:8329', '20010db8000000000000ff0000428329'],
    ['64:ff9b::192.0.2.33', '0064ff9b0000000000000000c0000221'],
    ['fe80::1%eth0', 'fe800000000000000000000000000001'],
  ])('%s is parsed', (text, expected) => {
    expect(hex(text)).toBe(expected)
  })

  test.each([
    '',
    ' ',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '01.2.3.4',
    '0x1.2.3.4',
    '1.2.3.4 ',
    '2130706433',
    'localhost',
    'unknown',
    '_hidden',
    ':::',
    '1::2::3',
    '12345::',
    '[::1]',
    '::1/64',
    '1.2.3.4%eth0',
    `::1%${'x'.repeat(100)}`,
  ])('%j is rejected', (text) => {
    expect(parseAddress(text)).toBeUndefined()
  })

  test('of IPv6 is parsed in every notation', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        expect(parseAddress(text)).toHaveLength(16)
      }),
    )
    fc.assert(
      fc.property(fc.ipV4(), (text) => {
        expect(parseAddress(text)?.slice(12).join('.')).toBe(text)
        expect(hex(`::ffff:${text}`)).toBe(hex(text))
      }),
    )
  })

  test('is never parsed from another text, without an exception', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f:.%/]{0,40}$/)), (text) => {
        expect([0, 16]).toContain(parseAddress(text)?.length ?? 0)
      }),
    )
  })

  test('tells its version', () => {
    expect(
      ['192.0.2.1', '::ffff:1.2.3.4', '::1', '::1.2.3.4'].map((text) =>
        isVersion4(parseAddress(text) ?? new Uint8Array()),
      ),
    ).toEqual([true, true, false, false])
  })
})

describe('a network', () => {
  const contains = (network: string, address: string) => {
    const [parsed, inside] = [parseNetwork(network), parseAddress(address)]
    return parsed !== undefined && inside !== undefined && isInside(inside, parsed)
  }

  test.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['10.0.0.0/8', '::ffff:10.1.1.1', true],
    ['10.0.0.0/8', '::10.1.1.1', false],
    ['10.1.2.3/8', '10.9.9.9', true],
    ['127.0.0.1', '127.0.0.1', true],
    ['127.0.0.1', '127.0.0.2', false],
    ['127.0.0.1/32', '127.0.0.1', true],
    ['192.168.16.0/20', '192.168.31.255', true],
    ['192.168.16.0/20', '192.168.32.0', false],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '203.0.113.9', true],
    ['2001:db8::/33', '2001:db8:7fff::1', true],
    ['2001:db8::/33', '2001:db8:8000::1', false],
    ['::1', '::1', true],
    ['::1', '::2', false],
    ['::ffff:10.0.0.0/104', '10.1.1.1', true],
  ])('%s and %s: %p', (network, address, expected) => {
    expect(contains(network, address)).toBe(expected)
  })

  test.each([
    '',
    '/8',
    '10.0.0.0/',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/8 ',
    'private',
    '10.0.0/8',
    '10.0.0.0/1e1',
  ])('is not %j', (text) => {
    expect(parseNetwork(text)).toBeUndefined()
  })

  test('has its own addresses', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 0, max: 32 }), (address, bits) => {
        expect(contains(`${address}/${bits}`, address)).toBeTrue()
      }),
    )
    fc.assert(
      fc.property(fc.ipV6(), fc.integer({ min: 0, max: 128 }), (address, bits) => {
        expect(contains(`${address}/${bits}`, address)).toBeTrue()
      }),
    )
  })
})
