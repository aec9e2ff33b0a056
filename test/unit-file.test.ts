import { expect, test } from 'bun:test'
import { join } from 'node:path'

const unitFile = join(import.meta.dir, '..', 'examples', 'svc.service')
/** Limit of the exposure level, of 10; `systemd-analyze` calls 3 "OK" (systemd-analyze(1)). */
const exposureMax = 3

test('examples/svc.service takes every right away that the service does not need', async () => {
  const lines = (await Bun.file(unitFile).text()).split('\n')
  for (const line of [
    'CapabilityBoundingSet=',
    'NoNewPrivileges=yes',
    'SystemCallFilter=@system-service',
    'RestrictNamespaces=yes',
    'UMask=0077',
  ]) {
    expect(lines).toContain(line)
  }
  // The level needs only this command of systemd; machines without it skip this part.
  const analyze = Bun.which('systemd-analyze')
  if (analyze === null) return
  const command = [analyze, 'security', '--offline=true', `--threshold=${exposureMax * 10}`, '--no-pager', unitFile]
  const { exitCode, stdout } = Bun.spawnSync(command, { stdin: 'ignore', stderr: 'ignore' })
  expect([
    exitCode,
    stdout
      .toString()
      .split('\n')
      .findLast((line) => line.includes('Overall')),
  ]).toEqual([0, expect.any(String)])
})
