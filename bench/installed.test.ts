import { describe, expect, test } from 'bun:test'
import { countGoModules, countPythonPackages, parseDebianDepends, parseDiskTotal } from './installed.ts'

describe('parseDiskTotal', () => {
  test('takes the last line', () => {
    expect(parseDiskTotal('4096\t/a\n8192\t/b/total\n12288\ttotal\n')).toBe(12_288)
  })

  test('throws without a total', () => {
    expect(() => parseDiskTotal('4096\t/a\n')).toThrow('du wrote no total')
  })
})

describe('countPythonPackages', () => {
  test('leaves out packages of the environment itself', () => {
    expect(
      countPythonPackages('aiohttp==3.14.5\nllms-py==4.0.26\npip==23.2.1\nsetuptools==65.5.0\npip-tools==1\n'),
    ).toBe(3)
  })
})

describe('parseDebianDepends', () => {
  test.each([
    { text: 'libc6 (>= 2.34), zlib1g (>= 1:1.1.4)', expected: ['libc6', 'zlib1g'] },
    { text: ', debconf (>= 0.5) | debconf-2.0', expected: ['debconf'] },
    { text: '', expected: [] },
  ])('of %p names the first of each', ({ text, expected }) => {
    expect(parseDebianDepends(text)).toEqual(expected)
  })
})

describe('countGoModules', () => {
  test('counts the dependencies', () => {
    expect(
      countGoModules('/x: go1.26\n\tpath\tx\n\tmod\tx\tv1\n\tdep\ta\tv1\th1:\n\t=>\tb\tv1\n\tdep\tc\tv2\th1:\n'),
    ).toBe(2)
  })
})
