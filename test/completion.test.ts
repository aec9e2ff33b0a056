import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')
const folder = mkdtempSync(join(tmpdir(), 'svc-completion-'))
const environment = {
  PATH: `${folder}:${process.env['PATH']}`,
  HOME: folder,
  SVC_HOME: folder,
  SVC_URL: 'http://127.0.0.1:1',
  TERM: 'dumb',
}

beforeAll(() => {
  writeFileSync(join(folder, 'svc'), `#!/bin/sh\nexec sh '${join(root, 'bin', 'svc')}' "$@"\n`, { mode: 0o755 })
  const provider = { id: 'local', base_url: 'http://127.0.0.1:1/v1', models: ['qwen:7b', 'qwen:14b', '$(touch x)'] }
  writeFileSync(join(folder, 'providers.json'), JSON.stringify({ providers: [provider] }))
  writeFileSync(join(folder, 'notes.txt'), '')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a script in a shell. @returns the lines of its output */
async function run(command: readonly string[], script: string): Promise<readonly string[]> {
  const child = Bun.spawn([...command, script], { cwd: folder, env: environment, stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  expect(err).toBe('')
  return out.trim().split('\n')
}

/** Ways to complete a line without a user. */
const shells: Readonly<Record<string, { readonly command: readonly string[]; script(line: string): string }>> = {
  bash: {
    command: ['bash', '--norc', '-c'],
    script: (line) =>
      `source <(svc completion bash); COMP_LINE='${line}' COMP_POINT=${line.length}; _svc; ` +
      `printf '%s\\n' "\${COMPREPLY[@]}"`,
  },
  zsh: {
    command: ['zsh', '-fc'],
    script: (line) =>
      `compdef() { } ; compset() { } ; compadd() { shift; print -l -- "$@" } ; _files() { print files } ` +
      `; source <(svc completion zsh); words=(${line.replace(/ $/, " ''")}); CURRENT=$#words; _svc`,
  },
  fish: {
    command: ['fish', '--no-config', '-c'],
    script: (line) => `svc completion fish | source; complete -C '${line}'`,
  },
}

describe.each(Object.entries(shells))('the completion of %s', (name, { command, script }) => {
  const isThere = Bun.which(name) !== null
  if (!isThere) console.warn(`${name} is not installed: its completion is not tested`)

  test.skipIf(!isThere)(
    'completes commands, flags, models and files',
    async () => {
      const complete = (line: string) => run(command, script(line))
      const [first, flags, models, colon, files] = await Promise.all([
        complete('svc mod'),
        complete('svc chat --mo'),
        complete('svc chat -m '),
        complete('svc chat -m qwen:'),
        complete('svc backup no'),
      ])
      expect([first, flags]).toEqual([['models'], ['--model']])
      expect([...(models ?? [])].sort()).toEqual(['qwen:14b', 'qwen:7b'])
      // Bash replaces only the text after a colon, and finds files itself.
      expect([...(colon ?? [])].sort()).toEqual(name === 'bash' ? ['14b', '7b'] : ['qwen:14b', 'qwen:7b'])
      expect(files).toEqual(name === 'bash' ? [''] : name === 'zsh' ? ['files'] : ['notes.txt'])
    },
    20_000,
  )
})
