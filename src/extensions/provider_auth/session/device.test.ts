import { expect, test } from 'bun:test'
import { deviceOf, parseDevice } from './device.ts'

const mozilla = 'Mozilla/5.0'
const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)'

test.each([
  [`${mozilla} (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0`, 'Firefox', 'Linux'],
  [`${mozilla} (Linux; Android 15; Pixel 9) ${webkit} Chrome/140.0 Mobile Safari/537.36`, 'Chrome', 'Android'],
  [`${mozilla} (Windows NT 10.0; Win64; x64) ${webkit} Chrome/140.0 Safari/537.36 Edg/140.0`, 'Edge', 'Windows'],
  [`${mozilla} (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605 Version/19.0 Safari/605.1`, 'Safari', 'macOS'],
  [`${mozilla} (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 CriOS/140.0 Safari/604`, 'Chrome', 'iOS'],
  ['curl/8.5.0', 'curl', undefined],
  ['<script>alert(1)</script>', undefined, undefined],
  [`${' '.repeat(512)}Firefox/140.0`, undefined, undefined],
])('%p is %p on %p', (userAgent, browser, system) => {
  const device = deviceOf(userAgent)
  expect([device.browser, device.system]).toEqual([browser, system])
  expect(parseDevice({ ...device })).toEqual(device)
})

test('other words of a store are no device', () => {
  expect(parseDevice({ browser: '<b>', system: 5 })).toEqual({})
  expect(deviceOf(null)).toEqual({})
})
