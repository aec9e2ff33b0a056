import { expect, test } from 'bun:test'

test('five seconds of mixed load with faults and reloads › no answer is wrong, nothing is left behind', async () => {
  const soak = Bun.spawn([process.execPath, new URL('../lab/soak.ts', import.meta.url).pathname, '--seconds', '5'], {
    stdout: 'pipe',
    stderr: 'inherit',
    stdin: 'ignore',
  })
  const output = await soak.stdout.text()
  expect(output.split('\n').filter((line) => /^wrong:|MISSED$/.test(line))).toEqual([])
  expect(await soak.exited).toBe(0)
}, 120_000)
