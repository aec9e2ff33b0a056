import { expect, test } from 'bun:test'
import { needs } from './needs.ts'

const isPossible = needs('redis-server') !== undefined && needs('postgres') !== undefined

test.skipIf(!isPossible)(
  'two machines with one Redis and one PostgreSQL › budgets hold, the ledger is the bill, an ended key is refused',
  async () => {
    const options = [
      '--workers',
      '2',
      '--callers',
      '16',
      '--minutes',
      '0.01',
      '--kills',
      '0',
      '--revocations',
      '1',
      '--bounds',
      '1',
    ]
    const money = Bun.spawn([process.execPath, new URL('../lab/load/money.ts', import.meta.url).pathname, ...options], {
      stdout: 'pipe',
      stderr: 'inherit',
      stdin: 'ignore',
    })
    const output = await money.stdout.text()
    expect(output.split('\n').filter((line) => /^wrong:|MISSED$/.test(line))).toEqual([])
    expect(output).toMatch(/the ledger is the bill, to the nano-dollar +\$0\.\d{9} of \$0\.\d{9} reached/)
    expect(await money.exited).toBe(0)
  },
  60_000,
)
