import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { clientAddresses } from './client-address.ts'

const trusted = ['10.0.0.0/8', '127.0.0.1/32', '2001:db8:ffff::/48']

function contextOf(address: string, headers: Readonly<Record<string, string>> = {}) {
  return { request: new Request('http://svc.test/auth', { headers }), path: '/auth', address, id: 'request-1' }
}

const keyOf = (address: string, forwarded?: string) =>
  clientAddresses(trusted).keyOf(contextOf(address, forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }))

describe('a client', () => {
  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '20010db800010002/64'],
    ['2001:db8:1:2::', '20010db800010002/64'],
    ['', 'unknown'],
    ['nonsense', 'unknown'],
  ])('at %j is %s', (address, key) => {
    expect(keyOf(address)).toBe(key)
  })

  test.each([
    ['of a proxy', '203.0.113.9', '203.0.113.9'],
    ['of IPv6', '2001:db8:1:2:3::4', '20010db800010002/64'],
    ['with its port', '203.0.113.9:4711', '203.0.113.9'],
    ['of IPv6 with its port', '[2001:db8:1:2::4]:4711', '20010db800010002/64'],
    ['that forges an address behind it', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['that sends nonsense', 'x, <script>, 203.0.113.9', '203.0.113.9'],
    ['behind two proxies', '203.0.113.9, 10.0.0.2', '203.0.113.9'],
    ['behind two proxies of both kinds', '203.0.113.9,2001:db8:ffff::1,::ffff:10.0.0.2', '203.0.113.9'],
    ['that claims to be a proxy', '198.51.100.1, 203.0.113.9, 10.0.0.2', '203.0.113.9'],
    ['in our own network', '10.0.0.7', '10.0.0.7'],
    ['whose proxy does not know it', 'unknown', '127.0.0.1'],
    ['whose second proxy does not know it', '203.0.113.9, unknown, 10.0.0.2', '10.0.0.2'],
    ['of an empty header', '', '127.0.0.1'],
    ['of commas', ',,,', '127.0.0.1'],
    ['behind more proxies than the limit', `203.0.113.9${', 10.0.0.3'.repeat(16)}`, '10.0.0.3'],
    ['that sends a huge header', `${'9'.repeat(100_000)}, 203.0.113.9`, '203.0.113.9'],
    ['whose proxy sends a huge header', '9'.repeat(100_000), '127.0.0.1'],
  ])('%s has a key of its own', (_, forwarded, key) => {
    expect(keyOf('127.0.0.1', forwarded)).toBe(key)
  })

  test('cannot name its own address', () => {
    expect(keyOf('203.0.113.9', '198.51.100.1')).toBe('203.0.113.9')
    expect(clientAddresses([]).keyOf(contextOf('127.0.0.1', { 'x-forwarded-for': '198.51.100.1' }))).toBe('127.0.0.1')
  })

  test.each([
    'forwarded',
    'x-real-ip',
    'cf-connecting-ip',
    'true-client-ip',
    'x-client-ip',
    'x-forwarded',
    'x-cluster-client-ip',
  ])('is not known by %s', (header) => {
    expect(clientAddresses(trusted).keyOf(contextOf('127.0.0.1', { [header]: 'for=198.51.100.1' }))).toBe('127.0.0.1')
    expect(clientAddresses(trusted).keyOf(contextOf('127.0.0.1', { [header]: '198.51.100.1' }))).toBe('127.0.0.1')
  })

  test('cannot choose its key by headers through a proxy', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ -~]{0,60}$/), (sent) => {
        expect(keyOf('127.0.0.1', `${sent}, 203.0.113.9`)).toBe('203.0.113.9')
      }),
    )
  })
})

test('a peer that sends X-Forwarded-For is an untrusted forwarder unless it is a trusted proxy', () => {
  const { isUntrustedForwarder } = clientAddresses(trusted)
  expect(isUntrustedForwarder(contextOf('203.0.113.9', { 'x-forwarded-for': '1.2.3.4' }))).toBeTrue()
  expect(isUntrustedForwarder(contextOf('127.0.0.1', { 'x-forwarded-for': '1.2.3.4' }))).toBeFalse()
  expect(isUntrustedForwarder(contextOf('203.0.113.9'))).toBeFalse()
})
