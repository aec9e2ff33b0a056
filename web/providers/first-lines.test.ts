import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { firstLines } from './first-lines.ts'

const key = 'gsk_$key%s-for`tests'

test('the first lines are two, and name the usual file', () => {
  expect(firstLines().split('\n')).toHaveLength(2)
  expect(firstLines()).toEndWith('> ~/.svc/providers.json)')
})

test.each(['plain', "with a blank and a '", '$HOME; ls'])(
  'bash makes the file with them, and keeps the key to itself: %s',
  (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-lines-'))
    const file = join(folder, name, 'providers.json'),
      history = join(folder, 'history')
    try {
      // Input as at a prompt: the lines, then the key that the second one asks for. The file must be private from the
      // start, not only after a `chmod`.
      const { exitCode, stdout, stderr } = Bun.spawnSync(['bash', '--norc', '-i'], {
        stdin: Buffer.from(`umask 022\nchmod() { exit 9; }\n${firstLines(file)}\n${key}\nhistory -w\n`),
        env: { ...process.env, HISTFILE: history, PS1: '' },
      })
      expect(exitCode).toBe(0)
      expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ providers: [{ id: 'groq', api_key: key }] })
      expect([file, join(file, '..')].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o700])
      const kept = readFileSync(history, 'utf8')
      expect([kept.includes('read -rs'), `${kept}${stdout.toString()}${stderr.toString()}`.includes(key)]).toEqual([
        true,
        false,
      ])
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)
