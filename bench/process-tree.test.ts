import { describe, expect, test } from 'bun:test'
import { cpuSeconds } from './cpu.ts'
import { kilobytes, memoryUse, peakResidentMb } from './memory.ts'
import { descendants, parseProcessStat, processTree } from './process-tree.ts'

describe('parseProcessStat', () => {
  const tail = 'S 41 42 42 0 -1 4194560 100 0 0 0 11 22 33 44 20 0 5 0 100 1000 200'

  test.each([
    { name: 'nginx', text: `42 (nginx) ${tail}` },
    { name: 'a name with blanks and brackets', text: `42 (a) b (c) ${tail}\n` },
  ])('reads $name', ({ text }) => {
    expect(parseProcessStat(text)).toEqual({ pid: 42, parent: 41, userTicks: 11 + 33, kernelTicks: 22 + 44 })
  })

  test.each(['', 'nonsense', '42 (cut) S 41 42'])('refuses %p', (text) => {
    expect(() => parseProcessStat(text)).toThrow('not a process stat')
  })
})

describe('descendants', () => {
  test('finds children of children and no other process', () => {
    const accounts = [
      { pid: 4, parent: 3, userTicks: 0, kernelTicks: 0 },
      { pid: 3, parent: 2, userTicks: 0, kernelTicks: 0 },
      { pid: 2, parent: 1, userTicks: 0, kernelTicks: 0 },
      { pid: 5, parent: 1, userTicks: 0, kernelTicks: 0 },
    ]
    expect(
      descendants(2, accounts)
        .map((account) => account.pid)
        .sort(),
    ).toEqual([2, 3, 4])
  })
})

describe('kilobytes', () => {
  test.each([
    { name: 'its line', text: 'VmPeak:\t  99 kB\nVmRSS:\t    5120 kB\n', expected: 5120 },
    { name: 'a line whose name only ends so', text: 'OtherVmRSS: 1 kB\n', expected: 0 },
    { name: 'nothing', text: '', expected: 0 },
  ])('of $name is $expected', ({ text, expected }) => {
    expect(kilobytes(text, 'VmRSS')).toBe(expected)
  })
})

describe('accounting', () => {
  test.skipIf(process.platform !== 'linux')('sees this very process', () => {
    expect(processTree(process.pid).some((account) => account.pid === process.pid)).toBe(true)
    expect(cpuSeconds(process.pid)).toBeGreaterThan(0)
    expect(memoryUse(process.pid).residentMb).toBeGreaterThan(1)
  })

  test.skipIf(process.platform !== 'linux')(
    'measures memory that was allocated for a while, and reports each sample',
    async () => {
      const before = memoryUse(process.pid).residentMb
      const looks: number[] = []
      const held: Uint8Array[] = []
      const work = async (): Promise<void> => {
        held.push(new Uint8Array(64_000_000).fill(1))
        while (looks.length === 0) await Bun.sleep(1)
        held.pop()
      }
      expect(await peakResidentMb(process.pid, work, 1, (mb) => looks.push(mb))).toBeGreaterThan(before + 32)
      expect(Math.max(...looks)).toBeGreaterThan(before + 32)
    },
  )

  test.skipIf(process.platform !== 'linux')('hands on what goes wrong meanwhile', async () => {
    await expect(peakResidentMb(process.pid, () => Promise.reject(new Error('cut')))).rejects.toThrow('cut')
  })

  test.skipIf(process.platform !== 'linux')('finds nothing of a process that is gone', () => {
    expect(processTree(2 ** 30)).toEqual([])
  })
})
