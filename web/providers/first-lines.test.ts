import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { firstLines } from './first-lines.ts'

test('the first lines are three, and name the usual file', () => {
  expect(firstLines().split('\n')).toHaveLength(3)
  expect(firstLines()).toContain('> ~/.svc/providers.json\n')
})

test.each(['plain', "with a blank and a '", '$HOME; ls'])(
  'a shell makes the file with them, wherever it is: %s',
  (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-lines-'))
    const file = join(folder, name, 'providers.json')
    try {
      expect(Bun.spawnSync(['sh', '-ec', firstLines(file)]).exitCode).toBe(0)
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ providers: [{ id: 'groq' }] })
      expect(statSync(file).mode & 0o777).toBe(0o600)
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)
