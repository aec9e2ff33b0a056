import { expect, test } from 'bun:test'
import { hostNames, hostNotAllowed, isLoopbackAddress } from './host-names.ts'

const isKnown = hostNames(['https://svc.example', '*', 'app://obsidian.md'])
const by = (host: string) => new Request('http://x/', { headers: { host } })

test.each([
  '127.0.0.1',
  '127.0.0.1:8000',
  '192.0.2.7',
  '[::1]:8000',
  '[2001:db8::1]',
  'localhost',
  'LOCALHOST:8000',
  'localhost.',
  'svc.localhost:8000',
  'svc.example',
  'svc.example:8443',
  'SVC.example.',
])('no other website can own the host %s', (host) => {
  expect(isKnown(by(host))).toBe(true)
})

test.each([
  'evil.example',
  'evil.example:8000',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'evillocalhost',
  'svc.example.evil.example',
  'evil-svc.example',
  'sub.svc.example',
  'obsidian.md',
  '127.1',
  '0x7f000001',
  '1.2.3.4.5',
  '[::1',
  '',
  '.',
])('another website can own the host %p', (host) => {
  expect(isKnown(by(host))).toBe(false)
})

test('the refusal names the host and every way out', () => {
  const refusal = hostNotAllowed(by('evil.example'))
  expect([refusal.status, refusal.code]).toEqual([403, 'host_not_allowed'])
  expect(refusal.message).toMatch(/'evil\.example'[^]*IP address[^]*sign-in on \(--auth\)[^]*SVC_CORS_ORIGINS/)
  expect(hostNotAllowed(by('x'.repeat(9_000))).message.length).toBeLessThan(400)
})

test.each([
  ['127.0.0.1', true],
  ['127.8.0.1', true],
  ['localhost', true],
  ['::1', true],
  ['LOCALHOST', true],
  ['127.1', true],
  ['2130706433', true],
  ['0:0:0:0:0:0:0:1', true],
  ['::1%lo', true],
  ['[::1]', true],
  ['::ffff:127.0.0.1', true],
  ['::ffff:192.0.2.7', false],
  ['localhost.example', false],
  ['0', false],
  ['0.0.0.0', false],
  ['::', false],
  ['192.0.2.7', false],
  ['127.example', false],
])('listening on %s is on a loopback address: %p', (host, expected) => {
  expect(isLoopbackAddress(host)).toBe(expected)
})
