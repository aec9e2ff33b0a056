import { expect, test } from 'bun:test'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { descriptorWriter } from './descriptor-writer.ts'

test('descriptorWriter writes everything, in order', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-log-'))
  const path = join(folder, 'log')
  const descriptor = openSync(path, 'w')
  const write = descriptorWriter(descriptor)
  await write('é'.repeat(100_000))
  await write('\nend\n')
  closeSync(descriptor)
  expect(readFileSync(path, 'utf8')).toBe(`${'é'.repeat(100_000)}\nend\n`)
  rmSync(folder, { recursive: true })
})

test('descriptorWriter rejects when the descriptor is closed', async () => {
  const descriptor = openSync('/dev/null', 'w')
  closeSync(descriptor)
  await expect(descriptorWriter(descriptor)('x')).rejects.toThrow()
})

/** Number of lines that each of two processes writes, 64 KB at a time. */
const lengths = Array.from({ length: 4_000 }, (_, index) => (index * 2_654_435_761) % 4_096)
const source = `
  const { descriptorWriter } = await import(${JSON.stringify(import.meta.resolve('./descriptor-writer.ts'))})
  const lengths = ${JSON.stringify(lengths)}
  const write = descriptorWriter(1, { isShared: true })
  for (let from = 0; from < lengths.length; from += 32) {
    await write(lengths.slice(from, from + 32).map((length) => process.env.LETTER.repeat(length) + '\\n').join(''))
  }
`

test('descriptorWriter does not mix lines with those of another process on the same pipe', async () => {
  const script = '(LETTER=a "$0" -e "$1" & LETTER=b "$0" -e "$1" & wait) | cat'
  const writers = Bun.spawn(['sh', '-c', script, process.execPath, source], { stdout: 'pipe', stderr: 'inherit' })
  const lines = (await writers.stdout.text()).split('\n')
  expect(lines.pop()).toBe('')
  expect(lines.filter((line) => !/^(a*|b*)$/.test(line))).toEqual([])
  expect(lines.map(({ length }) => length).toSorted((one, other) => one - other)).toEqual(
    [...lengths, ...lengths].toSorted((one, other) => one - other),
  )
  const changes = lines.filter((line, index) => line.charAt(0) !== lines[index - 1]?.charAt(0)).length
  expect(changes).toBeGreaterThan(2) // They wrote at the same time.
}, 20_000)

test('descriptorWriter writes a line longer than an atomic write, and one without line break', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-log-'))
  const path = join(folder, 'log')
  const descriptor = openSync(path, 'w')
  const text = `short\n${'x'.repeat(10_000)}\n${'é'.repeat(3_000)}\n${'y'.repeat(9_000)}`
  await descriptorWriter(descriptor, { isShared: true })(text)
  closeSync(descriptor)
  expect(readFileSync(path, 'utf8')).toBe(text)
  rmSync(folder, { recursive: true })
})
