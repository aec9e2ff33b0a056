import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { progressText, statusLine, testProgress } from './test-progress.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-progress-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function read(output: string): { readonly failures: readonly string[]; readonly files: readonly number[] } {
  const failures: string[] = []
  const files: number[] = []
  const progress = testProgress(2, (text) => failures.push(text))
  for (const line of output.split('\n')) {
    progress.line(line)
    files.push(progress.counts.files)
  }
  progress.end()
  return { failures, files: [...files, progress.counts.files] }
}

describe('the progress of bun test', () => {
  test('reports each failure with its file, and counts', async () => {
    const write = (name: string, text: string) =>
      writeFileSync(join(folder, name), `import { test, expect } from 'bun:test'\n${text}`)
    // A file for the run below. Its third test is skipped there: it must count neither as passed nor as failed.
    write('good.test.ts', `test('one', () => {}); test('two', () => {}); test.skip('three', () => {})`)
    write('bad.test.ts', `test('four', () => {}); test('five', () => { expect(1).toBe(2) }); test('six', () => {})`)
    write('late.test.ts', `test('seven', () => new Promise(() => {}), 1)`)
    write('broken.test.ts', `throw new Error('no such luck')`)
    const run = Bun.spawn([process.execPath, 'test', '--parallel=2'], {
      cwd: folder,
      stdout: 'ignore',
      stderr: 'pipe',
      env: { ...process.env, NO_COLOR: '1' },
    })
    const failures: string[] = []
    const progress = testProgress(2, (text) => failures.push(text))
    for (const line of (await run.stderr.text()).split('\n')) progress.line(line)
    progress.end()
    // Bun may write the error of a file among the lines of another, so that only the other one is a headline.
    const headlines = failures.map((text) => text.split('\n')[0])
    expect(headlines).toEqual(expect.arrayContaining(['bad.test.ts:', 'late.test.ts:']))
    expect(new Set(headlines).isSubsetOf(new Set(['bad.test.ts:', 'broken.test.ts:', 'late.test.ts:']))).toBe(true)
    const all = failures.join('\n')
    expect(all).toContain('Expected: 2\nReceived: 1')
    expect(all).toContain('(fail) five')
    expect(all).toContain('no such luck')
    expect(all).toMatch(/\(fail\) seven .*\n {2}\^ .*timed out/)
    // Bun at times mixes the lines of a module that cannot be loaded into those of another file.
    expect(progress.counts).toEqual({ files: expect.any(Number), passed: 4, failed: expect.any(Number) })
    expect(progress.failedFiles).toEqual(expect.arrayContaining(['bad.test.ts', 'late.test.ts']))
  })

  test('counts a file as done when more files have begun than there are processes', () => {
    const header = (name: string) => `\n${name}.test.ts:\n(pass) it [1ms]`
    expect(new Set(read(['a', 'b', 'a', 'c', 'd'].map(header).join('\n')).files)).toEqual(new Set([0, 1, 2, 4]))
  })

  test('reports nothing twice when Bun repeats the failures at the end', () => {
    const output = 'a.test.ts:\nerror: x\n(fail) it [1ms]\n\n1 tests failed:\n(fail) it [1ms]\n\n 0 pass\n 1 fail\n'
    expect(read(output).failures).toEqual(['a.test.ts:\nerror: x\n(fail) it [1ms]'])
  })
})

describe('the status line', () => {
  test('is written on a terminal, at most ten times a second, and stays below what is printed', () => {
    let written = '',
      time = 0
    const status = statusLine(
      (text) => (written += text),
      () => time,
    )
    status.show('1 of 3')
    status.show('2 of 3')
    status.print('a failure')
    time = 100
    status.show('3 of 3')
    status.clear()
    const erase = '\r\x1b[2K'
    expect(written).toBe(`${erase}1 of 3${erase}a failure\n2 of 3${erase}3 of 3${erase}`)
  })

  test('is not written elsewhere', () => {
    const status = statusLine(undefined, () => 0)
    status.show('1 of 3')
    status.print('a failure')
    status.clear()
  })

  test('says how far the tests are', () => {
    expect(progressText({ files: 12, passed: 345, failed: 0 }, 365, 185_900)).toBe('12 of 365 files, 345 passed, 3:05')
    expect(progressText({ files: 12, passed: 345, failed: 2 }, 365, 0)).toBe(
      '12 of 365 files, 345 passed, 2 failed, 0:00',
    )
  })
})
