import { describe, expect, test } from 'bun:test'
import { isLoopbackHost, isThisMachine } from './this-machine.ts'

const isHere = (host: string): boolean => isThisMachine(new URL(`https://${host}:8443/v1`).hostname)

describe('CVE-2026-45400, CVE-2026-31943, CVE-2025-66405: an address that parsers read differently', () => {
  test.each([
    '127.0.0.1',
    '127.255.255.254',
    '127.1',
    '0x7f.1',
    '0177.0.0.1',
    '2130706433',
    '127.0.0.1.',
    '127。0。0。1',
    '①②⑦.0.0.1',
    '0.0.0.0',
    '0',
    '[::1]',
    '[0:0::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::ffff:0.0.0.0]',
    'localhost',
    'localhost.',
    'LOCALHOST',
    'ｌｏｃａｌｈｏｓｔ',
    'a.localhost',
    'a.localhost.',
  ])('%s › is this machine', (host) => {
    expect(isHere(host)).toBe(true)
  })

  test.each([
    'example.org',
    'localhost.example.org',
    'notlocalhost',
    '127.0.0.1.example.org',
    '169.254.169.254',
    '[::ffff:a9fe:a9fe]',
    '[::ffff:7f:1]',
    '[7f00::1]',
    '[::2]',
    '10.0.0.1',
    '126.255.255.255',
    '128.0.0.1',
    '0.0.0.1',
  ])('%s › is not this machine', (host) => {
    expect(isHere(host)).toBe(false)
  })

  test.each(['0.0.0.0', '[::]', '[::ffff:0:0]'])('%s › is this machine, and no loopback address', (host) => {
    expect([isThisMachine(host), isLoopbackHost(host)]).toEqual([true, false])
  })

  test('a name of this machine that only DNS knows is not looked up', () => {
    expect(isThisMachine('')).toBe(false)
    expect(isHere('localtest.me')).toBe(false)
  })
})
