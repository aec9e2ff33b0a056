import { join } from 'node:path'
import { missing, wanted } from '../test/needs.ts'
import { installNeeded, thisMachine } from './install-needed.ts'

/**
 * What `npm test` runs: the build of the page, the type checks, then every test. Says nothing while all is well, but
 * for its last line, `N passed, N failed`, and `N skipped (no chromium)` when this machine lacks what tests need (as
 * root on Debian, that is installed first, with one line saying so). What fails is shown above it. Arguments narrow the
 * tests: `npm test -- test/reload.test.ts`. Exits with the worst code of all.
 */

const root = join(import.meta.dir, '..')

interface Outcome {
  readonly code: number
  readonly output: string
}

async function run(...command: readonly string[]): Promise<Outcome> {
  const child = Bun.spawn([...command], {
    cwd: root,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, NO_COLOR: '1' },
  })
  const [code, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()])
  return { code, output: stdout + stderr }
}

/** Adds up bun's own counts, which it prints as ` 12 pass`. */
function count(output: string, word: 'pass' | 'fail' | 'skip'): number {
  return [...output.matchAll(new RegExp(`^ *(\\d+) ${word}$`, 'gm'))].reduce(
    (sum, [, digits]) => sum + Number(digits),
    0,
  )
}

/** `3 skipped (no chromium)`; nothing when none was. */
function tellSkipped(skipped: number): readonly string[] {
  const reasons = missing()
  if (skipped === 0) return []
  return [`${skipped} skipped${reasons.length === 0 ? '' : ` (no ${reasons.join(', ')})`}`]
}

await installNeeded({ missing: missing(), wanted: wanted() }, thisMachine())

// Once, so that not every service under test makes it.
const page = await run(process.execPath, join('scripts', 'build-web.ts'), '--if-stale')
const checks = await Promise.all(
  ['.', 'web', join('web', 'tests.tsconfig.json')].map((project) =>
    run('node', join('node_modules', 'typescript', 'bin', 'tsc'), '--noEmit', '-p', project),
  ),
)
for (const { code, output } of [page, ...checks]) if (code !== 0) console.log(output.trimEnd())

const tests = await run(
  process.execPath,
  'test',
  '--timeout',
  '20000',
  '--parallel=2',
  '--only-failures',
  ...process.argv.slice(2),
)
const passed = count(tests.output, 'pass'),
  failed = count(tests.output, 'fail')
if (tests.code !== 0) console.log(tests.output.trimEnd())

console.log(
  [
    `${passed} passed`,
    `${tests.code === 0 ? failed : Math.max(1, failed)} failed`,
    ...tellSkipped(count(tests.output, 'skip')),
  ].join(', '),
)
process.exitCode = Math.max(page.code, ...checks.map(({ code }) => code), tests.code)
